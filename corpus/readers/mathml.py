"""MathML as LaTeX. Letters and signs stay Unicode, which LaTeX of today takes and a search finds; nothing is left out.

A page that holds its formula as TeX, as KaTeX, MathJax and Wikipedia do, is taken at its word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bs4 import Tag
from bs4.element import NavigableString, PreformattedString

_TEX = re.compile(r"application/x-(?:tex|latex)|TeX|LaTeX", re.IGNORECASE)
_DISPLAY_STYLE = re.compile(r"\{\\(?:displaystyle|textstyle)\s+(.*)\}", re.DOTALL)
_INVISIBLE = re.compile("[\u2061-\u2064\u200b]")
_FUNCTIONS = frozenset(
    {
        "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "log", "ln",
        "lg", "exp", "min", "max", "sup", "inf", "lim", "det", "dim", "gcd", "ker",
    }
)  # fmt: skip
_ACCENTS = {
    "¯": "bar", "‾": "overline", "^": "hat", "ˆ": "hat", "~": "tilde", "˜": "tilde", "→": "vec", "⃗": "vec", "˙": "dot",
    "¨": "ddot", "⏞": "overbrace",
}  # fmt: skip
_UNDER_ACCENTS = {"_": "underline", "̲": "underline", "⏟": "underbrace"}
_SPECIAL = re.compile(r"[#$%&_{}]")
_LIMITS = frozenset("∑∏∫∮⋃⋂⋁⋀∐")
_LAYOUTS = frozenset({"mprescripts", "none"})


def latex_of(math: Tag) -> str:
    """Return the LaTeX of a `<math>` element, without dollar signs; empty if it holds nothing."""
    annotation = next(
        (one for one in math.find_all("annotation") if _TEX.fullmatch(str(one.get("encoding", "")))), None
    )
    said = annotation.get_text().strip() if annotation is not None else str(math.get("alttext") or "").strip()
    if said and (annotation is not None or "\\" in said):
        styled = _DISPLAY_STYLE.fullmatch(said)
        return " ".join((styled[1] if styled else said).split())
    return re.sub(r"\s+", " ", _all(math)).strip()


def tex_of_image(alt: str) -> str:
    """Return the TeX that the alternative text of a picture of a formula is, as Wikipedia writes it; or nothing."""
    styled = _DISPLAY_STYLE.fullmatch(alt.strip())
    return " ".join(styled[1].split()) if styled else ""


def _all(element: Tag) -> str:
    text = ""
    for part in map(_one, _parts(element)):
        # A command ends where no letter follows: `\alpha x`.
        text += f" {part}" if re.search(r"\\[A-Za-z]+$", text) and part[:1].isalpha() else part
    return text


def _parts(element: Tag) -> list[Tag | NavigableString]:
    return [
        part
        for part in element.children
        if isinstance(part, Tag)
        or (isinstance(part, NavigableString) and not isinstance(part, PreformattedString) and part.strip())
    ]


def _one(part: Tag | NavigableString) -> str:
    if not isinstance(part, Tag):
        return _escape(part.strip())
    name = part.name.rpartition(":")[2]
    if name in ("annotation", "annotation-xml", "maligngroup", "malignmark", *_LAYOUTS):
        return ""
    if name in _TOKENS:
        return _TOKENS[name](_INVISIBLE.sub("", " ".join(part.get_text().split())))
    args = [_one(one) for one in _parts(part)]
    made = _BUILT.get(name)
    # What has not the parts that its name asks for is read as a row, so that nothing is lost.
    return made[1](args) if made and len(args) == made[0] else _special(name, part, args)


def _special(name: str, part: Tag, args: Sequence[str]) -> str:
    made = ""
    match name:
        case "msqrt":
            made = rf"\sqrt{{{_all(part)}}}"
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
            made = _multiscripts(part)
        case "mspace":
            made = " "
        case _:
            made = _all(part)
    return made


def _multiscripts(part: Tag) -> str:
    base, before, after, in_front = "", "", "", False
    scripts: list[str] = []

    def pairs() -> str:
        lower, upper = "".join(scripts[0::2]), "".join(scripts[1::2])
        return (f"_{{{lower}}}" if lower else "") + (f"^{{{upper}}}" if upper else "")

    for number, one in enumerate(_parts(part)):
        if isinstance(one, Tag) and one.name == "mprescripts":
            after, scripts, in_front = pairs(), [], True
        elif number == 0:
            base = _one(one)
        else:
            scripts.append(_one(one))
    before, after = (pairs(), after) if in_front else ("", pairs())
    return (f"{{}}{before}" if before else "") + base + after


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text.replace("\\", r"\backslash "))


def _identifier(text: str) -> str:
    if text in _FUNCTIONS:
        return rf"\{text} "
    return rf"\mathrm{{{_escape(text)}}}" if len(text) > 1 and text.isalpha() else _escape(text)


def _text(text: str) -> str:
    return rf"\text{{{_escape(text)}}}" if text else ""


def _stack(base: str, above: str) -> str:
    if (accent := _ACCENTS.get(above.strip())) is not None:
        return rf"\{accent}{{{base}}}"
    return f"{base}^{{{above}}}" if base in _LIMITS or base.startswith(r"\lim") else rf"\overset{{{above}}}{{{base}}}"


def _underset(base: str, below: str) -> str:
    if (accent := _UNDER_ACCENTS.get(below.strip())) is not None:
        return rf"\{accent}{{{base}}}"
    operators = base in _LIMITS or base.strip().lstrip("\\") in ("lim", "max", "min", "sup", "inf")
    return f"{base.strip()}_{{{below}}}" if operators else rf"\underset{{{below}}}{{{base}}}"


def _group(base: str) -> str:
    return base if len(base) <= 1 or re.fullmatch(r"\\?\w+|\\[a-z]+\{\w*\}", base) else f"{{{base}}}"


_TOKENS: dict[str, Callable[[str], str]] = {
    "mi": _identifier, "mn": _escape, "mo": _escape, "mtext": _text, "ms": _text,
}  # fmt: skip
_BUILT: dict[str, tuple[int, Callable[[Sequence[str]], str]]] = {
    "mfrac": (2, lambda args: rf"\frac{{{args[0]}}}{{{args[1]}}}"),
    "mroot": (2, lambda args: rf"\sqrt[{args[1]}]{{{args[0]}}}"),
    "msub": (2, lambda args: f"{_group(args[0])}_{{{args[1]}}}"),
    "msup": (2, lambda args: f"{_group(args[0])}^{{{args[1]}}}"),
    "msubsup": (3, lambda args: f"{_group(args[0])}_{{{args[1]}}}^{{{args[2]}}}"),
    "mover": (2, lambda args: _stack(args[0], args[1])),
    "munder": (2, lambda args: _underset(args[0], args[1])),
    "munderover": (3, lambda args: f"{_group(args[0])}_{{{args[1]}}}^{{{args[2]}}}"),
}
"""Elements with a fixed number of parts."""
