"""Words and characters that several packages search for. The words are alternatives of a pattern, in lower case."""

from __future__ import annotations

INTERROGATIVES = "what|which|who|whom|whose|where|when|why|how"
AUXILIARIES = "is|are|was|were|do|does|did|can|could|should|would|will|may"
"""Words that open a yes-or-no question. "Must", "has", "have" and "had" also open statements: callers that treat them
as questions add them."""
REQUESTS = "explain|describe|list|tell|show|give|name|define|find|compare"
# The second is the full-width one of Chinese and Japanese.
QUESTION_MARKS = ("?", "？")

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Letters of scripts that are written without spaces, as a part of a character class: Thai, Lao, Burmese, Khmer,
Japanese and Chinese."""
