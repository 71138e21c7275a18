"""All text of a Word file, a deck or a workbook: every part of the package, including unknown ones."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from argot.corpus.readers.ledger import source_text as rules
from argot.corpus.readers.ledger.nesting import Nesting
from argot.corpus.readers.ledger.source_text import SourceText
from argot.corpus.readers.ledger.workbook import read_cell_texts
from argot.corpus.readers.ledger.xml_walk import read_paragraphs, read_unknown_part

_MAX_NESTED_FILES = 2
_PART_RULES: list[tuple[str, str, str]] = [
    # the beginning of a part's name, the kind of its text, the rule that leaves it out
    (r"docProps/", "property", rules.PROPERTIES),
    (r"customXml/|xl/customXml", "property", rules.TECHNICAL),
    (r"word/document\d*\.xml", "text", ""),
    (r"word/header", "header", rules.RUNNING),
    (r"word/footer", "footer", rules.RUNNING),
    (r"word/footnotes", "footnote", ""),
    (r"word/endnotes", "endnote", ""),
    (r"\w+/(?:comments|threadedComments)\w*(?:/|\.xml)", "comment", ""),
    (r"word/glossary/", "building block", rules.LAYOUT),
    (r"ppt/slides/", "text", ""),
    (r"ppt/notesSlides/", "note", ""),
    (r"ppt/(?:slideLayouts|slideMasters|notesMasters|handoutMasters)/", "text", rules.LAYOUT),
    (r"xl/drawings/vml|\w+/.*vmlDrawing", "form control", rules.CLICKABLE),
    (r"xl/drawings/", "text box", ""),
    (r"\w+/charts/(?:chart|chartEx)\d*\.xml", "chart", ""),
    (r"\w+/drawings/", "drawing", ""),
    (r"\w+/charts/", "chart", rules.STYLES),
    (r"\w+/diagrams/data", "SmartArt", ""),
    (r"\w+/diagrams/drawing", "SmartArt", rules.OTHER_FORM),
    (r"\w+/diagrams/", "SmartArt", rules.STYLES),
    (r"xl/(?:externalLinks|pivotCache|pivotTables|queryTables|connections|xmlMaps)", "cell", rules.LINKED),
    (r"xl/(?:worksheets|sharedStrings|workbook|chartsheets|dialogsheets|macrosheets)", "cell", rules.TECHNICAL),
    (r"\w+/(?:theme|styles|settings|fontTable|numbering|webSettings|stylesWithEffects|tableStyles|presProps|viewProps"
     r"|presentation|tags|people|persons|commentAuthors|authors|tables|printerSettings|calcChain|metadata|ctrlProps"
     r"|activeX|media|fonts|changesInfos|revisionInfo|bibliography|ink|webextensions|slideUpdateInfo|revisions"
     r"|richData|slicer|timeline|featurePropertyBag|model|vbaData|attachedToolbars|customizations)", "setting",
     rules.STYLES),
    (r"\[Content_Types\]|.*\.rels$|_xmlsignatures/|customUI|userCustomization|docMetadata|package/", "setting",
     rules.TECHNICAL),
]  # fmt: skip
_PART_PATTERNS = [(re.compile(begins, re.IGNORECASE), kind, rule) for begins, kind, rule in _PART_RULES]
_SHOWN_SUFFIXES = (".htm", ".html", ".xhtml", ".mht", ".mhtml", ".rtf", ".txt", ".docx", ".docm", ".xml")
_OFFICE_SUFFIXES = (
    ".docx",
    ".docm",
    ".doc",
    ".odt",
    ".xlsx",
    ".xlsm",
    ".xlsb",
    ".xls",
    ".ods",
    ".pptx",
    ".pptm",
    ".odp",
)


def read_office_texts(data: bytes, nesting: Nesting) -> Iterator[SourceText]:
    """Give all text of an Office file, one part after the other."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        correct_names(archive)
        names = archive.namelist()
        hidden = _find_hidden_slides(archive, names)
        if any(name.startswith("xl/") for name in names):
            yield from read_cell_texts(archive, names, nesting.budget)
        for name in names:
            nesting.budget.check()
            yield from _read_part_texts(archive, name, hidden, nesting)


