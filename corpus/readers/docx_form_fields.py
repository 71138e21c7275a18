"""Ticks, choices and empty fields of Word forms, as text."""

from __future__ import annotations

from typing import Any

from argot.corpus.readers.docx_package import W, is_switched_on
from argot.corpus.readers.omissions import Omissions

TICKED, OPEN = "[x]", "[ ]"
_TICKED_CHARACTERS = "☑☒✓✔✗✘🗹🗷🗵⌧"


def write_form_values(root: Any, omissions: Omissions) -> None:
    """Write check boxes as `[x]` and `[ ]` and choices as text; remove the "Click here to enter text" of Word."""
    for control in list(root.iter(f"{W}sdt")):
        properties, content = control.find(f"{W}sdtPr"), control.find(f"{W}sdtContent")
        if properties is None or content is None:
            continue
        box = next((one for one in properties if str(one.tag).endswith("}checkbox")), None)
        if box is not None:
            _write_check_box(box, content)
            _unwrap(control, content)
        elif is_switched_on(properties.find(f"{W}showingPlcHdr")):
            for run in list(content.iter(f"{W}r")):
                run.getparent().remove(run)
    for begin in list(root.iter(f"{W}fldChar")):
        value = _read_old_field(begin)
        if value:
            begin.addnext(_make_text(begin, value))


def _write_check_box(box: Any, content: Any) -> None:
    checked = next((one for one in box if str(one.tag).endswith("}checked")), None)
    value = next(iter(checked.attrib.values()), "1") if checked is not None else None
    runs = list(content.iter(f"{W}r"))
    text = "".join(one.text or "" for one in content.iter(f"{W}t"))
    is_ticked = value not in ("0", "false", "off") if value is not None else any(c in text for c in _TICKED_CHARACTERS)
    first = content.makeelement(f"{W}r")
    first.append(_make_text(content, TICKED if is_ticked else OPEN))
    if runs:
        runs[0].addprevious(first)
    else:
        next(content.iter(f"{W}p"), content).append(first)
    for run in runs:
        run.getparent().remove(run)


def _unwrap(control: Any, content: Any) -> None:
    for child in list(content):
        control.addprevious(child)
    control.getparent().remove(control)


def _read_old_field(begin: Any) -> str:
    """Return the value of a check box or a list of the older kind, which is in the field's data; else nothing."""
    box = begin.find(f"{W}ffData/{W}checkBox")
    if box is not None:
        checked = box.find(f"{W}checked")
        return TICKED if is_switched_on(checked if checked is not None else box.find(f"{W}default")) else OPEN
    choice = begin.find(f"{W}ffData/{W}ddList")
    if choice is None:
        return ""
    entries = [str(one.get(f"{W}val") or "") for one in choice.findall(f"{W}listEntry")]
    number = _read_choice(choice)
    return entries[number] if number < len(entries) else ""


def _read_choice(choice: Any) -> int:
    for name in ("result", "default"):
        found = choice.find(f"{W}{name}")
        value = str(found.get(f"{W}val") or "") if found is not None else ""
        if value.isascii() and value.isdigit() and len(value) < 5:
            return int(value)
    return 0


def _make_text(near: Any, text: str) -> Any:
    made = near.makeelement(f"{W}t")
    made.text = text
    return made
