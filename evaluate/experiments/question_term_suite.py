"""The suite `questions`: whether the jargon of questions is found, and nothing else, on 200 questions labelled by hand.

100 are sample questions: every one with a misspelt term and every one with ordinary capitals among those available, the
others by a seeded draw. 100 are real questions of five public data sets, 20 of each by the same draw. Of these, only
data set, id, hash and offsets are kept (`samples/question_terms.jsonl`), never their text. A hash of set and id makes
two halves of 100: rules are chosen on one, and figures reported on the other. A sample question was available only if
the hash agrees with its own split, so that no rule is chosen on a question kept for reporting.

The labels were made before anybody looked at what Argot finds, by these rules:

1. Terms are abbreviations and coded terms that a newcomer would need explained: with capitals, mixed case, digits or in
   small letters (`capex`), even if the question explains them. The span is only the term, without plural or possessive
   ending, number, hyphen and neighbour ("multi-VT": VT); each occurrence counts.
2. Terms are words and phrases that the sample glossary has as a term, alias or expansion, in that meaning; and
   misspellings of them.
3. Not terms are: names of people, firms, products, sites and programs; units, currencies, dates and fiscal years; what
   every office worker knows (TV, IT, HR, GUI, I/O, PCIe); what is typed into a machine (commands, options, variables,
   files); numbers of parts and standards; phrases that are in no available glossary. A name that is itself the code of
   a technology, such as a process node, is a term.

A term counts as found if its span is exactly right. Precision, recall and F1 are over all spans of a part.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.evaluate.reports import Table
from argot.evaluate.temporary_base import Identifier
from argot.files import read_text

Span = tuple[int, int]
Progress = Callable[[str, int, int], None]

_AROUND = 40  # characters shown before and after a mistake

HALVES = ("choosing", "reporting")
SAMPLES = "samples"
FILES: Mapping[str, tuple[str, str]] = {
    "ord_qa": ("ord_qa/ORD-QA.jsonl", "question"),
    "eda_corpus_qa": ("eda_corpus_qa/Question-Answer_Dataset.csv", "Prompts"),
    "emanuals": ("emanuals/smart_tv_qa_normalised.json", "question"),
    "financebench": ("financebench/financebench_open_source.jsonl", "question"),
    "pubmedqa": ("pubmedqa/ori_pqal.json", "QUESTION"),
}
"""For each public set, its file in the folder of data sets and the field with the question."""

HOW_TO_GET = (
    "Set ARGOT_DATASETS to a folder with ord_qa (github.com/lesliepy99/RAG-EDA), eda_corpus_qa "
    "(OpenROAD-Assistant/EDA-Corpus), emanuals (abhi1nandy2/EMNLP-2021-Findings), financebench "
    "(patronus-ai/financebench) and pubmedqa (pubmedqa/pubmedqa)"
)


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with its terms: begin, end and kind of each (abbreviation, phrase or misspelt)."""

    set: str
    id: str
    text: str
    terms: Mapping[Span, str]

    @property
    def half(self) -> str:
        return choose_half(self.set, self.id)

    @property
    def part(self) -> str:
        return SAMPLES if self.set == SAMPLES else "real"


@dataclass(frozen=True, slots=True)
class TermScore:
    """The score of the terms of some questions. `exact` counts questions without any error."""

    questions: int
    labelled: int
    found: int
    right: int
    exact: int
    missed_by_kind: Mapping[str, int]

    @property
    def precision(self) -> float:
        # Without any results there are no false ones.
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.labelled if self.labelled else 1.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True, slots=True)
class TermMistake:
    """A term that was missed, or a false one that was found. Only of the choosing half."""

    way: str
    set: str
    id: str
    kind: str
    term: str
    text: str


@dataclass(frozen=True, slots=True)
class QuestionTermsReport:
    """Scores by way of reading, part ("all", "samples", "real") and half. `absent` names the sets that are missing."""

    scores: Mapping[str, Mapping[str, Mapping[str, TermScore]]]
    mistakes: Sequence[TermMistake]
    absent: Sequence[str]

    def join(self, other: QuestionTermsReport) -> QuestionTermsReport:
        """Return a report with both reports' ways of reading the same questions, those of this one first."""
        scores = {**self.scores, **other.scores}
        return QuestionTermsReport(scores, [*self.mistakes, *other.mistakes], self.absent)

    def to_json(self) -> dict[str, Any]:
        scores = {
            way: {part: {half: score.to_json() for half, score in halves.items()} for part, halves in parts.items()}
            for way, parts in self.scores.items()
        }
        mistakes = [asdict(mistake) for mistake in self.mistakes]
        return {"suite": "questions", "scores": scores, "absent": self.absent, "wrong_in_the_choosing_half": mistakes}


async def evaluate_question_terms(
    identifiers: Mapping[str, Identifier],
    questions: Sequence[LabelledQuestion],
    absent: Sequence[str],
    progress: Progress,
) -> QuestionTermsReport:
    """Read every question in every way, and compare with the labels."""
    scores: dict[str, dict[str, dict[str, TermScore]]] = {}
    mistakes: list[TermMistake] = []
    for way, identify in identifiers.items():
        pairs = []
        for done, question in enumerate(questions, 1):
            # By span only: the kind that the term was taken for does not matter here.
            found = frozenset((mention.start, mention.end) for mention in await identify(question.text))
            pairs.append((question, found))
            progress(way, done, len(questions))
        parts = ["all", *dict.fromkeys(question.part for question in questions)]
        scores[way] = {part: _score_halves([pair for pair in pairs if part in ("all", pair[0].part)]) for part in parts}
        # Mistakes of the reporting half are never shown, so that nobody chooses rules by them.
        chosen_on = (pair for pair in pairs if pair[0].half == HALVES[0])
        mistakes += [mistake for question, found in chosen_on for mistake in _list_mistakes(way, question, found)]
    return QuestionTermsReport(scores, mistakes, absent)


