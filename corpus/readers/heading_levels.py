"""Headings of a file that is read as a section of another one."""

from __future__ import annotations

import re

_HEADING = re.compile(r"(#{1,6})(?=\s)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def lower_headings(markdown: str, level: int) -> str:
    """Return the text with its headings below one of this level; code stays as it is."""
    lines, fence = [], ""
    for line in markdown.strip().split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif not fence and (heading := _HEADING.match(line)):
            deeper = "#" * min(6, len(heading[1]) + level)
            lines.append(f"{deeper}{line[heading.end() :]}")
            continue
        lines.append(line)
    return "\n".join(lines)
