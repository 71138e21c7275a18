"""Titles of documents: no program's default, no comment within code, no heading that every page has."""

from __future__ import annotations

import re

_PROGRAM_TITLE = re.compile(
    r"(?:untitled|no title|new document|title)\b.*|microsoft (?:word|powerpoint|excel|publisher|office)\b.*"
    r"|(?:powerpoint presentation|word document|document|presentation|book|slide|sheet)[ \d]*|[\W\d_]*",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r"\.(?:docx?|pdf|indd|xlsx?|pptx?|qxd|tmp)\b", re.IGNORECASE)
_COMMON_HEADING = re.compile(
    r"\W*(?:(?:our |gold |silver |premium )?(?:sponsors?|backers?|supporters?|contributors)|sponsored by"
    r"|(?:table of )?contents|toc|on this page|badges|build status|navigation|menu|announcements?|licen[cs]e|copyright"
    r"|skip to (?:main )?content)\W*",
    re.IGNORECASE,
)
_MAX_TOP_CHARS = 20_000
"""Characters. Further down a heading is some section's."""


def clean_title(text: str) -> str:
    """Return the text as a title; nothing if a program inserted it ("Untitled", "Microsoft Word - x.doc")."""
    title = " ".join(text.split())
    return "" if _PROGRAM_TITLE.fullmatch(title) or _FILE_NAME.search(title) else title


def is_distinctive_heading(heading: str) -> bool:
    """Return True where a heading tells this document from others; "Sponsors" and "Contents" stand on any."""
    return not _COMMON_HEADING.fullmatch(heading)


def find_first_heading(markdown: str) -> str:
    """Return the first heading that names the page, as plain text; headings within code are ignored.

    After a heading like "Sponsors" only a top one is used: any other is that of a section.
    """
    from argot.corpus.chunking.headings import find_headings

    top = markdown[:_MAX_TOP_CHARS]
    passed_over = False
    for heading in find_headings(top):
        is_top = top.startswith("# ", heading.start) or not top[heading.start :].lstrip().startswith("#")
        if is_distinctive_heading(heading.text) and (is_top or not passed_over):
            return heading.text
        passed_over = passed_over or not is_distinctive_heading(heading.text)
    return ""
