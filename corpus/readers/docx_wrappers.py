"""Elements of a Word file around or beside its text that mammoth does not know, and would drop with their text."""

from __future__ import annotations

from typing import Any

from argot.corpus.readers.docx_package import MC, W
from argot.corpus.readers.omissions import Omissions

# A field with its last result, text of another direction, and wrappers of newer programs around text.
_WRAPPERS = tuple(f"{W}{name}" for name in ("fldSimple", "dir", "bdo"))
_SAME_TAGS = {f"{W}ptab": f"{W}tab", f"{W}cr": f"{W}br"}


def lift_unknown_elements(root: Any, omissions: Omissions) -> None:
    """Convert unknown elements to ones that mammoth knows; a text in another file is counted."""
    for wrapper in list(root.iter(*_WRAPPERS)):
        _unwrap(wrapper, [child for child in wrapper if not str(child.tag).endswith("Pr")])
    for ruby in list(root.iter(f"{W}ruby")):
        _write_ruby(ruby)
    for element in list(root.iter(*_SAME_TAGS)):
        element.tag = _SAME_TAGS[element.tag]
    for hyphen in list(root.iter(f"{W}noBreakHyphen", f"{W}softHyphen")):
        # A soft hyphen would split the word for the search.
        _put_text(hyphen, "-" if hyphen.tag == f"{W}noBreakHyphen" else "")
    for alternative in list(root.iter(f"{MC}AlternateContent")):
        choice = alternative.find(f"{MC}Choice")
        if choice is not None and alternative.find(f"{MC}Fallback") is None:
            _unwrap(alternative, list(choice))
    omissions.add("linked document", sum(1 for _ in root.iter(f"{W}subDoc")))


def _unwrap(wrapper: Any, children: list[Any]) -> None:
    for child in children:
        wrapper.addprevious(child)
    wrapper.getparent().remove(wrapper)


def _write_ruby(ruby: Any) -> None:
    """Write a word's phonetic guide in brackets after it."""
    reading, word = (
        "".join(text.text or "" for part in ruby.findall(f"{W}{name}") for text in part.iter(f"{W}t"))
        for name in ("rt", "rubyBase")
    )
    _put_text(ruby, f"{word} ({reading})" if reading and word else word or reading)


def _put_text(element: Any, text: str) -> None:
    replacement = element.makeelement(f"{W}t")
    replacement.text = text
    element.getparent().replace(element, replacement)
