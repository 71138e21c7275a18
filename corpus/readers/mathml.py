"""MathML as LaTeX. Letters and signs stay Unicode, which current LaTeX accepts and a search finds; nothing is left out.

If a page contains its formula as TeX, as KaTeX, MathJax and Wikipedia do, that is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from bs4 import Tag
from bs4.element import NavigableString, PreformattedString

_TEX_ENCODING = re.compile(r"application/x-(?:tex|latex)|TeX|LaTeX", re.IGNORECASE)
_DISPLAY_STYLE = re.compile(r"\{\\(?:displaystyle|textstyle)\s+(.*)\}", re.DOTALL)
_INVISIBLE_CHARACTER = re.compile("[\u2061-\u2064\u200b]")
_FUNCTION_NAMES = frozenset(
    {
        "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "log", "ln",
        "lg", "exp", "min", "max", "sup", "inf", "lim", "det", "dim", "gcd", "ker",
    }
)  # fmt: skip
_ACCENT_COMMANDS = {
    "¯": "bar", "‾": "overline", "^": "hat", "ˆ": "hat", "~": "tilde", "˜": "tilde", "→": "vec", "⃗": "vec", "˙": "dot",
    "¨": "ddot", "⏞": "overbrace",
}  # fmt: skip
_UNDER_ACCENT_COMMANDS = {"_": "underline", "̲": "underline", "⏟": "underbrace"}
_SPECIAL_CHARACTER = re.compile(r"[#$%&_{}]")
_LIMIT_OPERATORS = frozenset("∑∏∫∮⋃⋂⋁⋀∐")
_LAYOUT_TAGS = frozenset({"mprescripts", "none"})


def convert_mathml(math: Tag) -> str:
    """Return the LaTeX of a `<math>` element, without dollar signs; empty if it has no content."""
    annotation = next(
        (one for one in math.find_all("annotation") if _TEX_ENCODING.fullmatch(str(one.get("encoding", "")))), None
    )
    formula = annotation.get_text().strip() if annotation is not None else str(math.get("alttext") or "").strip()
    if formula and (annotation is not None or "\\" in formula):
        styled = _DISPLAY_STYLE.fullmatch(formula)
        return " ".join((styled[1] if styled else formula).split())
    return re.sub(r"\s+", " ", _convert_children(math)).strip()


def parse_image_tex(alt: str) -> str:
    """Return the TeX in the alternative text of a picture of a formula, as Wikipedia writes it; or nothing."""
    styled = _DISPLAY_STYLE.fullmatch(alt.strip())
    return " ".join(styled[1].split()) if styled else ""


def _convert_children(element: Tag) -> str:
    return _join_parts(map(_convert_part, _list_parts(element)))


def _join_parts(parts: Iterable[str]) -> str:
    text = ""
    for part in parts:
        # A command ends where no letter follows: `\alpha x`.
        text += f" {part}" if re.search(r"\\[A-Za-z]+$", text) and part[:1].isalpha() else part
    return text


def _list_parts(element: Tag) -> list[Tag | NavigableString]:
    return [
        part
        for part in element.children
        if isinstance(part, Tag)
        or (isinstance(part, NavigableString) and not isinstance(part, PreformattedString) and part.strip())
    ]


def _convert_part(part: Tag | NavigableString) -> str:
    if not isinstance(part, Tag):
        return _escape(part.strip())
    name = part.name.rpartition(":")[2]
    if name in ("annotation", "annotation-xml", "maligngroup", "malignmark", *_LAYOUT_TAGS):
        return ""
    if name in _TOKEN_WRITERS:
        return _TOKEN_WRITERS[name](_INVISIBLE_CHARACTER.sub("", " ".join(part.get_text().split())))
    args = [_convert_part(one) for one in _list_parts(part)]
    made = _ELEMENT_WRITERS.get(name)
    # An element without the parts that its name requires is read as a row, so that nothing is lost.
    return made[1](args) if made and len(args) == made[0] else _convert_special(name, part, args)


def _convert_special(name: str, part: Tag, args: Sequence[str]) -> str:
    made = ""
    match name:
        case "msqrt":
            made = rf"\sqrt{{{_join_parts(args)}}}"
        case "mfenced":
            separator = str(part.get("separators", ",")).strip()[:1]
            made = f"{part.get('open', '(')}{separator.join(args)}{part.get('close', ')')}"
        case "mtable":
            rows = r" \\ ".join(args)
            made = rf"\begin{{matrix}}{rows}\end{{matrix}}"
        case "mtr":
            made = " & ".join(args)
        case "mlabeledtr":  # the number of the equation comes first
            made = " & ".join([*args[1:], *(rf"\text{{{number}}}" for number in args[:1])])
        case "mmultiscripts":
            made = _write_multiscripts(part, args)
        case "mspace":
            made = " "
        case _:
            # Converting the children once more would double the work with each level.
            made = _join_parts(args)
    return made


def _write_multiscripts(part: Tag, args: Sequence[str]) -> str:
    base, before, after, in_front = "", "", "", False
    scripts: list[str] = []

    def pairs() -> str:
        lower, upper = "".join(scripts[0::2]), "".join(scripts[1::2])
        return (f"_{{{lower}}}" if lower else "") + (f"^{{{upper}}}" if upper else "")

    for number, (one, written) in enumerate(zip(_list_parts(part), args, strict=True)):
        if isinstance(one, Tag) and one.name == "mprescripts":
            after, scripts, in_front = pairs(), [], True
        elif number == 0:
            base = written
        else:
            scripts.append(written)
    before, after = (pairs(), after) if in_front else ("", pairs())
    return (f"{{}}{before}" if before else "") + base + after


def _escape(text: str) -> str:
    return _SPECIAL_CHARACTER.sub(r"\\\g<0>", text.replace("\\", r"\backslash "))


def _write_identifier(text: str) -> str:
    if text in _FUNCTION_NAMES:
        return rf"\{text} "
    return rf"\mathrm{{{_escape(text)}}}" if len(text) > 1 and text.isalpha() else _escape(text)


def _write_text(text: str) -> str:
    return rf"\text{{{_escape(text)}}}" if text else ""


def _write_overset(base: str, above: str) -> str:
    if (accent := _ACCENT_COMMANDS.get(above.strip())) is not None:
        return rf"\{accent}{{{base}}}"
    return (
        f"{base}^{{{above}}}"
        if base in _LIMIT_OPERATORS or base.startswith(r"\lim")
        else rf"\overset{{{above}}}{{{base}}}"
    )


def _write_underset(base: str, below: str) -> str:
    if (accent := _UNDER_ACCENT_COMMANDS.get(below.strip())) is not None:
        return rf"\{accent}{{{base}}}"
    operators = base in _LIMIT_OPERATORS or base.strip().lstrip("\\") in ("lim", "max", "min", "sup", "inf")
    return f"{base.strip()}_{{{below}}}" if operators else rf"\underset{{{below}}}{{{base}}}"


def _group(base: str) -> str:
    return base if len(base) <= 1 or re.fullmatch(r"\\?\w+|\\[a-z]+\{\w*\}", base) else f"{{{base}}}"


_TOKEN_WRITERS: dict[str, Callable[[str], str]] = {
    "mi": _write_identifier, "mn": _escape, "mo": _escape, "mtext": _write_text, "ms": _write_text,
}  # fmt: skip
_ELEMENT_WRITERS: dict[str, tuple[int, Callable[[Sequence[str]], str]]] = {
    "mfrac": (2, lambda args: rf"\frac{{{args[0]}}}{{{args[1]}}}"),
    "mroot": (2, lambda args: rf"\sqrt[{args[1]}]{{{args[0]}}}"),
    "msub": (2, lambda args: f"{_group(args[0])}_{{{args[1]}}}"),
    "msup": (2, lambda args: f"{_group(args[0])}^{{{args[1]}}}"),
    "msubsup": (3, lambda args: f"{_group(args[0])}_{{{args[1]}}}^{{{args[2]}}}"),
    "mover": (2, lambda args: _write_overset(args[0], args[1])),
    "munder": (2, lambda args: _write_underset(args[0], args[1])),
    "munderover": (3, lambda args: f"{_group(args[0])}_{{{args[1]}}}^{{{args[2]}}}"),
}
"""Elements with a fixed number of parts."""
