"""English words, and characters of any language, that several packages search for. The words are alternatives of a
pattern, in lower case (`argot/languages/en.toml`).
"""

from __future__ import annotations

from argot.languages.language_data import ENGLISH
from argot.languages.question_words import load_question_words

INTERROGATIVES = load_question_words(ENGLISH).interrogatives
AUXILIARIES = load_question_words(ENGLISH).auxiliaries
"""Words that open a yes-or-no question. "Must", "has", "have" and "had" also open statements: callers that treat them
as questions add them."""
REQUESTS = load_question_words(ENGLISH).requests
# The second is the full-width one of Chinese and Japanese.
QUESTION_MARKS = ("?", "？")

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Letters of scripts that are written without spaces, as a part of a character class: Thai, Lao, Burmese, Khmer,
Japanese and Chinese."""
EAST_ASIAN = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Those of them that Chinese and Japanese use: Han, with its mark of repetition, and kana."""
