"""Documents of data sets as Markdown that Argot reads like any file."""

from __future__ import annotations

import json
import re

from argot.corpus.corpus import Source

_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)


def markdown_source(scheme: str, name: str, title: str, text: str) -> Source:
    """A Markdown document. Its name in the front matter keeps equal texts apart."""
    # Titles of web pages hold line ends, which JSON writes as "\\n" and would be read as letters.
    title = " ".join(title.split())
    named = f"title: {json.dumps(title, ensure_ascii=False)}\n" if title else ""
    content = f"---\n{named}id: {json.dumps(name)}\n---\n{text.strip()}".encode()
    return Source(f"{scheme}:///{name}", name, lambda: content)


def without_headings(text: str) -> str:
    return _HEADING.sub("", text)


def sectioned(chunks: list[str]) -> str:
    """Chunks as sections, so that each is a passage of its own where the longest passage holds it."""
    return "\n\n".join(f"## {number}\n\n{_flat(chunk)}" for number, chunk in enumerate(chunks, start=1))


def _flat(text: str) -> str:
    """Without the marks that would begin a section of their own."""
    return re.sub(r"^(#{1,6}\s|---+\s*$|===+\s*$)", "", text.strip(), flags=re.MULTILINE)
