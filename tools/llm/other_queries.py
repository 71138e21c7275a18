"""Proposal of other search queries by a language model, after a search that did not find the answer.

The queries are only searched, and the passages that they find are judged for the question itself. So a query need not
keep the question's words. But its names and numbers must occur in the model's input: it must neither guess a part
number nor pass on a text that a document dictates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argot.jargon_db.lookup.ordinary_words import is_common_word
from argot.prompts.loader import number_lines
from argot.tools.llm.rewording import MAX_REWORDED_CHARS, clean_rewording, has_foreign_names
from argot.tools.text.words import content_stems

if TYPE_CHECKING:
    from argot.tools.llm.session import Model

PROMPT = "other_queries"
MAX_QUERIES = 3
MAX_QUERY_CHARS = 120
"""Characters of a query: people see it in a note."""
_CAPITALISED = re.compile(r"\b[A-Z][a-z]+\b")


@dataclass(frozen=True)
class FailedSearch:
    """A search that did not find the answer, or a part of it.

    `lacking`: the sentences of a draft that state which part is missing; `tried`: the queries searched so far; `found`:
    the places and first words of the best passages; `titles`: those of other documents; `definitions`: the meanings of
    the question's terms.
    """

    question: str
    tried: Sequence[str]
    found: Sequence[str] = ()
    titles: Sequence[str] = ()
    definitions: str = ""
    lacking: str = ""


async def propose_queries(model: Model, failed: FailedSearch) -> list[str]:
    """Return up to three other queries; none if the model knows none.

    Raises:
        ModelUnavailable: the model gave no valid reply.
    """
    if not failed.question.strip() or len(failed.question) > MAX_REWORDED_CHARS:
        return []
    reply = await model.json(
        PROMPT,
        question=failed.question,
        tried=_list_lines(failed.tried),
        found=number_lines(failed.found),
        titles=_list_lines(failed.titles),
        definitions=failed.definitions,
        lacking=failed.lacking,
    )
    return select_queries(reply["queries"], failed)


def select_queries(proposed: Sequence[object], failed: FailedSearch) -> list[str]:
    """Return the proposed queries that are new, short, and free of names and numbers that the model was not given."""
    sources = [failed.question, failed.definitions, failed.lacking, *failed.tried, *failed.found, *failed.titles]
    known = {query.casefold() for query in failed.tried}
    chosen: list[str] = []
    for item in proposed:
        query = _lower_ordinary_words(clean_rewording(item)) if isinstance(item, str) else ""
        if not 0 < len(query) <= MAX_QUERY_CHARS or not content_stems(query) or query.casefold() in known:
            continue
        if not has_foreign_names(query, sources):
            known.add(query.casefold())
            chosen.append(query)
    return chosen[:MAX_QUERIES]


def _lower_ordinary_words(query: str) -> str:
    # Otherwise "Lost Property" would count as a name.
    return _CAPITALISED.sub(lambda word: word[0].lower() if is_common_word(word[0].lower()) else word[0], query)


def _list_lines(texts: Sequence[str]) -> str:
    return "\n".join(f"- {' '.join(text.split())}" for text in texts)
