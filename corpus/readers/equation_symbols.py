"""Characters of equations as LaTeX writes them."""

from __future__ import annotations

import re
import unicodedata

_LATEX_ESCAPES = {
    **{char: f"\\{char}" for char in "#$%&_{}"},
    "\\": "\\backslash",
    "^": "\\wedge",
    "~": "\\sim",
    "\N{MINUS SIGN}": "-",
    "\N{NO-BREAK SPACE}": " ",
    "\N{FUNCTION APPLICATION}": "",
    "\N{INVISIBLE TIMES}": "",
    "\N{INVISIBLE SEPARATOR}": "",
    "\N{ZERO WIDTH SPACE}": "",
}
_LATEX_COMMANDS = {
    "×": "times", "÷": "div", "·": "cdot", "⋅": "cdot", "∙": "cdot", "±": "pm", "∓": "mp", "∗": "ast", "∘": "circ",
    "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx", "≡": "equiv", "∼": "sim", "≅": "cong", "≃": "simeq",
    "∝": "propto", "≪": "ll", "≫": "gg", "≲": "lesssim", "≳": "gtrsim", "≜": "triangleq",
    "∞": "infty", "∂": "partial", "∇": "nabla", "∆": "Delta", "√": "surd", "′": "prime", "ℏ": "hbar", "ℓ": "ell",
    "∑": "sum", "∏": "prod", "∐": "coprod", "∫": "int", "∬": "iint", "∭": "iiint", "∮": "oint", "∯": "oiint",
    "⋃": "bigcup", "⋂": "bigcap", "⋁": "bigvee", "⋀": "bigwedge", "⨁": "bigoplus", "⨂": "bigotimes",
    "∈": "in", "∉": "notin", "∋": "ni", "⊂": "subset", "⊆": "subseteq", "⊃": "supset", "⊇": "supseteq",
    "∪": "cup", "∩": "cap", "∅": "emptyset", "∖": "setminus", "∧": "wedge", "∨": "vee", "¬": "neg",
    "∀": "forall", "∃": "exists", "∄": "nexists", "∴": "therefore", "∵": "because", "⊥": "perp", "∥": "parallel",
    "∠": "angle", "⊕": "oplus", "⊗": "otimes", "†": "dagger", "‖": "Vert", "|": "vert", "∣": "mid",
    "⟨": "langle", "⟩": "rangle",
    "⌈": "lceil", "⌉": "rceil", "⌊": "lfloor", "⌋": "rfloor", "…": "ldots", "⋯": "cdots", "⋮": "vdots", "⋱": "ddots",
    "→": "rightarrow", "←": "leftarrow", "↔": "leftrightarrow", "⇒": "Rightarrow", "⇐": "Leftarrow",
    "⇔": "Leftrightarrow", "↦": "mapsto", "↑": "uparrow", "↓": "downarrow", "⇌": "rightleftharpoons",
    "ϵ": "epsilon", "ε": "varepsilon", "ϕ": "phi", "φ": "varphi", "ϑ": "vartheta", "ϱ": "varrho", "ϖ": "varpi",
    "ς": "varsigma",
}  # fmt: skip
_DOUBLE_STRUCK = "ℂℍℕℙℚℝℤ"
_MATH_LETTERS = re.compile("[\U0001d400-\U0001d7ff]")
_GREEK_LETTER = re.compile(r"GREEK (SMALL|CAPITAL) LETTER ([A-Z]+)")
_GREEK_NAMES = {"LAMDA": "lambda"}
_GREEK_CAPITALS = ("GAMMA", "DELTA", "THETA", "LAMDA", "XI", "PI", "SIGMA", "UPSILON", "PHI", "PSI", "OMEGA")
"""Capitals for which LaTeX has a command; the others look like Latin letters and stay unchanged."""
_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z]+$")


def write_symbols(text: str) -> str:
    """Return plain characters of an equation as LaTeX; one that LaTeX has no name for stays."""
    plain = _MATH_LETTERS.sub(lambda found: unicodedata.normalize("NFKC", found.group()), text)
    return join_latex([_write_symbol(char) for char in plain])


def write_words(text: str) -> str:
    """Return words within an equation, which LaTeX sets unchanged."""
    escaped = re.sub(r"[#$%&_{}]", r"\\\g<0>", text)
    return f"\\text{{{escaped}}}"


def join_latex(parts: list[str]) -> str:
    """Join pieces of LaTeX, with a space where a command would run into the letter behind it."""
    joined = ""
    for part in parts:
        if part[:1].isalnum() and _ENDS_IN_COMMAND.search(joined[-24:]):
            joined += " "
        joined += part
    return joined


def _write_symbol(char: str) -> str:
    if char in _LATEX_ESCAPES or (char.isascii() and char.isalnum()):
        return _LATEX_ESCAPES.get(char, char)
    if char in _LATEX_COMMANDS:
        return f" \\{_LATEX_COMMANDS[char]} "
    if char in "=<>":
        # Spaces keep words apart for the search, and `a<b` from looking like HTML.
        return f" {char} "
    if char in _DOUBLE_STRUCK:
        return f"\\mathbb{{{unicodedata.normalize('NFKC', char)}}}"
    greek = _GREEK_LETTER.fullmatch(unicodedata.name(char, ""))
    if greek is None or greek[2] == "OMICRON" or (greek[1] == "CAPITAL" and greek[2] not in _GREEK_CAPITALS):
        return char
    name = _GREEK_NAMES.get(greek[2], greek[2].lower())
    return f"\\{name if greek[1] == 'SMALL' else name.capitalize()}"
