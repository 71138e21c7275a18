"""Labels of lists and headings, such as "2.2" and "(a)": inserted into the XML before mammoth, read from its HTML
afterwards.

In between, a label is at the front of its paragraph within marks that no text contains.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from argot.corpus.readers.docx_numbering import MAX_LIST_LEVELS, ListLabel, ListNumbers
from argot.corpus.readers.docx_package import MC, W, WordPackage
from argot.corpus.readers.html_lists import BULLET_ATTRIBUTE

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

# Characters that Unicode reserves for such use within a program.
_BEGIN, _END = "\ufdd0", "\ufdd1"
_MARKED_LABEL = re.compile(f"{_BEGIN}([^{_BEGIN}{_END}]*){_END}")
_MARKDOWN_NUMBER = re.compile(r"(\d{1,9})([.)])")
_BULLET_LIST_ID, _NUMBER_LIST_ID = "1", "2"
"""The two lists that mammoth knows."""


def mark_labels(package: WordPackage) -> None:
    """Insert the label that Word prints in front of each numbered paragraph."""
    styles = package.parse_tree(package.find_related_part("styles") or "word/styles.xml")
    numbering = package.parse_tree(package.find_related_part("numbering") or "word/numbering.xml")
    root = package.parse_tree(package.document)
    if numbering is None or root is None:
        return
    numbers = ListNumbers(styles, numbering)
    # Word writes text boxes twice, for newer and older programs: the copy has the labels of the first.
    copied: list[ListLabel | None] = []
    for paragraph in list(root.iter(f"{W}p")):
        branch = next((one.tag for one in paragraph.iterancestors(f"{MC}Choice", f"{MC}Fallback")), "")
        if _is_removed(paragraph):
            continue
        label = copied.pop(0) if branch == f"{MC}Fallback" and copied else numbers.read_next_label(paragraph)
        if branch == f"{MC}Choice":
            copied.append(label)
        _mark(paragraph, label)
    _replace_lists(numbering)


def _replace_lists(numbering: Any) -> None:
    """Keep two plain lists: mammoth fails at damaged ones, and supports only some of the references to the others."""
    from lxml import etree  # type: ignore[import-untyped]

    for child in list(numbering):
        numbering.remove(child)
    for name, kind in ((_BULLET_LIST_ID, "bullet"), (_NUMBER_LIST_ID, "decimal")):
        definition = etree.SubElement(numbering, f"{W}abstractNum", {f"{W}abstractNumId": name})
        for index in range(MAX_LIST_LEVELS):
            level = etree.SubElement(definition, f"{W}lvl", {f"{W}ilvl": str(index)})
            etree.SubElement(level, f"{W}numFmt", {f"{W}val": kind})
        listed = etree.SubElement(numbering, f"{W}num", {f"{W}numId": name})
        etree.SubElement(listed, f"{W}abstractNumId", {f"{W}val": name})


def _is_removed(paragraph: Any) -> bool:
    """Return whether a paragraph is deleted or moved away, or hidden and empty: Word does not count it."""
    mark = paragraph.find(f"{W}pPr/{W}rPr")
    if mark is None:
        return False
    names = {child.tag for child in mark}
    is_empty = next(paragraph.iter(f"{W}t"), None) is None
    return bool(names & {f"{W}del", f"{W}moveFrom"}) or (f"{W}vanish" in names and is_empty)


def _mark(paragraph: Any, label: ListLabel | None) -> None:
    from lxml import etree

    properties = paragraph.find(f"{W}pPr")
    if properties is None:
        if label is None:
            return
        properties = etree.Element(f"{W}pPr")
        paragraph.insert(0, properties)
    for old in properties.findall(f"{W}numPr"):
        properties.remove(old)
    if label is not None and (label.is_bullet or label.text):
        place = etree.SubElement(properties, f"{W}numPr")
        etree.SubElement(place, f"{W}ilvl").set(f"{W}val", str(label.level))
        etree.SubElement(place, f"{W}numId").set(f"{W}val", _BULLET_LIST_ID if label.is_bullet else _NUMBER_LIST_ID)
    if label is not None and label.text:
        run = etree.Element(f"{W}r")
        etree.SubElement(run, f"{W}t").text = f"{_BEGIN}{label.text}{' ' if label.has_suffix else ''}{_END}"
        paragraph.insert(paragraph.index(properties) + 1, run)


def write_labels(tree: BeautifulSoup) -> None:
    """Make the marked labels those of list items; elsewhere they become text in front of their paragraph."""
    for string in tree.find_all(string=_MARKED_LABEL):
        found = _MARKED_LABEL.search(string)
        item = string.find_parent("li")
        label = found[1] if found else ""
        is_first = (
            item is not None and not item.has_attr(BULLET_ATTRIBUTE) and item.get_text().lstrip().startswith(_BEGIN)
        )
        if item is not None and is_first and string.find_parent(["h1", "h2", "h3", "h4", "h5", "h6"]) is None:
            is_native = _is_printed_by_markdown(item, label.strip())
            item[BULLET_ATTRIBUTE] = label.strip() if is_native else "-"
            label = "" if is_native else label
        string.replace_with(_MARKED_LABEL.sub(label.replace("\\", r"\\"), string))
    for item in tree.find_all("li"):
        _move_labelled_items(item)


def _is_printed_by_markdown(item: Tag, label: str) -> bool:
    """Return whether Markdown prints this label itself: it counts on from the first item of a list."""
    match = _MARKDOWN_NUMBER.fullmatch(label)
    if match is None:
        return False
    before = item.find_previous_sibling("li")
    shown = _MARKDOWN_NUMBER.fullmatch(str(before.get(BULLET_ATTRIBUTE, ""))) if before is not None else None
    return shown is None or (int(match[1]) == int(shown[1]) + 1 and match[2] == shown[2])


def _move_labelled_items(item: Tag) -> None:
    """Lift the items of a list out of an item without other content: mammoth makes one for each missing level."""
    inner = item.find(["ol", "ul"], recursive=False)
    if inner is None or item.parent is None or inner.find("li", attrs={BULLET_ATTRIBUTE: True}) is None:
        return
    if any(str(child).strip() for child in item.contents if child is not inner):
        return
    inner.unwrap()
    item.unwrap()