def correct_names(archive: zipfile.ZipFile) -> None:
    """Return the parts under the names that readers know: some programs write the separators of Windows."""
    for member in archive.infolist():
        member.filename = member.filename.replace("\\", "/").removeprefix("/")
        archive.NameToInfo[member.filename] = member


def _read_part_texts(
    archive: zipfile.ZipFile, name: str, hidden: frozenset[str], nesting: Nesting
) -> Iterator[SourceText]:
    lowered = name.lower()
    if "/embeddings/" in lowered or "/afchunk" in lowered or _is_chunk(lowered):
        if nesting.depth < _MAX_NESTED_FILES and lowered.endswith((*_OFFICE_SUFFIXES, *_SHOWN_SUFFIXES)):
            yield from _read_inner_texts(archive, name, nesting)
        return
    if not lowered.endswith((".xml", ".vml")):
        return
    kind, rule = next(((k, r) for begins, k, r in _PART_PATTERNS if begins.match(name)), ("unknown part", ""))
    # Settings contain no text by people, and take most of the time of small files.
    if rule in (rules.STYLES, rules.TECHNICAL):
        return
    part = archive.open(name)
    if kind == "unknown part":
        for text in read_unknown_part(part, nesting.budget):
            yield SourceText(name, kind, text, rules.TECHNICAL if _is_technical(text) else "")
        return
    if name in hidden:
        rule = rules.HIDDEN_SLIDE
    if kind == "property":
        for text in read_unknown_part(part, nesting.budget):
            yield SourceText(name, kind, text, rule)
        return
    for found, why, text in read_paragraphs(part, kind, rule, nesting.budget):
        yield SourceText(name, found, text, why)


def _is_chunk(name: str) -> bool:
    """Return True for a part that Word shows in place of an `altChunk`; other programs choose its name freely."""
    return name.startswith("word/") and name.endswith((".htm", ".html", ".xhtml", ".mht", ".mhtml", ".rtf", ".txt"))


def _is_technical(text: str) -> bool:
    return len(text.split()) < 2 and not text.isalpha()


def _read_inner_texts(archive: zipfile.ZipFile, name: str, nesting: Nesting) -> Iterator[SourceText]:
    is_package = name.lower().endswith(_OFFICE_SUFFIXES)
    kind = "embedded file" if is_package else "embedded part"
    # The workbook behind a chart: its numbers are those that the chart shows.
    is_behind_chart = is_package and f"charts/_rels/{posixpath.basename(name)}" in _list_chart_links(archive)
    for text in nesting.read_inner_texts(archive.read(name), name):
        rule = text.rule or (rules.OTHER_FORM if is_behind_chart else "")
        # No program shows the title of an embedded page.
        rule = rule or (rules.PROPERTIES if text.kind == "title" else "")
        yield SourceText(name, kind if text.kind == "text" else text.kind, text.text, rule)


def _list_chart_links(archive: zipfile.ZipFile) -> set[str]:
    links = (name for name in archive.namelist() if "/charts/_rels/" in name)
    return {
        f"charts/_rels/{posixpath.basename(target.decode())}"
        for name in links
        for target in re.findall(rb'Target="([^"]*)"', archive.read(name))
    }


def _find_hidden_slides(archive: zipfile.ZipFile, names: list[str]) -> frozenset[str]:
    """Return the slides that are not shown, and the notes on them."""
    hidden = set()
    for name in names:
        if re.fullmatch(r"ppt/slides/[^/]+\.xml", name) and _is_hidden(archive, name):
            links = f"ppt/slides/_rels/{posixpath.basename(name)}.rels"
            targets = re.findall(rb'Target="([^"]*)"', archive.read(links)) if links in names else []
            notes = (posixpath.normpath(posixpath.join("ppt/slides", target.decode())) for target in targets)
            hidden |= {name, *(note for note in notes if "notesSlide" in note)}
    return frozenset(hidden)


def _is_hidden(archive: zipfile.ZipFile, name: str) -> bool:
    with archive.open(name) as part:
        head: Any = re.search(rb"<(?:\w+:)?sld\b[^>]*>", part.read(4096))
    return head is not None and re.search(rb'\bshow=["\'](?:0|false)["\']', head[0]) is not None
