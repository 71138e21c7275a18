"""Example questions that the documents contain or that were derived from them, each tested before it is offered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from argot.corpus.corpus import Corpus
from argot.corpus.store.document_store import CorpusStore
from argot.profile import Profile
from argot.protocols import Scorer
from argot.tools.answering.embedded_instructions import has_orders
from argot.tools.retrieval.hybrid_search import WeightedQuery, hybrid_search
from argot.tools.retrieval.reranker import measure_evidence, rerank
from argot.tools.text.words import bare, content_stems
from argot.types import ALL_DOCUMENTS, Document, Passage, Principal, QuestionScope

MAX_CHARS = 110
"""Characters of a suggestion: it has to fit on a button."""
MAX_RANK = 3
"""The passage a suggestion was made from has to be among this many first results for it."""
MAX_EXAMPLES = 3
MAX_TRIALS = 8  # documents: each trial is a search, and the asker waits
MAX_LOOKED_AT = 50  # documents in which a question is looked for
# "Chapter 3: Limits", "A2 Limits", "4.1 Limits".
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|appendix|annex|part)\s+[\dA-Z]+[.):]?|[A-Z]?\d[\d.]*[.):]?)\s+", re.IGNORECASE
)
_UNFINISHED = re.compile(r"(.*\w)\s?(?:\.{3}|…)\s?\??")
_INVITATION = re.compile(r"(?:want|need|interested|looking|ready|curious|new (?:to|here)|have an?y?)\b", re.IGNORECASE)
"""Headings that ask the reader something: "Need help?"."""
_HOW_TO = re.compile(r"how to(?= \w)", re.IGNORECASE)
# Headings of these words alone could occur in any document.
_GENERAL = frozenset(
    word
    for line in (
        "introduction overview contents summary notes note references appendix scope purpose general index conclusion",
        "background glossary abbreviations changes history faq about details information miscellaneous other others",
        "example examples definitions terms acronyms contact contacts version versions revisions title untitled slide",
        "page sheet table figure agenda thanks questions",
    )
    for word in line.split(" ")
)


def find_telling_heading(passage: Passage, document: Document) -> str:
    """Return the passage's own heading, without its number; empty if it adds nothing to the document's title. One that
    finishes the heading above ("How do I ...") includes it.
    """
    *above, own = passage.heading_path or ("",)
    heading = _NUMBERING.sub("", own).strip(" .:#*_`")
    if heading and above and (begun := _UNFINISHED.fullmatch(above[-1].strip())):
        heading = f"{begun[1]} {heading if heading[:2].isupper() else heading[:1].lower() + heading[1:]}"
    return heading if _is_telling(heading) and bare(heading) != bare(document.title) else ""


def read_as_question(heading: str) -> str:
    """Return the question that a heading is, such as "How do I reset a key?" for "How to reset a key"; empty for any
    other heading: nobody would ask what a document "says about" it.
    """
    if _HOW_TO.match(heading):
        return _HOW_TO.sub("How do I", heading).rstrip("?") + "?"
    return heading if heading.endswith("?") and not _INVITATION.match(heading) else ""


def write_question(passage: Passage, document: Document, store: CorpusStore, principal: Principal) -> str:
    """Return a question that a model derived from the passage (RAIDD 2.2, Q), else its heading if that is a question;
    empty: neither is.
    """
    derived = [" ".join(text.text.split()) for text in store.list_questions(principal, [passage.id])]
    made = [
        *(text for text in derived if text.endswith("?")),
        read_as_question(find_telling_heading(passage, document)),
    ]
    return next((text for text in made if content_stems(text) and len(text) <= MAX_CHARS), "")


@dataclass(frozen=True, slots=True)
class Trial:
    """Setting for testing suggestions: one principal's documents, and how they are searched."""

    corpus: Corpus
    principal: Principal
    scorer: Scorer
    profile: Profile
    scope: QuestionScope = ALL_DOCUMENTS

    def finds(self, question: str, passage: str) -> bool:
        """Return whether a search for the question finds the passage (an id) on top, with enough evidence to answer."""
        queries = [WeightedQuery(question)]
        # Fewer candidates than for a question: the passage has to be at the top anyway.
        profile = self.profile.model_copy(update={"candidates": 20})
        hits = hybrid_search(self.corpus, self.principal, queries, profile, self.scope)
        ordered = rerank(queries, hits, self.scorer, profile)
        ids = [hit.passage.id for hit in ordered[:MAX_RANK]]
        return passage in ids and measure_evidence(question, ordered, self.scorer) >= profile.abstain_below


def choose_examples(trial: Trial) -> list[str]:
    """Return ids of up to three passages of different documents, each with a question (`write_question`) that
    finds it.
    """
    store, principal = trial.corpus.store, trial.principal
    chosen: list[str] = []
    for passage, document in _sample_passages(store, principal, trial.scope):
        question = write_question(passage, document, store, principal)
        if question and trial.finds(question, passage.id):
            chosen.append(passage.id)
        if len(chosen) == MAX_EXAMPLES:
            break
    return chosen


def _sample_passages(
    store: CorpusStore, principal: Principal, scope: QuestionScope
) -> Iterator[tuple[Passage, Document]]:
    """Return one passage with something to ask about from each of `MAX_TRIALS` documents at most, evenly chosen among
    all readable ones.
    """
    inside = store.documents_within(principal, scope) if scope else None
    documents = [one for one in store.documents(principal) if inside is None or one.id in inside]
    step = max(1, len(documents) // MAX_LOOKED_AT)
    found = ((_find_askable(one, store, principal), one) for one in documents[::step][:MAX_LOOKED_AT])
    return islice(((passage, document) for passage, document in found if passage is not None), MAX_TRIALS)


def _find_askable(document: Document, store: CorpusStore, principal: Principal) -> Passage | None:
    # A heading that gives orders to a model must not become a button.
    fit = (one for one in store.passages_of(principal, document.id) if not has_orders(one))
    return next((one for one in fit if write_question(one, document, store, principal)), None)


def _is_telling(heading: str) -> bool:
    words = heading.casefold().split()
    letters = sum(char.isalpha() for char in heading)
    telling = [word for word in words if len(word) > 3 and word.strip(".,:;()") not in _GENERAL]
    # Mostly letters: a row of numbers or code is no subject.
    return 1 <= len(words) <= 9 and bool(telling) and letters >= 0.6 * len(heading.replace(" ", ""))
