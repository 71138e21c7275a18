"""The commands and environments of LaTeX and of its common packages: their arguments, and which of them are text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from argot.corpus.readers.latex_source import Command

if TYPE_CHECKING:
    from pylatexenc.macrospec import LatexContextDb  # type: ignore[import-untyped]

HEADINGS = {
    "part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5, "subparagraph": 6,
    "frametitle": 3,
}  # fmt: skip
LISTS = frozenset({"itemize", "enumerate", "description", "compactitem", "compactenum", "tasks"})
TABLES = frozenset(
    {"tabular", "tabular*", "tabularx", "tabulary", "tabu", "longtable", "longtabu", "supertabular", "tblr", "longtblr"}
)
HEAD = ("subtitle", "author", "affil", "affiliation", "institute", "date", "abstract", "keywords")
"""Commands before the text that are shown below its title, in this order."""
CITATIONS = frozenset(
    {
        "cite", "citet", "citep", "citealt", "citealp", "citeauthor", "citeyear", "citeyearpar", "Citet", "Citep",
        "autocite", "parencite", "textcite", "footcite", "nocite",
    }
)  # fmt: skip
REFERENCES = frozenset({"ref", "autoref", "cref", "Cref", "eqref", "pageref", "nameref", "vref"})
INPUTS = frozenset({"input", "include", "subfile", "lstinputlisting", "verbatiminput"})
BOXES = frozenset(
    {
        "textcolor", "colorbox", "fcolorbox", "parbox", "makebox", "framebox", "raisebox", "resizebox", "scalebox",
        "rotatebox", "multicolumn", "multirow", "mintinline",
    }
)  # fmt: skip
"""Commands whose last argument alone is text."""
RULES = frozenset({"hline", "toprule", "midrule", "bottomrule", "cline", "cmidrule", "specialrule", "Xhline"})
_UNSEEN = {
    **dict.fromkeys(
        (
            "label", "pagestyle", "thispagestyle", "pagenumbering", "bibliographystyle", "bibliography", "hypersetup",
            "index", "graphicspath", "lstset", "newlength", "linespread", "vphantom", "hphantom", "phantom",
            "includeonly", "newcounter",
            "title", "author", "date", "stepcounter", "refstepcounter", "cline", "value", "sisetup",
            "geometry",
            "addbibresource", "Xhline", "arraybackslash",
        ),
        "{",
    ),
    **dict.fromkeys(("vspace", "hspace", "definecolor", "newtheorem", "includegraphics"), "*[{"),
    **dict.fromkeys(("usepackage", "documentclass", "RequirePackage", "captionsetup", "color"), "[{"),
    **dict.fromkeys(("setlength", "addtolength", "setcounter", "addtocounter", "let", "def", "markboth"), "{{"),
    **dict.fromkeys(("addcontentsline", "specialrule", "hyphenation"), "{{{"),
    "rule": "[{{",
    "addlinespace": "[",
    **dict.fromkeys(("newcommand", "renewcommand", "providecommand"), "*{[[{"),
    **dict.fromkeys(("newenvironment", "renewenvironment"), "*{[[{{"),
    **dict.fromkeys(
        (
            "centering", "raggedright", "raggedleft", "noindent", "indent", "newpage", "clearpage", "cleardoublepage",
            "pagebreak", "nopagebreak", "linebreak", "hfill", "vfill", "hrulefill", "dotfill", "smallskip", "medskip",
            "bigskip", "tiny", "scriptsize", "footnotesize", "small", "normalsize", "large", "Large", "LARGE", "huge",
            "Huge", "bfseries", "mdseries", "itshape", "slshape", "scshape", "upshape", "rmfamily", "sffamily",
            "ttfamily", "normalfont", "bf", "it", "tt", "rm", "sf", "sc", "em", "tableofcontents", "listoffigures",
            "listoftables", "printbibliography", "appendix", "protect", "sloppy", "frontmatter", "mainmatter",
            "backmatter", "makeatletter", "makeatother", "xspace", "null", "relax", "toprule", "midrule", "bottomrule",
            "hline", "selectfont", "onecolumn", "twocolumn", "allowbreak", "maketitle", "today", "printindex",
            "makeindex",
            "/", "@", "!", "-", "strut", "leavevmode", "singlespacing", "doublespacing", "onehalfspacing",
            "phantomsection",
            "begingroup", "endgroup", "centerline", "unskip", "ignorespaces", "FloatBarrier", "endfirsthead", "endhead",
            "endfoot", "endlastfoot",
        ),
        "",
    ),
}  # fmt: skip
UNSEEN = frozenset(_UNSEEN)
"""Commands that, with their arguments, are no text."""
SIGNS = {
    "LaTeX": "LaTeX", "TeX": "TeX", "LaTeXe": "LaTeX2e", "S": "§", "P": "¶", "copyright": "©", "textregistered": "®",
    "texttrademark": "™", "pounds": "£", "textasciitilde": "~", "textasciicircum": "^", "textless": "<",
    "textgreater": ">", "textbar": "|", "textbullet": "•", "degree": "°", "degreeCelsius": "°C", "celsius": "°C",
    ",": " ", ";": " ", ":": " ", " ": " ", "\n": " ", "quad": " ", "qquad": " ", "thinspace": " ", "space": " ",
    "enspace": " ", "\\": "\n", "newline": "\n", "tabularnewline": "\n", "par": "\n\n", "and": ", ", "slash": "/",
    "textquotedbl": '"', "textquotesingle": "'", "checkmark": "✓", "euro": "€", "EUR": "€", "perthousand": "‰",
    "textperthousand": "‰", "textohm": "Ω", "textmu": "µ",
}  # fmt: skip
"""Commands that stand for a sign or a few words, beside those that pylatexenc knows."""
_PREFIXES = {
    "pico": "p", "nano": "n", "micro": "µ", "milli": "m", "centi": "c", "deci": "d", "kilo": "k", "mega": "M",
    "giga": "G", "tera": "T", "kibi": "Ki", "mebi": "Mi", "gibi": "Gi",
}  # fmt: skip
_UNITS = {
    "metre": "m", "meter": "m", "gram": "g", "kilogram": "kg", "second": "s", "minute": "min", "hour": "h", "day": "d",
    "ampere": "A", "kelvin": "K", "mole": "mol", "candela": "cd", "hertz": "Hz", "newton": "N", "pascal": "Pa",
    "joule": "J", "watt": "W", "coulomb": "C", "volt": "V", "farad": "F", "ohm": "Ω", "siemens": "S", "weber": "Wb",
    "tesla": "T", "henry": "H", "lumen": "lm", "lux": "lx", "litre": "l", "liter": "l", "tonne": "t", "bar": "bar",
    "electronvolt": "eV", "decibel": "dB", "percent": "%", "degree": "°", "degreeCelsius": "°C", "celsius": "°C",
    "radian": "rad", "bit": "bit", "byte": "B", "arcminute": "′", "arcsecond": "″", "kelvins": "K",
}  # fmt: skip
UNITS = frozenset(_UNITS)
BEFORE_UNITS = frozenset({*_PREFIXES.values(), "/", "²", "³", "·"})
UNIT_SIGNS = {
    **_PREFIXES, **_UNITS, "per": "/", "squared": "²", "cubed": "³", "square": "²", "cubic": "³", "cdot": "·",
    "of": " ", "tothe": "^", "raiseto": "^",
}  # fmt: skip
"""Prefixes and units of the package siunitx (version 3, tables 1 to 5)."""
_OTHERS = {
    **dict.fromkeys((*HEADINGS, "caption"), "*[{"),
    **dict.fromkeys(("footnote", "footnotetext", "bibitem", "num", "ang", "si", "unit", "lstinputlisting"), "[{"),
    **dict.fromkeys(
        ("textsuperscript", "textsubscript", "thanks", "verbatiminput", "subfile", "input", "include"), "{"
    ),
    **dict.fromkeys(CITATIONS, "*[[{"),
    **dict.fromkeys(REFERENCES, "*{"),
    "captionof": "{[{",
    "multicolumn": "{{{",
    "multirow": "[{[{[{",
    "SI": "[{[{",
    "qty": "[{{",
    "numrange": "[{{",
    "SIrange": "[{{{",
    "qtyrange": "[{{{",
    "href": "{{",
    "path": "{",
    "cmidrule": "",
    "item": "[",
    "\\": "*[",
    "parbox": "[[[{{",
    "mintinline": "[{{",
    "makebox": "[[{",
    "framebox": "[[{",
    "raisebox": "{[[{",
    "resizebox": "*{{{",
    "scalebox": "{{",
    "rotatebox": "[{{",
    "fontsize": "{{",
}
_KNOWN = {**_UNSEEN, **_OTHERS}
ENVIRONMENTS = {
    **dict.fromkeys((*LISTS, "figure", "figure*", "table", "table*", "algorithm"), "["),
    **dict.fromkeys(("tabular", "longtable", "supertabular", "subfigure", "subtable", "tblr", "longtblr"), "[{"),
    **dict.fromkeys(("tabular*", "tabularx"), "{[{"),
    **dict.fromkeys(("tabulary",), "{{"),
    **dict.fromkeys(("tabu", "longtabu", "thebibliography", "multicols", "adjustbox"), "{"),
    **dict.fromkeys(("wrapfigure", "wraptable"), "[{[{"),
    "minipage": "[[[{",
}


def build_grammar(commands: Mapping[str, Command]) -> LatexContextDb:
    """Build what the parser knows: which arguments each command takes, those of the file's own commands, too."""
    from pylatexenc.latexwalker import get_default_latex_context_db  # type: ignore[import-untyped]
    from pylatexenc.macrospec import std_environment, std_macro

    grammar = get_default_latex_context_db()
    known = {name: _describe_arguments(one) for name, one in commands.items()} | _KNOWN
    grammar.add_context_category(
        "argot",
        macros=[std_macro(name, arguments) for name, arguments in known.items()],
        environments=[std_environment(name, arguments) for name, arguments in ENVIRONMENTS.items()],
        prepend=True,
    )
    return grammar


def is_known(command: str) -> bool:
    """Return whether a command has a meaning here, even if the file gives it another one."""
    return command in _KNOWN


def takes_arguments(command: str) -> bool:
    return bool(_KNOWN[command])


def _describe_arguments(command: Command) -> str:
    optional = command.default is not None and command.arguments > 0
    return "[" * optional + "{" * (command.arguments - optional)


@lru_cache(maxsize=1)
def _load_signs() -> Any:
    from pylatexenc.latex2text import LatexNodes2Text  # type: ignore[import-untyped]

    return LatexNodes2Text(math_mode="verbatim")


def read_sign(node: Any) -> str | None:
    """Return the text of a command or a special sign, such as a letter with its accent; None if it is unknown."""
    signs = _load_signs()
    if hasattr(node, "specials_chars"):
        return str(signs.specials_node_to_text(node))
    spec = signs.latex_context.get_macro_spec(node.macroname)
    return None if spec is None else str(signs.macro_node_to_text(node))
