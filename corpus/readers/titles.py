"""Which texts are titles: never what a program put there, the comment of a listing, or a heading every page has."""

from __future__ import annotations

import re

_OF_PROGRAMS = re.compile(
    r"(?:untitled|no title|new document|title)\b.*|microsoft (?:word|powerpoint|excel|publisher|office)\b.*"
    r"|(?:powerpoint presentation|word document|document|presentation|book|slide|sheet)[ \d]*|[\W\d_]*",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r"\.(?:docx?|pdf|indd|xlsx?|pptx?|qxd|tmp)\b", re.IGNORECASE)
_OF_EVERY_PAGE = re.compile(
    r"\W*(?:(?:our |gold |silver |premium )?(?:sponsors?|backers?|supporters?|contributors)|sponsored by"
    r"|(?:table of )?contents|toc|on this page|badges|build status|navigation|menu|announcements?|licen[cs]e|copyright"
    r"|skip to (?:main )?content)\W*",
    re.IGNORECASE,
)
_AT_THE_TOP = 20_000
"""Characters. Further down a heading is some section's."""


def real_title(text: str) -> str:
    """The text as a title; nothing where a program put it there ("Untitled", "Microsoft Word - x.doc")."""
    title = " ".join(text.split())
    return "" if _OF_PROGRAMS.fullmatch(title) or _FILE_NAME.search(title) else title


def names_the_page(heading: str) -> bool:
    """Whether a heading tells this document from others; "Sponsors" and "Contents" stand on any."""
    return not _OF_EVERY_PAGE.fullmatch(heading)


def first_heading(markdown: str) -> str:
    """The first heading that names the page, as plain text; those within code are none.

    Behind a heading like "Sponsors" only a top one is taken: any other is that of a section.
    """
    from argot.corpus.chunking.headings import find_headings

    top = markdown[:_AT_THE_TOP]
    passed_over = False
    for heading in find_headings(top):
        is_top = top.startswith("# ", heading.start) or not top[heading.start :].lstrip().startswith("#")
        if names_the_page(heading.text) and (is_top or not passed_over):
            return heading.text
        passed_over = passed_over or not names_the_page(heading.text)
    return ""
