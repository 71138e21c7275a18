"""Equations of Office files (OMML) as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from argot.corpus.readers.equation_symbols import join_latex, write_symbols, write_words

_ACCENT_COMMANDS = {
    "\u0300": "grave", "\u0301": "acute", "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "overline",
    "\u0306": "breve", "\u0307": "dot", "\u0308": "ddot", "\u030c": "check", "\u0332": "underline",
    "\u20d6": "overleftarrow", "\u20d7": "vec", "\u20db": "dddot", "\u20e1": "overleftrightarrow", "^": "hat",
    "~": "tilde", "¯": "bar", "ˆ": "hat", "˜": "tilde", "˙": "dot", "→": "vec",
    "⏞": "overbrace", "⏟": "underbrace",
}  # fmt: skip
_FUNCTION_NAME = re.compile(
    "arccos|arcsin|arctan|arg|cosh?|coth?|csc|deg|det|dim|exp|gcd|hom|inf|ker|lg|lim|liminf|limsup|ln|log|max|min|Pr"
    "|sec|sinh?|sup|tanh?"
)
_SCRIPTS = {
    "double-struck": "mathbb",
    "fraktur": "mathfrak",
    "script": "mathcal",
    "sans-serif": "mathsf",
    "monospace": "mathtt",
}
_BRACKETS = {"{": "\\{", "}": "\\}", "": "."}
_TALL_COMMANDS = ("\\frac", "\\begin", "\\sum", "\\int", "\\prod", "\\atop", "\\overset", "\\underset")
_FALSE_VALUES = ("0", "false", "off")
_ONE_SYMBOL = re.compile(r"\\?[^\W_]|\\[A-Za-z]+")
_SKIPPED_TAGS = ("del", "moveFrom", "instrText", "delText")
"""Deleted text, which the paragraph around an equation leaves out too, and the code of a field."""


def read_omml(element: Any) -> str:
    """Return an `m:oMath` or `m:oMathPara` as LaTeX without dollars; an unknown part keeps its characters."""
    try:
        return _collapse_spaces(_read_lines(element))
    except RecursionError:
        # Nested deeper than any real equation: only its characters.
        return _collapse_spaces(write_symbols("".join(one.text or "" for one in element.iter() if _name(one) == "t")))


def _read_lines(element: Any) -> str:
    lines = [_read_element(one) for one in element if _name(one) == "oMath"] if _name(element) == "oMathPara" else []
    lines = [line for line in lines if line.strip()]
    if len(lines) < 2:
        return _read_children(element)
    return _write_environment("gathered", lines)


def _write_environment(name: str, lines: list[str]) -> str:
    return f"\\begin{{{name}}} " + " \\\\ ".join(lines) + f" \\end{{{name}}}"


def _collapse_spaces(latex: str) -> str:
    return " ".join(latex.split())


def _name(element: Any) -> str:
    """Return the name without its namespace, which differs between the two kinds of Open XML; a comment has none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _read_element(element: Any) -> str:
    name = _name(element)
    if not name or name in _SKIPPED_TAGS or name.endswith("Pr"):
        return ""
    return _READERS.get(name, _read_children)(element)


def _read_children(element: Any) -> str:
    return join_latex([_read_element(one) for one in element])


def _read_run(run: Any) -> str:
    text = join_latex([_read_element(one) for one in run])
    if not text.strip():
        return text
    if _is_on(run, "nor"):
        return write_words("".join(one.text or "" for one in run if _name(one) == "t"))
    if _FUNCTION_NAME.fullmatch(text):
        return f"\\{text}"
    script = _SCRIPTS.get(_read_property(run, "scr", ""))
    style = _read_property(run, "sty", "")
    command = script or ("mathbf" if style in ("b", "bi") else "mathrm" if style == "p" and len(text) > 1 else "")
    is_word = text.isalnum() and any(char.isalpha() for char in text)
    return f"\\{command}{{{text}}}" if command and (script or is_word) else text


def _read_property(element: Any, name: str, default: str) -> str:
    """Return the value of a property such as `m:chr` in `m:naryPr`; the default if it is missing."""
    properties = next((one for one in element if _name(one).endswith("Pr") and _name_namespace(one) == "math"), None)
    found = next((one for one in properties if _name(one) == name), None) if properties is not None else None
    if found is None:
        return default
    return next((str(value) for key, value in found.attrib.items() if key.rpartition("}")[2] == "val"), "")


def _name_namespace(element: Any) -> str:
    return str(element.tag).rpartition("}")[0].rpartition("/")[2]


def _is_on(element: Any, name: str) -> bool:
    return _read_property(element, name, "0") not in _FALSE_VALUES


def _read_part(element: Any, name: str) -> str:
    return join_latex([_read_element(one) for one in element if _name(one) == name]).strip()


def _read_base(element: Any) -> str:
    """Return the base to which others are attached, in braces if it is more than one symbol."""
    base = _read_part(element, "e")
    return base if _ONE_SYMBOL.fullmatch(base) else f"{{{base}}}"


def _write_scripts(element: Any, *marks: str) -> str:
    parts = (
        (mark, _read_part(element, name)) for mark, name in zip("_^", ("sub", "sup"), strict=True) if name in marks
    )
    return "".join(f"{mark}{{{part}}}" for mark, part in parts if part)


