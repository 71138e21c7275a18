"""English words without a subject: left out of keyword queries, never out of the index (`argot/languages/en.toml`)."""

from __future__ import annotations

from argot.languages.language_data import ENGLISH, load_language

STOP_WORDS = load_language(ENGLISH).stop_words
