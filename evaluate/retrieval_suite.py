"""The suite `retrieval`: how well documents are found, and how much of the loss from jargon the glossary recovers.

The configuration is the same for every set. With a glossary, the questions are asked as they are, and Argot chooses the
senses without asking back. If the set also holds the original questions, they give the ceiling, and the abbreviated
questions without the glossary give the floor.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from argot.corpus.corpus import Source
from argot.evaluate.beir import BeirSet
from argot.evaluate.retrieval_failures import RetrievalFailure, collect_failures, count_failures
from argot.evaluate.temporary_base import Asker, TemporaryBase
from argot.jargon_db.formats.csv_format import read_senses
from argot.measures import ALL_MEASURES, Difference, Measured, measure, share_of_gap_closed
from argot.profile import Profile
from argot.results import AskResult

URI_PREFIX = "beir:"
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class SenseReport:
    """The choice of senses, measured: the `share` of questions of known sense in which Argot chose that sense."""

    questions: int
    right: int
    wrong: list[dict[str, str]]

    @property
    def share(self) -> float:
        return self.right / self.questions if self.questions else 0.0


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """The means for each way of asking. `ways` keeps its order: each later way is compared with those before it.

    `against`: the name of the profile that is measured as the way "against". `failures`: those of the first way.
    """

    name: str
    documents: int
    questions: int
    ways: dict[str, Measured] = field(default_factory=dict)
    senses: SenseReport | None = None
    against: str = ""
    failures: list[RetrievalFailure] = field(default_factory=list)

    def compare_ways(self) -> dict[str, dict[str, Difference]]:
        """Return the paired difference in each measure by "second against first", for the pairs of ways that were
        measured.

        The pairs are the other profile against the first, and the glossary against the floor.
        """
        first = next(iter(self.ways), "")
        pairs = [(first, "against"), ("floor", "glossary")]
        return {
            f"{self.against if after == 'against' else after} against {before}": self.ways[before].compare(
                self.ways[after]
            )
            for before, after in pairs
            if {before, after} <= self.ways.keys()
        }

    def measure_gap_closed(self, name: str) -> float | None:
        """Return how much of the gap between floor and ceiling the glossary closes in one measure, as a share."""
        if not {"floor", "glossary", "ceiling"} <= self.ways.keys():
            return None
        floor, reached, ceiling = (self.ways[way].mean[name] for way in ("floor", "glossary", "ceiling"))
        return share_of_gap_closed(floor, reached, ceiling)

    def to_json(self) -> dict[str, Any]:
        report: dict[str, Any] = {"set": self.name, "documents": self.documents, "questions": self.questions}
        report["ways"] = {
            way: {name: _format_interval(measured, name) for name in ALL_MEASURES}
            for way, measured in self.ways.items()
        }
        report["compared"] = {
            pair: {name: asdict(difference) for name, difference in changes.items()}
            for pair, changes in self.compare_ways().items()
        }
        report["failures"] = count_failures(self.failures)
        if self.measure_gap_closed("ndcg@10") is not None:
            report["gap_closed"] = {name: self.measure_gap_closed(name) for name in ALL_MEASURES}
        if self.senses is not None:
            report["senses"] = {**asdict(self.senses), "share": self.senses.share}
        return report


def make_sources(data: BeirSet) -> Iterable[Source]:
    """Return each row of the corpus as a Markdown document. The id in its front matter makes equal texts differ."""
    for identifier, (title, text) in data.corpus.items():
        front = f"---\ntitle: {json.dumps(title or identifier)}\nid: {json.dumps(identifier)}\n---\n"
        content = (front + (text.strip() or title or identifier)).encode()  # some rows have only a title
        yield Source(f"{URI_PREFIX}{identifier}", f"{identifier}.md", lambda content=content: content)  # type: ignore[misc]


async def evaluate_retrieval(  # noqa: PLR0917
    base: TemporaryBase,
    data: BeirSet,
    profile: Profile,
    glossary_csv: str | None,
    progress: Progress,
    against: Profile | None = None,
) -> RetrievalReport:
    """Measure the questions of the set. `base` holds the documents and, if there is one, the glossary.

    `against`: another profile to compare with; it is asked the same questions in the same base.
    """
    searching = _limit_to_search(profile)
    plain_search = searching.model_copy(update={"look_up_jargon": False, "identify_jargon": False})
    name = against.name if against is not None else ""
    report = RetrievalReport(data.name, len(data.corpus), len(data.qrels), against=name)
    way = "plain" if glossary_csv is None else "glossary"
    report.ways[way], results = await _ask_all(base.make_asker(searching), data, data.queries, way, progress)
    ranked = {question: _list_documents(result) for question, result in results.items()}
    report.failures.extend(collect_failures(data, results, ranked))
    if against is not None:
        asker = base.make_asker(_limit_to_search(against))
        report.ways["against"], _ = await _ask_all(asker, data, data.queries, "against", progress)
    if glossary_csv is None:
        return report
    report.ways["floor"], _ = await _ask_all(base.make_asker(plain_search), data, data.queries, "floor", progress)
    if data.plain is None:
        return report
    # Without the glossary: the original questions spell out the terms that a script abbreviated in the others.
    report.ways["ceiling"], _ = await _ask_all(base.make_asker(plain_search), data, data.plain, "ceiling", progress)
    return replace(report, senses=score_senses(data, glossary_csv, results))


def _limit_to_search(profile: Profile) -> Profile:
    """Turn off writing answers: it would take most of the time and has no effect on what is found."""
    return profile.model_copy(update={"misses": "lenient", "choose_sense": False, "generate_answer": False})


async def _ask_all(
    ask: Asker, data: BeirSet, queries: Mapping[str, str], way: str, progress: Progress
) -> tuple[Measured, dict[str, AskResult]]:
    results: dict[str, AskResult] = {}
    for done, question in enumerate(data.qrels, start=1):
        results[question] = await ask(queries[question])
        progress(way, done, len(data.qrels))
    ranked = {question: _list_documents(result) for question, result in results.items()}
    return measure(ranked, data.qrels), results


def _list_documents(result: AskResult) -> list[str]:
    # Documents are judged, but passages are found: a document has the rank of its first passage.
    return list(dict.fromkeys(identify_document(passage.uri) for passage in result.passages))


def identify_document(uri: str) -> str:
    """Return the id of the corpus row from which a document was made. In a knowledge base filled from files, it is the
    file's name.
    """
    return uri.removeprefix(URI_PREFIX) if uri.startswith(URI_PREFIX) else PurePosixPath(uri).stem


def score_senses(data: BeirSet, glossary_csv: str, results: Mapping[str, AskResult]) -> SenseReport:
    """Compare the chosen expansions with the words that the original question has in the place of the term."""
    expansions: dict[str, set[str]] = {}
    for sense_input in read_senses(glossary_csv, "glossary.csv"):
        expansions.setdefault(sense_input.term, set()).add(sense_input.expansion)
    right, wrong = 0, []
    known = {q: found for q in results if data.plain and (found := _find_true_sense(data, q, expansions))}
    for question, (term, expansion) in known.items():
        chosen = [jargon.expansion for jargon in results[question].jargon if jargon.term == term]
        if chosen and _is_same(chosen[0], expansion):
            right += 1
        else:
            chosen_name = chosen[0] if chosen else "(nothing)"
            wrong.append({"id": question, "term": term, "true": expansion, "chosen": chosen_name})
    return SenseReport(len(known), right, wrong)


def _find_true_sense(data: BeirSet, question: str, expansions: Mapping[str, set[str]]) -> tuple[str, str] | None:
    assert data.plain is not None
    asked, untouched = data.queries[question], data.plain[question]
    for term, meanings in expansions.items():
        for place in re.finditer(rf"(?<!\w){re.escape(term)}(?!\w)", asked):
            for expansion in meanings:
                if _is_same(asked[: place.start()] + expansion + asked[place.end() :], untouched):
                    return term, expansion
    # one phrase may have been abbreviated at several places of the question
    for term, meanings in expansions.items():
        for expansion in meanings:
            if _is_same(re.sub(rf"(?<!\w){re.escape(term)}(?!\w)", expansion, asked), untouched) and term in asked:
                return term, expansion
    return None


def _is_same(one: str, other: str) -> bool:
    return re.sub(r"[\s\-]+", " ", one).casefold() == re.sub(r"[\s\-]+", " ", other).casefold()


def _format_interval(measured: Measured, name: str) -> dict[str, Any]:
    return {"mean": measured.mean[name], "interval95": list(measured.interval(name))}
