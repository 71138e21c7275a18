"""The steps that led to an answer, in the asker's words: how the question was read, searched for and answered.

Times and figures of the single stages are for developers; they are in the result (`timings`).
"""

from __future__ import annotations

import re

from argot.languages.catalogues import quote_name, speak_as_asked, translate, translate_number
from argot.results import AskResult
from argot.ui.rendering.safe_markdown import clean_text

MAX_SHOWN_QUERIES = 3
_WORD = re.compile(r"\w+")
_PASSAGES_READ = (
    "%(number)s passage of %(documents)s came closest",
    "%(number)s passages of %(documents)s came closest",
)
_DOCUMENTS = ("%(number)s document", "%(number)s documents")
_WRITTEN_FROM = (
    "the language model wrote the answer from %(number)s of them",
    "the language model wrote the answer from %(number)s of them",
)
_QUOTED_FROM = ("the answer quotes %(number)s of them", "the answer quotes %(number)s of them")


def describe_path(result: AskResult) -> list[str]:
    """Return one line of literal text for each thing that was done; none for small talk, where nothing was."""
    if result.status == "small_talk":
        return []
    with speak_as_asked(result.question):
        lines = [*_describe_reading(result), *_describe_searches(result), *_describe_passages(result)]
    return [clean_text(line) for line in lines]


def _describe_reading(result: AskResult) -> list[str]:
    rewritten = result.stand_alone_question != result.question
    text = "Your question was read as “%(question)s”"
    read = [translate(text, question=result.stand_alone_question)] if rewritten else []
    terms = list(dict.fromkeys(f"{term.label} ({term.meaning})" for term in result.jargon))
    found = [translate("Terms of the glossary in it: %(terms)s", terms=", ".join(terms))] if terms else []
    return [*read, *found]


def _describe_searches(result: AskResult) -> list[str]:
    queries = _list_readable_queries(result)[:MAX_SHOWN_QUERIES]
    text = "The documents were searched for %(queries)s"
    searched = [translate(text, queries=_join_quoted(queries))] if queries else []
    again = [some[:MAX_SHOWN_QUERIES] for some in result.searched_again if some]
    return [*searched, *(translate("Then for %(queries)s", queries=_join_quoted(some)) for some in again)]


def _list_readable_queries(result: AskResult) -> list[str]:
    """Return the first queries that a person might have typed: without those that only put short forms into the
    question, as "How many PTO do I get", and without those of a further search.
    """
    later = {query for some in result.searched_again for query in some}
    queries = [query for query in dict.fromkeys(result.search_queries) if query not in later]
    known = {word.casefold() for text in (result.question, *queries[:1]) for word in _WORD.findall(text)}
    added = [[word for word in _WORD.findall(query) if word.casefold() not in known] for query in queries]
    return [
        query
        for place, (query, words) in enumerate(zip(queries, added, strict=True))
        if place == 0 or query == result.stand_alone_question or not all(map(_is_short_form, words))
    ]


def _is_short_form(word: str) -> bool:
    return sum(map(str.isupper, word)) > 1


def _describe_passages(result: AskResult) -> list[str]:
    if not result.passages or result.answered_by == "person":
        return []
    documents = len({passage.document for passage in result.passages})
    read = translate_number(*_PASSAGES_READ, len(result.passages), documents=translate_number(*_DOCUMENTS, documents))
    cited = len(result.cited_passages)
    if result.status != "answered" or not cited:
        return [read]
    by_model = result.answered_by == "model"
    return [f"{read}; {translate_number(*(_WRITTEN_FROM if by_model else _QUOTED_FROM), cited)}"]


def _join_quoted(texts: list[str]) -> str:
    return ", ".join(map(quote_name, texts))
