"""Documents of data sets as Markdown, which Argot reads like any file."""

from __future__ import annotations

import json
import re

from argot.corpus.corpus import Source

_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)


def make_markdown_source(scheme: str, name: str, title: str, text: str) -> Source:
    """Return a Markdown document. The name in its front matter makes equal texts differ."""
    # Titles of web pages contain line ends, which JSON writes as "\\n" and which would be read as letters.
    title = " ".join(title.split())
    named = f"title: {json.dumps(title, ensure_ascii=False)}\n" if title else ""
    content = f"---\n{named}id: {json.dumps(name)}\n---\n{text.strip()}".encode()
    return Source(f"{scheme}:///{name}", name, lambda: content)


def remove_headings(text: str) -> str:
    return _HEADING.sub("", text)


def join_sections(chunks: list[str]) -> str:
    """Join chunks as sections, so that each is a passage of its own if it fits in the longest passage."""
    return "\n\n".join(f"## {number}\n\n{_remove_marks(chunk)}" for number, chunk in enumerate(chunks, start=1))


def _remove_marks(text: str) -> str:
    """Remove the marks that would begin a separate section."""
    return re.sub(r"^(#{1,6}\s|---+\s*$|===+\s*$)", "", text.strip(), flags=re.MULTILINE)
