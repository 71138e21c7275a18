"""The lists of words by which tables of other organisations are understood: data files beside this module."""

from __future__ import annotations

from importlib import resources


def read_word_list(name: str) -> dict[str, tuple[str, ...]]:
    """Read "key: word, word" from a data file; indented lines continue the one before."""
    found: dict[str, tuple[str, ...]] = {}
    text = resources.files(__package__ or "").joinpath(name).read_text(encoding="utf-8")
    for line in text.replace("\n  ", " ").splitlines():
        key, between, words = line.partition(": ")
        if between and not line.startswith("#"):
            found[key] = tuple(word.strip() for word in words.split(","))
    return found
