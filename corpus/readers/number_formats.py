"""Numbers as a spreadsheet shows them: percentages, the unit or currency of the format, and padding zeros.

All digits of the number stay, even those that the format would round away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|(?P<sign>[$€£¥])'
    r"|_(?:.)|(?P<space>\*.| )|\[[^\]]*\]|(?P<exponent>[Ee][+-]0+)|(?P<over>/[?#0\d]+)|(?P<percent>%)"
    r"|(?P<digits>[#0?][#0?.,]*)|(?P<mark>[-()])|.",
    re.DOTALL,
)
_SECTIONS = re.compile(r'(?:"[^"]*"|\\.|[^;"\\]|["\\])*')
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)\]")
_OWN_SIGN = re.compile(r"^-\s*|-\s*$")
_GENERAL_FORMAT = "General"
_MAX_DECIMALS = 30


@dataclass(frozen=True, slots=True)
class _Section:
    """One part of a format. `patterns`: its groups of digits, with the separators in `between`."""

    before: str = ""
    patterns: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    after: str = ""
    has_percent: bool = False
    has_exponent: bool = False
    over: str = ""


def format_number(value: float, number_format: str) -> str:
    """Return `value` with all its digits in the format, with the format's literal text."""
    plain = str(value) if isinstance(value, int) else f"{value:.12g}"
    if not number_format or number_format == _GENERAL_FORMAT:
        return plain
    code, is_own = _choose_section(number_format, value)
    section = _read_section(code)
    if not section.patterns:
        # A section of words, as in "yes";;"no", shows these; an empty one shows nothing.
        text = section.before.strip()
        return text if any(map(str.isalpha, text)) or (is_own and not code.strip()) else plain
    if section.has_percent:
        value, plain = value * 100, f"{value * 100:.10g}"
    if section.has_exponent or "e" in plain:
        return f"{section.before}{plain}{section.after}"
    if section.over and (fraction := _format_fraction(value, section)):
        return f"{section.before}{fraction}{section.after}"
    sign = "-" if value < 0 else ""
    # Accounting shows nothing as a dash, which is no sign; a section for negative numbers may write the sign itself.
    before = section.before.rstrip("-") if value == 0 else _OWN_SIGN.sub("", section.before) if sign else section.before
    digits = _format_digits(plain.removeprefix("-"), section)
    return f"{before}{sign}{digits}{section.after}"


def _format_digits(plain: str, section: _Section) -> str:
    first = section.patterns[0]
    if len(section.patterns) > 1:
        return _fill_groups(plain, section)
    # Each comma behind the digits shows the number in thousands, then in millions.
    if scale := len(first) - len(first.rstrip(",")):
        plain = f"{float(plain) / 1000**scale:.12g}"
    whole, _, decimals = plain.partition(".")
    pattern, _, places = first.rstrip(",").partition(".")
    if "," in pattern:
        whole = f"{int(whole):,}"
    elif not pattern.strip("0"):
        whole = whole.zfill(len(pattern))
    decimals = decimals.ljust(min(places.count("0"), _MAX_DECIMALS), "0")
    return f"{whole}.{decimals}" if decimals else whole


def _fill_groups(plain: str, section: _Section) -> str:
    """Return the digits between the separators of a format such as 000-000; unchanged if they are no whole number."""
    if not plain.isdigit() or any(pattern.strip("0#?") for pattern in section.patterns):
        return plain
    groups: list[str] = []
    rest = plain
    for pattern in reversed(section.patterns[1:]):
        taken = rest[-len(pattern) :]
        groups.append(taken.zfill(len(pattern)) if "0" in pattern else taken)
        rest = rest[: -len(pattern)]
    first = section.patterns[0]
    groups.append(rest.zfill(len(first)) if not first.strip("0") else rest)
    groups.reverse()
    return "".join(group + mark for group, mark in zip(groups, [*section.between, ""], strict=True))


def _format_fraction(value: float, section: _Section) -> str:
    """Return the number as a whole one and a fraction; "" if no fraction of that size equals the number."""
    bottom = section.over[1:]
    exact = Fraction(str(abs(value)))
    limit = int(bottom) if bottom.isdigit() and bottom.strip("0") else 10 ** len(bottom) - 1
    nearest = (
        Fraction(round(exact * limit), limit)
        if bottom.isdigit() and bottom.strip("0")
        else exact.limit_denominator(limit)
    )
    # 1/3 is stored as 0.333333333333333.
    if abs(nearest - exact) > Fraction(1, 10**9):
        return ""
    sign = "-" if value < 0 else ""
    whole, rest = divmod(nearest, 1)
    if len(section.patterns) < 2 or not rest:
        return f"{sign}{nearest if rest else whole}"
    return f"{sign}{f'{whole} ' if whole else ''}{rest}"


def _choose_section(number_format: str, value: float) -> tuple[str, bool]:
    """Return the section of the format that shows this number, and whether the format has a separate one for such
    numbers.
    """
    sections = _split_sections(number_format)
    conditional = [(found, section) for section in sections if (found := _CONDITION.search(section))]
    if conditional:
        for found, section in conditional:
            if _compare_to_limit(value, found[1], float(found[2])):
                return section, True
        return next((section for section in sections if not _CONDITION.search(section)), sections[0]), False
    kind = 0 if value > 0 else 1 if value < 0 else 2
    return (sections[kind], True) if kind < min(len(sections), 3) else (sections[0], False)


@lru_cache(256)
def _split_sections(number_format: str) -> Sequence[str]:
    parts, at = [], 0
    while True:
        found = _SECTIONS.match(number_format, at)
        end = found.end() if found else len(number_format)
        parts.append(number_format[at:end])
        if end >= len(number_format):
            return parts
        at = end + 1


def _compare_to_limit(value: float, sign: str, limit: float) -> bool:
    return {
        "<": value < limit,
        ">": value > limit,
        "=": value == limit,
        "<=": value <= limit,
        ">=": value >= limit,
        "<>": value != limit,
    }[sign]


@lru_cache(256)
def _read_section(code: str) -> _Section:
    before, after, over = "", "", ""
    patterns: list[str] = []
    between: list[str] = []
    has_percent = has_exponent = False
    for token in _TOKEN.finditer(code):
        if token["digits"]:
            if patterns:
                between.append(after)
                after = ""
            patterns.append(token["digits"])
            continue
        has_percent, has_exponent = has_percent or bool(token["percent"]), has_exponent or bool(token["exponent"])
        over = over or (token["over"] or "")
        mark = token["mark"] if patterns and token["mark"] == "-" else ""
        text = token["quoted"] or token["escaped"] or token["currency"] or token["sign"] or token["percent"] or mark
        text = text or (" " if token["space"] else "")
        if patterns:
            after += text
        else:
            before += text
    return _Section(before.lstrip(), tuple(patterns), tuple(between), after.rstrip(), has_percent, has_exponent, over)
