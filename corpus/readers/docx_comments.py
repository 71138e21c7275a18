"""Comments in Word files: notes with their author and the words they mark, after the paragraph, list or table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from argot.corpus.readers.docx_insertions import make_paragraph, make_text_run
from argot.corpus.readers.docx_package import W, WordPackage, read_text
from argot.corpus.readers.omissions import Omissions

_PARAGRAPH_ID = "{http://schemas.microsoft.com/office/word/2010/wordml}paraId"
_W15_NAMESPACE = "{http://schemas.microsoft.com/office/word/2012/wordml}"
_MAX_MARKED_CHARS = 100


@dataclass(slots=True)
class _Comment:
    author: str
    text: str
    replies: list[_Comment] = field(default_factory=list)
    is_reply: bool = False
    is_resolved: bool = False


def insert_comments(package: WordPackage, root: Any, omissions: Omissions) -> None:
    """Insert each comment into the text as a note; count those that mark no place in it."""
    comments = _read_comments(package)
    if not comments:
        return
    marked = _read_marked_words(root, comments)
    last: dict[Any, Any] = {}
    placed = set()
    for reference in list(root.iter(f"{W}commentReference")):
        key = str(reference.get(f"{W}id"))
        if key not in comments or key in placed:
            continue
        placed.add(key)
        block = None if comments[key].is_reply else _block_around(reference)
        if block is not None:
            note = make_paragraph(make_text_run(_write_note(comments[key], marked.get(key, ""))))
            last.get(block, block).addnext(note)
            last[block] = note
    omissions.add("comment", sum(one not in placed and not comments[one].is_reply for one in comments))


def _read_comments(package: WordPackage) -> dict[str, _Comment]:
    root = package.parse_tree(package.find_related_part("comments"))
    comments: dict[str, _Comment] = {}
    by_paragraph: dict[str, _Comment] = {}
    for one in root.iter(f"{W}comment") if root is not None else ():
        comment = _Comment(" ".join(str(one.get(f"{W}author") or "").split()), read_text(one))
        if not comment.text:
            continue
        comments[str(one.get(f"{W}id"))] = comment
        by_paragraph |= {str(line.get(_PARAGRAPH_ID)): comment for line in one.iter(f"{W}p") if line.get(_PARAGRAPH_ID)}
    extended = package.parse_tree(package.find_related_part("commentsExtended")) if comments else None
    for one in extended.iter(f"{_W15_NAMESPACE}commentEx") if extended is not None else ():
        state = by_paragraph.get(str(one.get(f"{_W15_NAMESPACE}paraId")))
        above = by_paragraph.get(str(one.get(f"{_W15_NAMESPACE}paraIdParent")))
        if state is not None:
            state.is_resolved = one.get(f"{_W15_NAMESPACE}done") in ("1", "true")
            if above is not None and above is not state and not above.is_reply:
                state.is_reply = True
                above.replies.append(state)
    return comments


def _read_marked_words(root: Any, comments: dict[str, _Comment]) -> dict[str, str]:
    """Return the words that each comment marks, shortened if they are many."""
    started: dict[str, list[str]] = {}
    found: dict[str, str] = {}
    for element in root.iter(f"{W}t", f"{W}p", f"{W}tab", f"{W}commentRangeStart", f"{W}commentRangeEnd"):
        key = str(element.get(f"{W}id"))
        if element.tag == f"{W}commentRangeStart" and key in comments:
            started[key] = []
        elif element.tag == f"{W}commentRangeEnd" and key in started:
            words = " ".join("".join(started.pop(key)).split())
            found[key] = words if len(words) <= _MAX_MARKED_CHARS else f"{words[:_MAX_MARKED_CHARS].rstrip()} ..."
        elif started:
            for words_of_one in started.values():
                words_of_one.append((element.text or "") if element.tag == f"{W}t" else " ")
    return found


def _block_around(reference: Any) -> Any | None:
    """Return the table, or the last item of the list, or the paragraph, that contains the mark of a comment."""
    around = list(reference.iterancestors())
    tables = [one for one in around if one.tag == f"{W}tbl"]
    block = tables[-1] if tables else next((one for one in around if one.tag == f"{W}p"), None)
    if block is not None and _is_list_item(block):
        while (after := block.getnext()) is not None and _is_list_item(after):
            block = after
    return block


def _is_list_item(block: Any) -> bool:
    return block.tag == f"{W}p" and block.find(f"{W}pPr/{W}numPr") is not None


def _write_note(comment: _Comment, marked: str) -> str:
    by = f" by {comment.author}" if comment.author else ""
    on = f' on "{marked}"' if marked else ""
    replies = [f"Reply{f' by {one.author}' if one.author else ''}: {one.text}" for one in comment.replies]
    resolved = ["(resolved)"] if comment.is_resolved else []
    return " ".join([f"Comment{by}{on}: {comment.text}", *replies, *resolved])
