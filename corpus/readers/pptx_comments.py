"""Comments on slides, of both kinds: the older ones, and the threads that PowerPoint writes since 2021."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from argot.corpus.readers.office_package import parse_part


class SlideComments:
    """The comments of a deck."""

    def __init__(self, deck: Any) -> None:
        self._authors = {
            str(author.get("id")): " ".join(str(author.get("name") or "").split())
            for kind in ("commentAuthors", "authors")
            for root in _find_parts(deck.part, kind)
            for author in root
            if isinstance(author.tag, str)
        }

    def read_comments(self, slide: Any) -> Iterator[str]:
        """Yield the comments on a slide as notes with their authors, each before the answers to it."""
        for root in _find_parts(slide.part, "comments"):
            for comment in root.iter("{*}cm", "{*}reply"):
                author = self._authors.get(str(comment.get("authorId")), "")
                if text := _read_text(comment):
                    yield f"**Note ({author}):** {text}" if author else f"**Note:** {text}"


def _read_text(comment: Any) -> str:
    """Return the words of a comment, without the replies below it."""
    plain = comment.findtext("{*}text")
    if plain is not None:
        return " ".join(plain.split())
    paragraphs = comment.iterfind("{*}txBody/{*}p")
    return " ".join(" ".join("".join(one.text or "" for one in each.iter("{*}t")) for each in paragraphs).split())


def _find_parts(part: Any, kind: str) -> Iterator[Any]:
    for one in part.rels.values():
        if not one.is_external and one.reltype.endswith(f"/{kind}"):
            root = parse_part(one.target_part.blob)
            if root is not None:
                yield root
