"""A comparison of the methods of reference matching, `sum` and `published`. Run: python bench/matching.py

The labelled set is made from the sample documents, as in section 6 of *Trustworthy Answers, Messier Data*: answers with
known sources. Each takes one to three sentences from each of one to three passages, edited as a writer would (a clause
moved, words left out, openings added), and adds sentences that no passage supports: invented ones, and true ones with a
number, a unit or a negation changed. Five passages are offered, among them neighbours of the sources. Nothing is random
between runs.

Measures: sentence-level precision (of the sentences given a passage, the share given a right one), the same over all
sentences as in the paper (a sentence without a source is right when it gets none), segments per answer, recall, and the
share of unsupported sentences that are cited nevertheless.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal

from argot.corpus.readers import ReadLimits, read_document
from argot.protocols import Scorer
from argot.settings import Settings
from argot.tools.answering.citations import match_references
from argot.tools.answering.support import SupportScorer
from argot.tools.retrieval.reranker import LexicalScorer
from argot.tools.text.sentences import split_units
from argot.types import Passage

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from cutting import cut_passages

SAMPLES = Path(__file__).parent.parent / "samples" / "documents"
READ = (".md", ".rst", ".txt", ".html")
OPENINGS = ("According to the guide, ", "In our case ", "Note that ", "In short, ", "As a rule, ")
INVENTED = (
    "The supplier changes its logo every spring.",
    "Most colleagues find this easy after a while.",
    "The museum next door has a good café.",
    "This was decided by the ministry of transport in 1987.",
    "The colour of the housing may be chosen freely.",
)


@dataclass(frozen=True)
class LabelledAnswer:
    """An answer: its sentences, and for each the passages (by position) that support it; none for an invented one."""

    sentences: list[str]
    sources: list[frozenset[int]]
    passages: list[Passage]


def load_passages() -> list[list[Passage]]:
    settings = Settings()
    limits = ReadLimits.from_settings(settings)
    documents = []
    for number, path in enumerate(sorted(p for p in SAMPLES.rglob("*") if p.suffix in READ)):
        parsed = read_document(path.read_bytes(), path.name, limits)
        documents.append(
            cut_passages(
                parsed,
                document_id=f"d{number}",
                revision_id=f"r{number}",
                max_chars=settings.reading.passage_chars,
            )
        )
    return documents


def make_labelled_answers(count: int, seed: int) -> list[LabelledAnswer]:
    chance = random.Random(seed)
    documents = [passages for passages in load_passages() if len(passages) >= 5]
    return [_make_answer(chance.choice(documents), chance) for _ in range(count)]


def _make_answer(document: list[Passage], chance: random.Random) -> LabelledAnswer:
    first = chance.randrange(len(document) - 4)
    offered = document[first : first + 5]
    order = chance.sample(range(5), 5)
    passages = [offered[place] for place in order]
    sentences: list[str] = []
    sources: list[frozenset[int]] = []
    for place in chance.sample(range(5), chance.choice((1, 2, 2, 3))):
        taken = _list_statements(passages[place])
        start = chance.randrange(max(1, len(taken) - 2)) if taken else 0
        for statement in taken[start : start + chance.choice((1, 2, 3))]:
            sentences.append(_edit_statement(statement, chance))
            sources.append(frozenset(n for n, p in enumerate(passages) if statement in p.text))
            if chance.random() < 0.25:
                sentences.append(_make_unsupported(statement, chance))
                sources.append(frozenset())
    return LabelledAnswer(sentences, sources, passages)


def _list_statements(passage: Passage) -> list[str]:
    found = [passage.text[a:b] for a, b, kind in split_units(passage.text) if kind == "prose"]
    return [statement for statement in found if len(statement.split()) > 5]


def _edit_statement(statement: str, chance: random.Random) -> str:
    """Edit a sentence as a writer would: not at all, by another opening, a moved clause, or omitted filler words."""
    statement = re.sub(r"\s+", " ", statement)
    match chance.randrange(4):
        case 0:
            return statement
        case 1:
            return chance.choice(OPENINGS) + statement[0].lower() + statement[1:]
        case 2 if ", " in statement:
            head, tail = statement.rstrip(".").split(", ", 1)
            return f"{tail[0].upper()}{tail[1:]}, {head[0].lower()}{head[1:]}."
        case _:
            return re.sub(r"\b(?:the|also|therefore|always|only|very|itself) ", "", statement, flags=re.IGNORECASE)


def _make_unsupported(statement: str, chance: random.Random) -> str:
    """Return an invented statement, or the statement with a changed number or a negation."""
    statement = re.sub(r"\s+", " ", statement)
    if chance.random() < 0.4:
        return chance.choice(INVENTED)
    if re.search(r"\d", statement) and chance.random() < 0.7:
        return re.sub(r"\d+", lambda match: str(int(match.group()) * 3 + 7), statement, count=1)
    changed = re.sub(r"\b(is|are|may|must|can|will)\b", r"\1 not", statement, count=1)
    return changed if changed != statement and " not not" not in changed else chance.choice(INVENTED)


def measure(
    answers: list[LabelledAnswer], scorer: Scorer, method: Literal["sum", "published"], threshold: float
) -> dict[str, float]:
    cited_right: list[bool] = []
    right: list[bool] = []
    found: list[bool] = []
    false_alarms: list[bool] = []
    segments: list[int] = []
    started = time.perf_counter()
    for answer in answers:
        matched = match_references(answer.sentences, answer.passages, scorer, threshold=threshold, method=method)
        given = {n: s.passage for s in matched for n in range(s.first, s.last + 1)}
        segments.append(len(matched))
        for number, sources in enumerate(answer.sources):
            passage = given.get(number)
            hit = passage in sources if sources else passage is None
            right.append(hit)
            if passage is not None:
                cited_right.append(hit)
            (found if sources else false_alarms).append(passage in sources if sources else passage is not None)
    return {
        "precision_of_citations": round(fmean(cited_right), 3) if cited_right else 0.0,
        "sentence_precision": round(fmean(right), 3),
        "recall": round(fmean(found), 3),
        "unsupported_cited": round(fmean(false_alarms), 3),
        "segments": round(fmean(segments), 2),
        "ms": round(1000 * (time.perf_counter() - started) / len(answers), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    answers = make_labelled_answers(arguments.answers, arguments.seed)
    sentences = sum(len(answer.sentences) for answer in answers)
    print(
        f"{len(answers)} answers, {sentences} sentences, {sum(not s for a in answers for s in a.sources)} unsupported"
    )
    scorers: dict[str, Scorer] = {"support": SupportScorer(), "lexical": LexicalScorer()}
    methods: tuple[Literal["sum", "published"], ...] = ("sum", "published")
    for name, scorer in scorers.items():
        for method in methods:
            for threshold in (0.0, 0.3, 0.4, 0.5, 0.6, 0.7):
                print(f"{name:8} {method:9} {threshold:.1f} {json.dumps(measure(answers, scorer, method, threshold))}")


if __name__ == "__main__":
    main()
