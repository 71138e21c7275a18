"""The warnings about senses in the language of the page.

The glossary writes them in English and keeps them (`argot/jargon_db/store/conflict_rules.py`), since several people
read one list.
"""

from __future__ import annotations

from argot.languages.written_texts import translate_written

MESSAGES = (
    "'%(term)s' has the meaning %(meaning)s %(number)s times in '%(context)s'.",
    "'%(term)s' means several things in '%(context)s': %(meanings)s.",
    "'%(term)s' means %(meaning)s in several contexts: %(contexts)s.",
    "'%(alias)s' is an alias of several terms: %(terms)s.",
    "'%(alias)s' is an alias of %(terms)s, and a term itself: it leads to both.",
    "'%(term)s' is an ordinary English word: it is only recognised in capitals.",
    "'%(term)s' is an ordinary English word: questions that mean the word will meet it too.",
    "The expansion of '%(term)s' says no more than it.",
    "With the alias '%(alias)s', the ordinary word is read as '%(term)s' where it is written so.",
    "'%(term)s' is its own alias; spellings like it are recognised anyway.",
    "'%(term)s' in '%(context)s' was to be reviewed by %(owner)s until %(day)s.",
    "'%(term)s' in '%(context)s' was to be reviewed until %(day)s.",
    "Documents use '%(term)s', but none spells out '%(words)s'. Write it as your documents do.",
    "No document spells out '%(words)s'. Argot searches with these words: write them as your documents do.",
)


def translate_warning(message: str) -> str:
    """Write a warning in the language of the page."""
    return translate_written(message, MESSAGES)
