"""LaTeX before it is parsed: comments, code and the definitions of commands, which are taken out of the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

CODE_ENVIRONMENTS = ("verbatim", "Verbatim", "lstlisting", "minted", "alltt")
_PARTS = re.compile(
    rf"\\begin\{{(?P<code>(?:{'|'.join(CODE_ENVIRONMENTS)}|comment)\*?)\}}(?P<options>(?:\[[^\]\n]*\])?)"
    r"(?P<language>(?:\{[^{}\n]*\})?)(?P<body>.*?)(?:\\end\{(?P=code)\}|\Z)"
    r"|\\(?:verb\*?|lstinline(?:\[[^\]\n]*\])?)(?P<sign>[^\sA-Za-z*{\[])(?P<inline>[^\n]*?)(?P=sign)"
    r"|(?P<address>\\(?:url|href|path)\s*\{[^{}\n]*\})"
    r"|(?P<comment>%[^\n]*(?:\n[ \t]*(?!\n))?|\\iffalse(?![A-Za-z]).*?(?:\\fi(?![A-Za-z])|\Z))|\\.",
    re.DOTALL,
)
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand)\*?\s*\{?\s*\\(?P<name>[A-Za-z]+)\s*\}?\s*"
    r"(?:\[(?P<count>\d)\]\s*(?:\[(?P<default>[^\]]*)\]\s*)?)?\{|\\[gex]?def\s*\\(?P<plain>[A-Za-z]+)\s*\{"
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
    """Take a file apart. What `hold_code` returns for code and its language stands in its place."""

    def replace(found: re.Match[str]) -> str:
        if found["code"] is not None:
            is_comment = found["code"].startswith("comment")
            return "" if is_comment else hold_code(found["body"], _find_language(found["options"] + found["language"]))
        if found["inline"] is not None:
            return hold_inline(found["inline"])
        if found["address"] is not None:
            return re.sub(r"(?<!\\)%", r"\\%", found["address"])
        return "" if found["comment"] is not None else found[0]

    source = LatexSource()
    rest = _take_definitions(_PARTS.sub(replace, text.replace("\0", "").replace("\r\n", "\n")), source.commands)
    before, begin, after = rest.partition("\\begin{document}")
    source.preamble, source.body = (before, after) if begin else (rest, rest)
    source.body = source.body.partition("\\end{document}")[0]
    return source


def find_argument(text: str, command: str) -> str:
    """Return the argument of the first use of a command, such as `title`; empty if it is not used."""
    found = re.search(rf"\\{command}\s*(?:\[[^\]]*\]\s*)?\{{", text)
    end = _find_end(text, found.end()) if found else None
    return text[found.end() : end - 1] if found and end else ""


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
