"""Lines of a Markdown file that break where its author's window ended, joined for windows that keep line breaks."""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ALONE = re.compile(r"\s{0,3}(?:#{1,6}\s|\||>)")
"""A heading, a row or a quotation, which no line continues."""
_BEGINS = re.compile(r"\s*(?:$|#{1,6}\s|[|>]|`{3}|~{3}|(?:[-*+•‣]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s|(?:[-*_=]\s*){2,}$)")
"""A line that continues none: blank, a heading, row, quotation, fence, list item, ruler or underline."""
_HARD_BREAK = ("  ", "\\")


def join_wrapped_lines(markdown: str) -> str:
    """Join the lines of each paragraph and list item, outside code. Each line break becomes a blank, and so does what
    indents the next line: the text keeps its length, so that offsets stay right.
    """
    joined: list[str] = []
    fence, before = "", ""
    for line in markdown.split("\n"):
        continues = before.strip() and not _ALONE.match(before) and not before.endswith(_HARD_BREAK)
        if continues and not fence and not _BEGINS.match(line):
            inner = line.lstrip()
            joined[-1] += " " * (1 + len(line) - len(inner)) + inner
        else:
            joined.append(line)
        ticks = _FENCE.match(line)
        if ticks and (not fence or ticks[1].startswith(fence)):
            fence = "" if fence else ticks[1]
            before = ""
        else:
            before = line
    return "\n".join(joined)
