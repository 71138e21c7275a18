"""AsciiDoc and Org: headings, lists and code as Markdown; other text line by line, as it was written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.omissions import join_names
from argot.corpus.readers.plain_text import decode_text, name_without_suffix
from argot.types import ParsedDocument

LINES_PER_SECOND = 50_000
_MAX_LINE_CHARS = 2_000
"""Characters of a line in which commands are looked for; a longer one is kept as it is."""
_ADOC_HEADING = re.compile(r"(={1,6})\s+(\S.*)")
_ADOC_LIST = re.compile(r"\s*([*]{1,5}|[.]{1,5}|-)\s+(\S.*)")
_ADOC_INCLUDE = re.compile(r"^include::(\S[^\[\n]*)\[[^\n]*\]\s*$", re.MULTILINE)
_ADOC_FENCE = re.compile(r"(-{4,}|\.{4,}|`{3,})\s*$")
_ADOC_TABLE = re.compile(r"\|={3,}\s*$")
_ORG_HEADING = re.compile(r"(\*{1,8})\s+(?:(?:TODO|DONE)\s+)?(\S.*?)(?:\s+:[\w@:]+:)?$")
_ORG_EDGE = re.compile(r"\s*#\+(begin|end)_(\w+)\b\s*(\w*)", re.IGNORECASE)
_ORG_TITLE = re.compile(r"^#\+title:\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_ORG_CODE = frozenset({"src", "example"})
_FENCE = "```"


@dataclass(slots=True)
class MarkupWriter:
    """The Markdown of a file, line by line. `code_end`: what ends the block of code that is open, if one is."""

    lines: list[str] = field(default_factory=list)
    code_end: str = ""

    def add_heading(self, level: int, text: str) -> None:
        self.lines += ["", f"{'#' * min(level, 6)} {text.strip()}", ""]

    def open_code(self, end: str, language: str = "") -> None:
        self.lines += ["", f"{_FENCE}{language}"]
        self.code_end = end

    def close_code(self) -> None:
        self.lines += [_FENCE, ""]
        self.code_end = ""


Convert = Callable[[MarkupWriter, str], None]


def read_asciidoc(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read AsciiDoc. The title is the heading of the first level."""
    text = decode_text(data, name)
    found = re.search(r"^= (\S.*)$", text, re.MULTILINE)
    read = _convert(
        text, name, limits, _convert_asciidoc, title=found[1] if found else "", media_type="text/x-asciidoc"
    )
    included = join_names(_ADOC_INCLUDE.findall(text))
    return replace(read, warnings=(f"the files that it includes were not read: {included}",)) if included else read


def read_org(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read Org. The title is that of `#+TITLE:`."""
    text = decode_text(data, name)
    found = _ORG_TITLE.search(text)
    return _convert(text, name, limits, _convert_org, title=found[1] if found else "", media_type="text/x-org")


def _convert(
    text: str, name: str, limits: ReadLimits, convert: Convert, *, title: str, media_type: str
) -> ParsedDocument:
    lines = text.split("\n")
    limits.check_elements(len(lines), LINES_PER_SECOND, "line", name)
    writer = MarkupWriter()
    for line in lines:
        if writer.code_end or len(line) > _MAX_LINE_CHARS:
            _continue_code(writer, line)
        else:
            convert(writer, line)
    if writer.code_end:
        writer.close_code()
    markdown = re.sub(r"\n{3,}", "\n\n", "\n".join(writer.lines)).strip("\n") + "\n"
    return ParsedDocument(title.strip() or name_without_suffix(name), markdown, media_type)


def _continue_code(writer: MarkupWriter, line: str) -> None:
    if writer.code_end and line.strip().casefold().startswith(writer.code_end.casefold()):
        rest = line.strip()[len(writer.code_end) :].strip()
        writer.close_code()
        writer.lines += [rest] if rest else []
    else:
        # A fence within the code would end it for Markdown.
        writer.lines.append(line.replace(_FENCE, "'''") if line.lstrip().startswith(_FENCE) else line)


def _convert_asciidoc(writer: MarkupWriter, line: str) -> None:
    if found := _ADOC_HEADING.match(line):
        writer.add_heading(len(found[1]), found[2])
    elif found := _ADOC_FENCE.match(line):
        writer.open_code(found[1])
    elif _ADOC_TABLE.match(line):
        writer.lines.append("")
    elif found := _ADOC_LIST.match(line):
        indent = "  " * (len(found[1]) - 1)
        writer.lines.append(f"{indent}{'1.' if found[1][0] == '.' else '-'} {found[2]}")
    else:
        writer.lines.append(line.lstrip())


def _convert_org(writer: MarkupWriter, line: str) -> None:
    if found := _ORG_HEADING.match(line):
        writer.add_heading(len(found[1]), found[2])
    elif (found := _ORG_EDGE.match(line)) and found[1].lower() == "begin" and found[2].lower() in _ORG_CODE:
        writer.open_code(f"#+end_{found[2]}", found[3])
    elif line.startswith("#+"):  # a keyword; it is no heading
        writer.lines.append(f"\\{line}")
    else:
        writer.lines.append(line)


COMMANDS = re.compile(
    r"^\*{1,8}\s+(?:TODO|DONE)\b|\s:[\w@:]+:$|^\s*#\+(?:begin|end)_(?:src|example)", re.MULTILINE | re.IGNORECASE
)
"""Commands that reading leaves out."""