def load_question_terms(
    labels: str, samples: Mapping[str, str], datasets: Path
) -> tuple[list[LabelledQuestion], list[str]]:
    """Load the labelled questions, and the names of the public sets that the folder `datasets` lacks.

    Args:
        labels: the text of `question_terms.jsonl`.
        samples: the sample questions by id.
        datasets: the folder of data sets.

    Raises:
        InvalidInput: the folder has another version of a set than the labelled one.
    """
    entries = [json.loads(line) for line in labels.split("\n") if line.strip()]
    texts = {SAMPLES: {hash_of(text): text for text in samples.values()}}
    absent = []
    for name, (file, field) in FILES.items():
        path = datasets / file
        if path.is_file():
            # By hash, because the file of labels has no text of the public sets.
            texts[name] = {hash_of(text): text for text in _load_set_questions(path, field)}
        elif any(entry["set"] == name for entry in entries):
            absent.append(name)
    return [_build_labelled(entry, texts[entry["set"]]) for entry in entries if entry["set"] in texts], absent


def build_question_terms_tables(report: QuestionTermsReport, *, errors: bool) -> list[Table]:
    """Build a table for each way of reading and, with `errors`, one of the mistakes in the choosing half."""
    columns = ("", "half", "questions", "terms", "found", "precision", "recall", "F1", "without fault")
    tables = []
    for way, parts in report.scores.items():
        rows = []
        for part, halves in parts.items():
            for half, s in halves.items():
                shares = [f"{100 * share:.1f} %" for share in (s.precision, s.recall, s.f1)]
                rows.append([part, half, *map(str, (s.questions, s.labelled, s.found)), *shares, str(s.exact)])
        tables.append(Table(f"Terms found in questions, {way}", columns, rows))
    if report.absent:
        rows = [[name, HOW_TO_GET] for name in report.absent]
        tables.append(Table("Not measured", ("data set", "how to get it"), rows))
    if errors:
        rows = [[one.way, f"{one.set} {one.id}", one.kind, one.term, one.text] for one in report.mistakes]
        tables.append(Table("Mistakes in the choosing half", ("way", "question", "", "term", "text"), rows))
    return tables


def choose_half(name: str, question_id: str) -> str:
    digest = hashlib.blake2b(f"{name}/{question_id}".encode(), digest_size=8).digest()
    # Any byte would do, but always the same one: otherwise the halves would mix.
    return HALVES[digest[-1] % 2]


def hash_of(question: str) -> str:
    return hashlib.blake2b(question.encode(), digest_size=8).hexdigest()


def _build_labelled(entry: Mapping[str, Any], texts: Mapping[str, str]) -> LabelledQuestion:
    text = texts.get(entry["hash"])
    if text is None:
        raise InvalidInput(
            f"The data set {entry['set']} does not hold the question labelled as {entry['id']}: it is another version. "
            f"{HOW_TO_GET}; or move {entry['set']} away to measure without it."
        )
    terms = {(start, end): kind for start, end, kind in entry["terms"]}
    return LabelledQuestion(entry["set"], entry["id"], text, terms)


def _load_set_questions(path: Path, field: str) -> Iterable[str]:
    """Yield the questions of a file of JSON, JSON lines or CSV.

    Raises:
        InvalidInput: the file does not have the form that its name says, or a row lacks the field.
    """
    try:
        text = read_text(path)
        if path.suffix == ".csv":
            # A list, so that a malformed row fails inside this try; `newline=""` keeps line ends in quoted cells.
            rows: Iterable[Any] = list(csv.DictReader(io.StringIO(text, newline="")))
        elif path.suffix == ".jsonl":
            # Not splitlines(): a JSON string may hold an unescaped U+2028.
            rows = [json.loads(line) for line in text.split("\n") if line.strip()]
        else:
            data = json.loads(text)
            # PubMedQA is an object by id.
            rows = data.values() if isinstance(data, dict) else data
        return [str(row[field]) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise InvalidInput(f"{path} holds no questions in a field {field!r}: {error}. {HOW_TO_GET}.") from error


def _score_halves(pairs: Sequence[tuple[LabelledQuestion, frozenset[Span]]]) -> dict[str, TermScore]:
    halves = [half for half in HALVES if any(one.half == half for one, _ in pairs)]
    return {half: _score([pair for pair in pairs if pair[0].half == half]) for half in halves}


def _score(pairs: Sequence[tuple[LabelledQuestion, frozenset[Span]]]) -> TermScore:
    missed = Counter(kind for one, found in pairs for span, kind in one.terms.items() if span not in found)
    return TermScore(
        questions=len(pairs),
        labelled=sum(len(one.terms) for one, _ in pairs),
        found=sum(len(found) for _, found in pairs),
        right=sum(len(found & one.terms.keys()) for one, found in pairs),
        exact=sum(found == one.terms.keys() for one, found in pairs),
        missed_by_kind=dict(sorted(missed.items())),
    )


def _list_mistakes(way: str, one: LabelledQuestion, found: frozenset[Span]) -> Iterable[TermMistake]:
    for kind, spans in (("missed", one.terms.keys() - found), ("too many", found - one.terms.keys())):
        for start, end in sorted(spans):
            around = " ".join(one.text[max(0, start - _AROUND) : end + _AROUND].split())
            yield TermMistake(way, one.set, one.id, kind, one.text[start:end], around)
