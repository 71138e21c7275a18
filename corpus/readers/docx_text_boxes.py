"""Text boxes of Word files, old and new, converted to the one form that mammoth reads."""

from __future__ import annotations

from typing import Any

from argot.corpus.readers.docx_insertions import make_paragraph, make_text_run
from argot.corpus.readers.docx_package import MC, A, W, read_text

VML = "{urn:schemas-microsoft-com:vml}"
_CONTENT = f"{W}txbxContent"
_READ_GRAPHICS = (_CONTENT, f"{A}txBody", f"{A}graphicData")
_UNWRAPPED = (f"{W}fldSimple", f"{W}dir", f"{W}bdo")
"""Elements around text that mammoth does not know and would leave out with the text in them."""


def show_all_text(root: Any) -> None:
    """Bring text that mammoth would leave out into elements that it reads."""
    _choose_branches(root)
    _lift_text_boxes(root)
    _unwrap_text(root)


def _choose_branches(root: Any) -> None:
    """Keep of each `mc:AlternateContent` the newer branch if it contains a graphic that is read here, else the
    older.
    """
    # From the outside in; changes within a branch that was dropped have no effect.
    for one in list(root.iter(f"{MC}AlternateContent")):
        branches = [branch for branch in one if branch.tag in (f"{MC}Choice", f"{MC}Fallback") and len(branch)]
        newer = [branch for branch in branches if next(branch.iter(*_READ_GRAPHICS), None) is not None]
        older = [branch for branch in branches if branch.tag == f"{MC}Fallback"]
        chosen = (newer or older or branches)[:1]
        _replace(one, [child for branch in chosen for child in branch])


def _lift_text_boxes(root: Any) -> None:
    """Move the content of all boxes of a drawing, of any shape and group, into one `v:textbox` that replaces it."""
    from lxml import etree  # type: ignore[import-untyped]

    for drawing in list(root.iter(f"{W}drawing", f"{W}pict", f"{W}object")):
        contents = [_content_of(one) for one in drawing.iter(_CONTENT, f"{A}txBody") if _is_outermost(one, drawing)]
        contents += [_word_art(one) for one in drawing.iter(f"{VML}textpath") if one.get("string")]
        if not contents:
            continue
        lifted = etree.Element(f"{W}pict")
        box = etree.SubElement(etree.SubElement(lifted, f"{VML}shape"), f"{VML}textbox")
        box.extend(contents)
        drawing.addnext(lifted)


def _is_outermost(content: Any, drawing: Any) -> bool:
    around = content.getparent()
    while around is not None and around is not drawing:
        if around.tag in (_CONTENT, f"{W}drawing", f"{W}pict", f"{W}object"):
            return False
        around = around.getparent()
    return True


def _content_of(box: Any) -> Any:
    """Return the content of a Word text box; that of a drawing's text box as Word paragraphs."""
    from lxml import etree

    if box.tag == _CONTENT:
        return box
    content = etree.Element(_CONTENT)
    for paragraph in box.iter(f"{A}p"):
        text = "".join(str(one.text or "") for one in paragraph.iter(f"{A}t"))
        content.append(make_paragraph(make_text_run(text)))
    return content


def _word_art(path: Any) -> Any:
    from lxml import etree

    content = etree.Element(_CONTENT)
    content.append(make_paragraph(make_text_run(str(path.get("string")))))
    return content


def _unwrap_text(root: Any) -> None:
    for ruby in list(root.iter(f"{W}ruby")):
        # The phonetic guide printed above a word follows it in brackets.
        base, reading = (
            read_text(one) if one is not None else "" for one in (ruby.find(f"{W}rubyBase"), ruby.find(f"{W}rt"))
        )
        _replace(ruby, list(make_text_run(f"{base} ({reading})" if reading else base)))
    for one in list(root.iter(*_UNWRAPPED)):
        _replace(one, [child for child in one if not str(child.tag).endswith("Pr")])
    for one in root.iter(f"{W}cr"):
        one.tag = f"{W}br"
    for one in root.iter(f"{W}ptab"):
        one.tag = f"{W}tab"


def _replace(element: Any, children: list[Any]) -> None:
    parent = element.getparent()
    if parent is None:
        return
    place = parent.index(element)
    parent[place : place + 1] = children
