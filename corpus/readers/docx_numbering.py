"""The numbers that Word prints in front of paragraphs: a file contains only the rules for them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from argot.corpus.readers.docx_package import W, is_switched_on

MAX_LIST_LEVELS = 9
_MAX_LETTERS = 50
"""Word repeats the letters: 27 is "aa", 53 is "aaa"."""
_ROMAN_NUMERALS = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_ROMAN_NUMBER = 10_000


@dataclass(frozen=True, slots=True)
class ListLevel:
    """The rule of one level of a list. `restart` is the level, counted from 1, after which it begins again."""

    start: int
    kind: str
    text: str
    restart: int
    is_legal: bool = False
    has_suffix: bool = True
    style: str = ""
    pattern: str = ""


@dataclass(slots=True)
class WordList:
    """A list of a document: the rules of its levels, and where its counting restarts.

    Attributes:
        counted: the name of the list whose counters it shares; Word counts through lists of the same definition.
    """

    counted: str
    levels: dict[int, ListLevel]
    restarts: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ListLabel:
    """The place of a paragraph in a list. `text` is empty where a bullet or nothing is printed."""

    list_id: str
    level: int
    text: str
    is_bullet: bool
    has_suffix: bool


class ListNumbers:
    """Counts through the paragraphs of a document, in their order."""

    def __init__(self, styles: Any | None, numbering: Any | None) -> None:
        self._styles = _ParagraphStyles(styles)
        self._lists = _read_lists(numbering, self._styles)
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()

    def read_next_label(self, paragraph: Any) -> ListLabel | None:
        """Return the label of the next paragraph; None if it is in no list."""
        list_id, level = self._styles.place_in_list(paragraph, self._lists)
        found = self._lists.get(list_id)
        if found is None or level not in found.levels:
            return None
        rule = found.levels[level]
        self._count(list_id, found, level)
        is_bullet = rule.kind == "bullet"
        text = "" if is_bullet else self._write(found, level)
        return ListLabel(list_id, level, text, is_bullet, rule.has_suffix)

    def _count(self, list_id: str, found: WordList, level: int) -> None:
        counts = self._counts.setdefault(found.counted, {})
        begins_anew = level in found.restarts and (list_id, level) not in self._begun
        if begins_anew or level not in counts:
            counts[level] = found.restarts.get(level, found.levels[level].start)
        else:
            counts[level] += 1
        self._begun.add((list_id, level))
        for deeper, rule in found.levels.items():
            if deeper > level < rule.restart:
                counts.pop(deeper, None)

    def _write(self, found: WordList, level: int) -> str:
        counts, rule = self._counts[found.counted], found.levels[level]

        def write_number(match: re.Match[str]) -> str:
            part = int(match[1]) - 1
            above = found.levels.get(part)
            if above is None:
                return ""
            number = counts.get(part, found.restarts.get(part, above.start))
            return format_number(number, "decimal" if rule.is_legal else above.kind, above.pattern)

        return re.sub(r"%([1-9])", write_number, rule.text).strip()


def format_number(number: int, kind: str, pattern: str = "") -> str:
    """Return a number as Word prints it, such as "iv" for `lowerRoman`; kinds of other scripts as digits."""
    if kind in ("none", "bullet"):
        return ""
    if kind in ("lowerLetter", "upperLetter") and 0 < number <= 26 * _MAX_LETTERS:
        letters = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letters.upper() if kind == "upperLetter" else letters
    if kind in ("lowerRoman", "upperRoman") and 0 < number < _MAX_ROMAN_NUMBER:
        return _write_roman(number).upper() if kind == "upperRoman" else _write_roman(number)
    if kind == "ordinal":
        ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        return f"{number}{ending}"
    if kind == "decimalZero":
        return f"{number:02}"
    width = len(pattern.partition(",")[0].strip()) if kind == "custom" else 0
    return f"{number:0{min(width, 9)}}"


def _write_roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN_NUMERALS:
        written += letters * (number // value)
        number %= value
    return written


class _ParagraphStyles:
    """The lists that paragraph styles name: a paragraph belongs to the list of its style."""

    def __init__(self, root: Any | None) -> None:
        styles = list(root.iter(f"{W}style")) if root is not None else []
        self._styles = {_read_attribute(one, "styleId"): one for one in styles}
        paragraphs = (one for one in styles if _read_attribute(one, "type") == "paragraph")
        self._default = next((_read_attribute(one, "styleId") for one in paragraphs if _is_default(one)), "")

    def list_of_style(self, style: str) -> str:
        """Return the id of the list that a style of the kind "numbering" names."""
        element = self._styles.get(style)
        return _read_value(element.find(f"{W}pPr/{W}numPr/{W}numId")) if element is not None else ""

    def place_in_list(self, paragraph: Any, lists: dict[str, WordList]) -> tuple[str, int]:
        properties = paragraph.find(f"{W}pPr")
        own = properties.find(f"{W}numPr") if properties is not None else None
        list_id = _read_value(own.find(f"{W}numId")) if own is not None else ""
        level = _read_value(own.find(f"{W}ilvl")) if own is not None else ""
        if not list_id:
            style = _read_value(properties.find(f"{W}pStyle")) if properties is not None else ""
            list_id, by_style = self._place_of_style(style or self._default, lists)
            level = level or by_style
        return list_id, min(int(level), MAX_LIST_LEVELS - 1) if level.isascii() and level.isdigit() else 0

    def _place_of_style(self, style: str, lists: dict[str, WordList]) -> tuple[str, str]:
        seen: set[str] = set()
        level = ""
        while style and style not in seen:
            seen.add(style)
            element = self._styles.get(style)
            if element is None:
                break
            own = element.find(f"{W}pPr/{W}numPr")
            level = level or (_read_value(own.find(f"{W}ilvl")) if own is not None else "")
            list_id = _read_value(own.find(f"{W}numId")) if own is not None else ""
            if list_id:
                levels = lists[list_id].levels if list_id in lists else {}
                linked = next((str(index) for index, rule in levels.items() if rule.style in seen), "")
                return list_id, linked or level
            style = _read_value(element.find(f"{W}basedOn"))
        return "", ""


def _read_lists(root: Any | None, styles: _ParagraphStyles) -> dict[str, WordList]:
    if root is None:
        return {}
    definitions = {_read_attribute(one, "abstractNumId"): one for one in root.iter(f"{W}abstractNum")}
    names = {_read_attribute(one, "numId"): _read_value(one.find(f"{W}abstractNumId")) for one in root.iter(f"{W}num")}
    lists = {}
    for one in root.iter(f"{W}num"):
        name = _read_value(one.find(f"{W}abstractNumId"))
        definition = definitions.get(name)
        link = _read_value(definition.find(f"{W}numStyleLink")) if definition is not None else ""
        if link and (linked := names.get(styles.list_of_style(link))) in definitions:
            name, definition = str(linked), definitions[str(linked)]
        levels = _read_levels(definition) if definition is not None else {}
        found = WordList(name, levels)
        for override in one.iter(f"{W}lvlOverride"):
            index = _parse_number(_read_attribute(override, "ilvl"), 0)
            if override.find(f"{W}lvl") is not None:
                found.levels |= _read_levels(override)
            start = override.find(f"{W}startOverride")
            if start is not None:
                found.restarts[index] = _parse_number(_read_value(start), 0)
            elif override.find(f"{W}lvl") is not None and index in found.levels:
                found.restarts[index] = found.levels[index].start
        lists[_read_attribute(one, "numId")] = found
    return lists


def _read_levels(element: Any) -> dict[int, ListLevel]:
    levels = {}
    for one in element.findall(f"{W}lvl"):
        index = _parse_number(_read_attribute(one, "ilvl"), 0)
        # A kind that older programs do not know is in `mc:AlternateContent`, the newer one first.
        kind = next(one.iter(f"{W}numFmt"), None)
        levels[index] = ListLevel(
            start=_parse_number(_read_value(one.find(f"{W}start")), 0),
            kind=(_read_value(kind) or "decimal"),
            text=_read_value(one.find(f"{W}lvlText")),
            restart=_parse_number(_read_value(one.find(f"{W}lvlRestart")), index),
            is_legal=is_switched_on(one.find(f"{W}isLgl")),
            has_suffix=_read_value(one.find(f"{W}suff")) != "nothing",
            style=_read_value(one.find(f"{W}pStyle")),
            pattern=_read_attribute(kind, "format") if kind is not None else "",
        )
    return levels


def _is_default(style: Any) -> bool:
    return _read_attribute(style, "default") in ("1", "true", "on")


def _read_value(element: Any | None) -> str:
    return _read_attribute(element, "val") if element is not None else ""


def _read_attribute(element: Any, name: str) -> str:
    return str(element.get(f"{W}{name}") or "")


def _parse_number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else default
