"""One walk through an XML part of an Office file: its paragraphs, each with its context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import IO, Any

from argot.corpus.readers.ledger import source_text as rules
from argot.corpus.readers.ledger.budget import Budget

_EVENTS_PER_CHECK = 2_000
_FALSE_VALUES = ("0", "false", "off", "none")
_TEXT_ELEMENTS = frozenset({"t", "text", "delText", "instrText", "delInstrText", "v"})
_BLANK_ELEMENTS = frozenset({"tab", "br", "cr", "ptab", "rt", "rubyBase"})
_FURNITURE_TYPES = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
_RULES_OF_ELEMENTS = {
    "del": rules.DELETED,
    "moveFrom": rules.DELETED,
    "Fallback": rules.FALLBACK,
    "delText": rules.DELETED,
    "instrText": rules.FIELD_CODE,
    "delInstrText": rules.FIELD_CODE,
    "rPh": rules.TECHNICAL,
    "numCache": rules.TECHNICAL,
    "numLit": rules.TECHNICAL,
}
_KINDS_OF_ELEMENTS = {"txbxContent": "text box", "oMath": "equation"}
_BLOCK_ELEMENTS = frozenset({"p", "oMath", "pt", "si", "tx", "text", "comment"})
"""Elements whose text is one piece: a paragraph, an equation, a point of a chart's cache, a note on a cell."""


@lru_cache(2_000)
def read_local_name(tag: str) -> str:
    """Return a tag's name without its namespace: Strict and Transitional files differ in it."""
    return tag.rpartition("}")[2]


@dataclass(slots=True)
class _Frame:
    """An element that changes the role of its text."""

    kind: str
    rule: str
    pieces: dict[str, list[str]] = field(default_factory=dict)
    """Texts of a block, by rule."""


def read_paragraphs(part: IO[bytes], kind: str, rule: str, budget: Budget) -> Iterator[tuple[str, str, str]]:
    """Yield kind, rule and text of each paragraph of a part.

    Damage loses only the text after it. No entity is resolved and nothing is fetched.
    """
    from lxml import etree  # type: ignore[import-untyped]

    walk = _Walk(kind, rule)
    events = etree.iterparse(
        part, events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False,
        huge_tree=True, recover=True, remove_comments=True, remove_pis=True,
    )  # fmt: skip
    for number, (event, element) in enumerate(events):
        if number % _EVENTS_PER_CHECK == 0:
            budget.check()
        name = read_local_name(element.tag)
        if event == "start":
            walk.start(name, element)
            continue
        walk.end(name, element)
        if walk.done:
            yield from walk.done
            walk.done.clear()
        # Memory of read elements is released: a part can be a hundred times as large as its text.
        element.clear(keep_tail=False)
        if element.getprevious() is not None and name in _BLOCK_ELEMENTS:
            del element.getparent()[0]


class _Walk:
    def __init__(self, kind: str, rule: str) -> None:
        self._frames = [_Frame(kind, rule)]
        self._opened: list[str] = []
        """Names of the elements that pushed a frame, innermost last."""
        self._hidden = [""]
        """The rule of each open run: hidden or shown."""
        self.done: list[tuple[str, str, str]] = []

    def start(self, name: str, element: Any) -> None:
        top = self._frames[-1]
        if name in _BLOCK_ELEMENTS or name in _KINDS_OF_ELEMENTS or name in _RULES_OF_ELEMENTS or name in ("sdt", "sp"):
            rule = top.rule or _RULES_OF_ELEMENTS.get(name, "")
            self._frames.append(_Frame(_KINDS_OF_ELEMENTS.get(name, top.kind), rule))
            self._opened.append(name)
        elif name == "r":
            self._hidden.append("")
        elif name == "vanish" and len(self._hidden) > 1 and _is_in_run(element) and not _is_off(element):
            self._hidden[-1] = rules.HIDDEN
        elif name == "ph" and element.get("type") in _FURNITURE_TYPES:
            self._leave_out("sp", rules.PLACEHOLDER)
        elif name == "showingPlcHdr" and not _is_off(element):
            self._leave_out("sdt", rules.PLACEHOLDER)
        elif name in _BLANK_ELEMENTS:
            self._add(" ")
        elif name == "noBreakHyphen":
            self._add("-")
        elif name == "vertAlign" and element.get(_name_value(element)) == "superscript":
            self._add(" ")

    def end(self, name: str, element: Any) -> None:
        if name in _TEXT_ELEMENTS and element.text:
            self._add(element.text)
        if name == "r" and len(self._hidden) > 1:
            self._hidden.pop()
        if self._opened and self._opened[-1] == name:
            self._opened.pop()
            self._close(name, self._frames.pop())

    def _close(self, name: str, frame: _Frame) -> None:
        if name not in _BLOCK_ELEMENTS:
            # Part of the surrounding paragraph.
            for rule, pieces in frame.pieces.items():
                self._frames[-1].pieces.setdefault(rule, []).extend(pieces)
            return
        if name == "oMath":
            self._add(" ")
        for rule, pieces in frame.pieces.items():
            text = "".join(pieces)
            if text and not text.isspace():
                self.done.append((frame.kind, rule, text))

    def _add(self, text: str) -> None:
        frame = self._frames[-1]
        frame.pieces.setdefault(frame.rule or self._hidden[-1], []).append(text)

    def _leave_out(self, around: str, rule: str) -> None:
        for at in range(len(self._opened) - 1, -1, -1):
            if self._opened[at] == around:
                for frame in self._frames[at + 1 :]:
                    frame.rule = frame.rule or rule
                return


def _name_value(element: Any) -> str:
    return (
        element.tag.replace("vertAlign", "val") if "}" not in element.tag else f"{element.tag.partition('}')[0]}}}val"
    )


def _is_off(element: Any) -> bool:
    return element.get(f"{element.tag.partition('}')[0]}}}val") in _FALSE_VALUES


def _is_in_run(element: Any) -> bool:
    around = element.getparent()
    around = around.getparent() if around is not None else None
    return around is not None and read_local_name(around.tag) == "r"


def read_unknown_part(part: IO[bytes], budget: Budget) -> Iterator[str]:
    """Yield every text node of a part of unknown form."""
    from lxml import etree

    events = etree.iterparse(
        part, events=("end",), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True,
        recover=True, remove_comments=True, remove_pis=True,
    )  # fmt: skip
    for number, (_, element) in enumerate(events):
        if number % _EVENTS_PER_CHECK == 0:
            budget.check()
        for text in (element.text, element.tail):
            if text and not text.isspace():
                yield text
        element.clear(keep_tail=False)
