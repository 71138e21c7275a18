"""Forms of web pages as text: each label with its value, boxes as `[x]` and `[ ]`. Buttons are no content."""

from __future__ import annotations

from collections.abc import Iterator

from bs4 import Tag
from bs4.element import NavigableString

from argot.corpus.readers.html_selection import select_elements

_TEXTLESS_INPUT_TYPES = frozenset({"hidden", "submit", "button", "reset", "image", "password", "file", "search"})
_BOX_INPUT_TYPES = frozenset({"checkbox", "radio"})
_BOX_ROLES = ("checkbox", "radio", "switch")
_BLOCK_TAGS = frozenset({"form", "fieldset", "div", "section", "body"})


def write_form_fields(root: Tag) -> None:
    """Replace the fields of forms by text, as a person who looks at the page reads them."""
    labels = {str(label["for"]): label for label in select_elements(root, "label[for]")}
    for element in select_elements(root, ", ".join(f"[role={role}][aria-checked]" for role in _BOX_ROLES)):
        if element.name != "input":
            element.insert(0, _make_box(element["aria-checked"] == "true"))
    named: set[int] = set()
    """Labels without `for` that belong to a field."""
    if root.find(["input", "select", "textarea", "label", "legend", "output"]) is None:
        return
    for field in select_elements(root, "input, select, textarea"):
        kind = str(field.get("type") or "text").lower() if field.name == "input" else field.name
        if kind in _TEXTLESS_INPUT_TYPES or (field.name == "input" and not _is_form_field(field, kind, labels)):
            field.decompose()
            continue
        label = _find_label(field, labels)
        label = None if id(label) in named else label
        named.add(id(label))
        (_write_box if kind in _BOX_INPUT_TYPES else _write_value)(field, label)
    for part in select_elements(root, "label, legend, output"):
        part.name = "div"  # except for adjacent text


def _is_form_field(field: Tag, kind: str, labels: dict[str, Tag]) -> bool:
    """Return whether a person fills it in: other boxes and buttons switch tabs, menus and colours of the page."""
    if kind not in _BOX_INPUT_TYPES or field.find_parent("form") is not None:
        return True
    label = field.find_parent("label") or labels.get(str(field.get("id") or ""))
    about = " ".join([*(field.get("class") or ()), *((label and label.get("class")) or ()), str(field.get("id") or "")])
    if any(word in about.lower() for word in ("tab", "toggle", "drawer", "menu", "nav")):
        return False
    return kind == "checkbox" or field.find_parent(["fieldset", "td", "li"]) is not None or label is not None


def _find_label(field: Tag, labels: dict[str, Tag]) -> Tag | None:
    around = field.find_parent("label")
    found = around or labels.get(str(field.get("id") or ""))
    if found is None:
        before = field.find_previous_sibling(True)
        # A label without `for` directly before the field that contains none itself.
        if before is not None and before.name == "label" and before.find(["input", "select", "textarea"]) is None:
            found = before if not before.has_attr("for") else None
    return found


def _make_box(checked: bool) -> NavigableString:
    return NavigableString("[x] " if checked else "[ ] ")


def _write_box(field: Tag, label: Tag | None) -> None:
    mark = _make_box(field.has_attr("checked"))
    if isinstance(after := field.next_sibling, NavigableString) and after.strip():
        after.replace_with(NavigableString(after.lstrip()))
    if label is None or field.find_parent("label") is not None:
        field.replace_with(mark)
    else:
        label.insert(0, mark)
        field.decompose()


def _write_value(field: Tag, label: Tag | None) -> None:
    value = " ".join(_read_values(field))
    if label is None:
        stands_alone = field.parent is not None and field.parent.name in _BLOCK_TAGS
        field.replace_with(_make_paragraph(value) if stands_alone else NavigableString(f" {value} "))
        return
    label_text = label.get_text(" ", strip=True) if field.find_parent("label") is None else _read_text_before(field)
    colon = "" if not label_text or not value or label_text.endswith((":", "?", "*")) else ":"
    text = NavigableString(f"{colon} {value} " if value else " ")
    if field.find_parent("label") is not None:
        _strip_before(field)
        field.replace_with(text)
    else:
        _strip_end(label)
        label.append(text)
        field.decompose()


def _make_paragraph(text: str) -> Tag:
    paragraph = Tag(name="div")
    paragraph.append(NavigableString(text))
    return paragraph


def _read_text_before(field: Tag) -> str:
    before = field.previous_sibling
    return before.get_text(strip=True) if before is not None else ""


def _strip_before(field: Tag) -> None:
    if isinstance(before := field.previous_sibling, NavigableString):
        before.replace_with(NavigableString(before.rstrip()))


def _strip_end(label: Tag) -> None:
    last = label.contents[-1] if label.contents else None
    if isinstance(last, NavigableString):
        last.replace_with(NavigableString(last.rstrip()))


def _read_values(field: Tag) -> Iterator[str]:
    if field.name == "select":
        options = field.select("option")
        chosen = [option for option in options if option.has_attr("selected")]
        # Without a choice a browser shows the first one.
        for option in chosen or ([] if field.has_attr("multiple") else options[:1]):
            yield option.get_text(" ", strip=True)
    elif field.name == "textarea":
        yield field.get_text().strip()
    else:
        yield str(field.get("value") or "").strip()
