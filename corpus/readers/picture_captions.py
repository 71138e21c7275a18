"""Captions of pictures: which paragraph beside a picture is its caption, and the label that it begins with."""

from __future__ import annotations

import re

_WORDS = (
    r"fig(?:ure|ura|uur|\.)?|abb(?:ildung|\.)?|exhibit|chart|diagram|diagramm|graph|graphique|grafik|plate|scheme"
    r"|schema|schéma|illustration|image|picture|photo|bild|afbeelding|map|screenshot|рис(?:унок|\.)?|图|図"
)
_CAPTION = re.compile(
    rf"[\s*_>]*(?P<label>(?:{_WORDS})\s*(?:\d{{1,4}}(?:[.\-–]\d{{1,4}}){{0,3}}[a-z]?|[A-Z]{{1,3}}\d{{1,3}}(?:[.\-–]\d{{1,3}})?[a-z]?|[A-Z]|[IVX]{{1,5}})(?!\w))"
    r"(?P<after>\s*[:.)|–—-]|\s*\Z|[*_]{1,2}|\s+[^\sa-z]|\s+)",
    re.IGNORECASE,
)
_SENTENCE_VERB = re.compile(
    r"\s+(?:shows?|illustrates?|depicts?|presents?|compares?|displays?|gives?|lists?|is|are|was|summari[sz]es?|zeigt"
    r"|stellt|montre|muestra|and|und|et)\b",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r"[^\n]{0,200}\.(?:png|jpe?g|gif|bmp|tiff?|webp|emf|wmf|svg)", re.IGNORECASE)
MAX_CAPTION_CHARS = 600


def parse_label(paragraph: str) -> str:
    """Return the label of a paragraph that is a caption, such as "Figure 3"; empty if it is none.

    A sentence of the text that begins with the label ("Figure 3 shows ...") is no caption.
    """
    found = _CAPTION.match(paragraph[:300])
    if found is None or len(paragraph) > MAX_CAPTION_CHARS:
        return ""
    if _SENTENCE_VERB.match(paragraph, found.end("label")):
        return ""
    return " ".join(found["label"].split())


def is_part_label(text: str) -> bool:
    """Return whether the text between two pictures only names a part of their figure, as "(a) before" does."""
    bare = text.strip()
    return not bare or (len(bare) < 60 and "\n\n" not in bare and re.match(r"\(?[a-h][).:]", bare) is not None)


def clean_caption(paragraph: str) -> str:
    """Return a caption on one line, without the marks of Markdown around it."""
    return " ".join(paragraph.replace("**", "").split()).strip("*_ ").lstrip("#> ")[:MAX_CAPTION_CHARS]


def choose_alternative(*texts: str | None) -> str:
    """Return the first alternative text that a person wrote, on one line; a program only inserts the file's name."""
    lines = (" ".join(text.split()) for text in texts if text)
    return next((line for line in lines if line and not is_file_name(line)), "")


def is_file_name(text: str) -> bool:
    return _FILE_NAME.fullmatch(text.strip()) is not None
