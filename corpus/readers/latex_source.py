"""LaTeX before it is parsed: comments, code and the definitions of commands, which are taken out of the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

CODE_ENVIRONMENTS = ("verbatim", "Verbatim", "lstlisting", "minted", "alltt")
_OPTION = r"\[[^\]\n]{0,300}\]"
_PARTS = re.compile(
    rf"\\begin\{{(?P<code>(?:{'|'.join(CODE_ENVIRONMENTS)}|comment)\*?)\}}(?P<options>(?:{_OPTION})?)"
    r"(?P<language>(?:\{[^{}\n]{0,300}\})?)(?P<body>.*?)(?:\\end\{(?P=code)\}|\Z)"
    rf"|\\(?:[vV]erb\*?|lstinline(?:{_OPTION})?|mintinline(?:{_OPTION})?\{{[^{{}}\n]{{0,300}}\}})"
    r"(?:(?P<sign>[^\sA-Za-z*{\[])(?P<inline>[^\n]{0,2000}?)(?P=sign)"
    r"|(?<!erb)(?<!erb\*)\{(?!\s*#\d\s*\})(?P<braced>(?:[^{}]|\{(?:[^{}]|\{[^{}]{0,500}\}){0,500}\}){0,2000})\})"
    r"|(?P<address>\\(?:url|href|path)\s*\{[^{}\n]*\})"
    r"|(?P<comment>%[^\n]*(?:\n[ \t]*(?!\n))?|\\iffalse(?![A-Za-z]).*?(?:\\(?:fi|(?P<else>else))(?![A-Za-z])\s?|\Z))"
    r"|(?P<fi>\\fi(?![A-Za-z])\s?)|\\.",
    re.DOTALL,
)
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand)\*?\s*(?:\{\s*)?\\(?P<name>[A-Za-z]+)\s*(?:\}\s*)?"
    r"(?:\[(?P<count>\d)\]\s*(?:\[(?P<default>[^\]]{0,2000})\]\s*)?)?\{|\\[gex]?def\s*\\(?P<plain>[A-Za-z]+)\s*\{"
)
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_MAX_GROUP_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Command:
    """A command that a file defines: what it stands for, with `#1` for its first argument.

    `default`: that of the first argument, which may then be left out.
    """

    body: str
    arguments: int = 0
    default: str | None = None


@dataclass(slots=True)
class LatexSource:
    r"""The text of a file between `\begin{document}` and its end, without comments, and its own commands."""

    body: str = ""
    preamble: str = ""
    commands: dict[str, Command] = field(default_factory=dict)


def split_source(text: str, hold_code: Callable[[str, str], str], hold_inline: Callable[[str], str]) -> LatexSource:
    r"""Take a file apart. What `hold_code` returns for code and its language stands in its place.

    What stands between `\iffalse` and `\else` is left out, too.
    """
    open_conditions = 0

    def replace(found: re.Match[str]) -> str:
        nonlocal open_conditions
        if found["code"] is not None:
            is_comment = found["code"].startswith("comment")
            return "" if is_comment else hold_code(found["body"], _find_language(found["options"] + found["language"]))
        if found["inline"] is not None:
            return hold_inline(found["inline"])
        if found["braced"] is not None:
            return hold_inline(" ".join(found["braced"].split()))
        if found["address"] is not None:
            return re.sub(r"(?<!\\)%", r"\\%", found["address"])
        open_conditions += found["else"] is not None
        if found["fi"] is not None and open_conditions:
            open_conditions -= 1
            return ""
        return "" if found["comment"] is not None else found[0]

    source = LatexSource()
    rest = _take_definitions(_PARTS.sub(replace, text.replace("\0", "").replace("\r\n", "\n")), source.commands)
    before, begin, after = rest.partition("\\begin{document}")
    source.preamble, source.body = (before, after) if begin else (rest, rest)
    source.body = source.body.partition("\\end{document}")[0]
    if begin:  # some classes have the abstract before it
        rest, opening, after = source.preamble.partition("\\begin{abstract}")
        abstract, closing, after = after.partition("\\end{abstract}")
        if closing:
            source.preamble, source.body = rest + after, f"{opening}{abstract}{closing}\n{source.body}"
    return source


def find_arguments(text: str, command: str) -> list[str]:
    """Return the argument of each use of a command, such as `author`; empty if it is not used."""
    use = re.compile(rf"\\{command}\s*(?:\[[^\]]{{0,2000}}\]\s*)?\{{")
    arguments: list[str] = []
    end: int | None = 0
    while end is not None and (found := use.search(text, end)):
        end = _find_end(text, found.end())
        arguments += [text[found.end() : end - 1]] if end is not None else []
    return arguments


def _take_definitions(text: str, commands: dict[str, Command]) -> str:
    kept: list[str] = []
    last = 0
    while found := _DEFINITION.search(text, last):
        end = _find_end(text, found.end())
        if end is None:
            break
        count = int(found["count"] or 0)
        commands[found["name"] or found["plain"]] = Command(text[found.end() : end - 1], count, found["default"])
        kept.append(text[last : found.start()])
        last = end
    return "".join([*kept, text[last:]])


def _find_end(text: str, start: int) -> int | None:
    """Find the end of the group whose opening brace is before `start`; None if it is too far away."""
    depth = 1
    for found in _BRACE.finditer(text, start, start + _MAX_GROUP_CHARS):
        depth += (found[0] == "{") - (found[0] == "}")
        if not depth:
            return found.end()
    return None


def _find_language(options: str) -> str:
    found = re.search(r"language\s*=\s*\{?(?:\[[^\]]*\])?\s*(\w+)", options) or re.fullmatch(
        r"(?:\[.*\])?\{(\w+)\}", options
    )
    return found[1].lower() if found else ""