def _read_fraction(element: Any) -> str:
    above, below = _read_part(element, "num"), _read_part(element, "den")
    kind = _read_property(element, "type", "bar")
    if kind == "noBar":
        return f"{{{above} \\atop {below}}}"
    return f"{{{above}}}/{{{below}}}" if kind in ("lin", "skw") else f"\\frac{{{above}}}{{{below}}}"


def _read_scripts(element: Any) -> str:
    return f"{_read_base(element)}{_write_scripts(element, 'sub', 'sup')}"


def _read_scripts_before(element: Any) -> str:
    return f"{{}}{_write_scripts(element, 'sub', 'sup')}{_read_base(element)}"


def _read_root(element: Any) -> str:
    degree = "" if _is_on(element, "degHide") else _read_part(element, "deg")
    return f"\\sqrt{f'[{degree}]' if degree else ''}{{{_read_part(element, 'e')}}}"


def _read_nary(element: Any) -> str:
    bounds = [name for name in ("sub", "sup") if not _is_on(element, f"{name}Hide")]
    sign = write_symbols(_read_property(element, "chr", "∫")).strip()
    return f"{sign}{_write_scripts(element, *bounds)} {_read_part(element, 'e')}"


def _read_delimiters(element: Any) -> str:
    begin, end = _read_property(element, "begChr", "("), _read_property(element, "endChr", ")")
    separator = f" {write_symbols(_read_property(element, 'sepChr', '|'))} "
    inside = separator.join(_read_element(one).strip() for one in element if _name(one) == "e")
    if begin and end and not any(tall in inside for tall in _TALL_COMMANDS):
        return join_latex([write_symbols(begin).strip(), inside, write_symbols(end).strip()])
    left, right = (_BRACKETS.get(one, write_symbols(one).strip()) for one in (begin, end))
    return f"\\left{left} {inside} \\right{right}"


def _read_matrix(element: Any) -> str:
    rows = [" & ".join(_read_element(cell).strip() for cell in row) for row in element if _name(row) == "mr"]
    return _write_environment("matrix", rows)


def _read_array(element: Any) -> str:
    """Return lines set below each other; there `&` aligns them, and `#` stands before the number of an equation."""
    lines = [
        _read_element(one).strip().replace("\\&", "&").replace("\\#", " \\quad ")
        for one in element
        if _name(one) == "e"
    ]
    return _write_environment("aligned", lines) if len(lines) > 1 else "".join(lines)


def _read_function(element: Any) -> str:
    name = _read_part(element, "fName")
    word = re.fullmatch(r"(?:\\mathrm\{)?([A-Za-z]+)\}?", name)
    command = f"\\operatorname{{{word[1]}}}" if word else name
    return f"{command} {_read_part(element, 'e')}"


def _read_limit(element: Any) -> str:
    is_below = _name(element) == "limLow"
    base, limit = _read_part(element, "e"), _read_part(element, "lim")
    if _FUNCTION_NAME.fullmatch(base.removeprefix("\\")):
        return f"{base}{'_' if is_below else '^'}{{{limit}}}"
    return f"\\{'under' if is_below else 'over'}set{{{limit}}}{{{base}}}"


def _read_accent(element: Any) -> str:
    char = _read_property(element, "chr", "\u0302")
    command = _ACCENT_COMMANDS.get(char, f"overset{{{write_symbols(char).strip()}}}")
    return f"\\{command}{{{_read_part(element, 'e')}}}"


def _read_bar(element: Any) -> str:
    command = "overline" if _read_property(element, "pos", "bot") == "top" else "underline"
    return f"\\{command}{{{_read_part(element, 'e')}}}"


def _read_group(element: Any) -> str:
    char, base = _read_property(element, "chr", "⏟"), _read_part(element, "e")
    if char in "⏞⏟":
        return f"\\{_ACCENT_COMMANDS[char or '⏟']}{{{base}}}"
    position = "over" if _read_property(element, "pos", "bot") == "top" else "under"
    return f"\\{position}set{{{write_symbols(char).strip()}}}{{{base}}}"


def _read_box(element: Any) -> str:
    return f"\\boxed{{{_read_part(element, 'e')}}}"


def _read_phantom(element: Any) -> str:
    return (
        _read_part(element, "e")
        if _read_property(element, "show", "1") not in _FALSE_VALUES
        else f"\\phantom{{{_read_part(element, 'e')}}}"
    )


_READERS: dict[str, Callable[[Any], str]] = {
    "t": lambda element: write_symbols(element.text or ""),
    "tab": lambda element: " ",
    "br": lambda element: " \\\\ ",
    "noBreakHyphen": lambda element: "-",
    "r": _read_run,
    "f": _read_fraction,
    "sSub": _read_scripts,
    "sSup": _read_scripts,
    "sSubSup": _read_scripts,
    "sPre": _read_scripts_before,
    "rad": _read_root,
    "nary": _read_nary,
    "d": _read_delimiters,
    "m": _read_matrix,
    "eqArr": _read_array,
    "func": _read_function,
    "limLow": _read_limit,
    "limUpp": _read_limit,
    "acc": _read_accent,
    "bar": _read_bar,
    "groupChr": _read_group,
    "borderBox": _read_box,
    "phant": _read_phantom,
}
