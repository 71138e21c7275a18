"""How an answer came about, in words of the asker: how the question was read, what was searched for, and what was read.

Times and figures of the single stages are for developers; they are in the result (`timings`).
"""

from __future__ import annotations

from argot.results import AskResult
from argot.ui.rendering.safe_markdown import clean_text

MAX_SHOWN_QUERIES = 3


def describe_path(result: AskResult) -> list[str]:
    """Return one line of literal text for each thing that was done; none for small talk, where nothing was."""
    if result.status == "small_talk":
        return []
    lines = [*_describe_reading(result), *_describe_searches(result), *_describe_passages(result)]
    return [clean_text(line) for line in lines]


def _describe_reading(result: AskResult) -> list[str]:
    rewritten = result.stand_alone_question != result.question
    read = [f"Your question was read as “{result.stand_alone_question}”"] if rewritten else []
    terms = list(dict.fromkeys(f"{term.label} ({term.meaning})" for term in result.jargon))
    return [*read, *([f"Terms of the glossary in it: {', '.join(terms)}"] if terms else [])]


def _describe_searches(result: AskResult) -> list[str]:
    queries = list(dict.fromkeys(result.search_queries))[:MAX_SHOWN_QUERIES]
    searched = [f"The documents were searched for {_join_quoted(queries)}"] if queries else []
    again = [f"Then for {_join_quoted(some[:MAX_SHOWN_QUERIES])}" for some in result.searched_again if some]
    return [*searched, *again]


def _describe_passages(result: AskResult) -> list[str]:
    if not result.passages:
        return []
    documents = len({passage.document for passage in result.passages})
    read = f"{_count(len(result.passages), 'passage')} of {_count(documents, 'document')} came closest"
    if result.status != "answered":
        return [read]
    cited = result.cited_passages
    wrote = "the language model wrote the answer from" if result.answered_by == "model" else "the answer quotes"
    return [f"{read}; {wrote} {_count(len(cited), 'of them', 'of them')}" if cited else read]


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _join_quoted(texts: list[str]) -> str:
    return ", ".join(f"“{text}”" for text in texts)
