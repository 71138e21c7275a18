"""Readers of an experiment's data, which is checked: the questions, and the documents that answer them.

answers      questions.jsonl and documents/ (as for `argot evaluate answers`), or a public set by its name
beir         corpus.jsonl, queries.jsonl, qrels/test.tsv
quiz         quiz.jsonl and documents/ (as for `argot evaluate quiz`)
raidd        docs_chunks256.json and questions.json
references   a file of annotated answers, one JSON object per line
benchmarks   any of the folders hotpotqa/, pubmedqa/ and apibench/
none         no data: the questions are drawn
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from argot.corpus.corpus import Source
from argot.corpus.ingestion.sources import list_sources
from argot.errors import InvalidInput
from argot.evaluate.answer_questions import AnswerQuestion, AnswerSet, GoldSnippet, build_answer_set
from argot.evaluate.answer_sets import PUBLIC_SETS, load_public_set
from argot.evaluate.beir import BeirSet, load_beir
from argot.evaluate.experiments.annotated_answers import AnnotatedAnswer, load_annotated_answers
from argot.evaluate.experiments.experiment import Experiment
from argot.evaluate.experiments.loogle import load_loogle
from argot.evaluate.experiments.public_benchmarks import BENCHMARKS, load_benchmarks
from argot.evaluate.experiments.quiz_data import QuizQuestion, load_quiz
from argot.evaluate.markdown_sources import make_markdown_source, remove_headings
from argot.measures import gold_clusters

LIMITED = (
    "The number of questions was limited. So that a model derives fewer texts, or fewer documents are read, only their "
    "documents and as many others were searched: in all documents, figures are lower."
)
MANY_DOCUMENTS = 500
"""Documents, or any PDF, from which a limited experiment leaves documents out."""
VariantSources = Callable[[str], Sequence[Source]]
"""A variant's name -> the documents in it: without headings, or cut into chunks of another size."""


@dataclass(frozen=True, slots=True)
class DataPart:
    """One set of questions over one set of documents. Most experiments have one, named ""."""

    name: str = ""
    questions: Sequence[AnswerQuestion] = ()
    quiz: Sequence[QuizQuestion] = ()
    annotated: Sequence[AnnotatedAnswer] = ()
    sources: VariantSources = field(default=lambda variant: (), repr=False)
    folder: Path | None = None
    """The folder of a quiz, whose documents and glossary are added together."""
    glossary: Path | None = None
    about: Mapping[str, str] = field(default_factory=dict)
    """Question (id) -> the name of its document, for data that name it without the gold in it."""

    def make_key(self, id_: object) -> str:
        """Return a question's key, which is unique among all parts."""
        return f"{self.name}/{id_}" if self.name else str(id_)

    def hash_questions(self) -> dict[str, str]:
        """Return a fingerprint of every question and its answer, by key. It does not depend on where the file is."""
        told: dict[str, tuple[object, ...]] = {
            **{self.make_key(one.id): (one.question, one.kind, one.reference, one.gold) for one in self.questions},
            **{self.make_key(n): (one.question, one.options, one.correct) for n, one in enumerate(self.quiz, start=1)},
            **{
                self.make_key(one.id): (one.passages, one.sentences, [sorted(of) for of in one.annotated])
                for one in self.annotated
            },
        }
        return {key: hash_contents(repr(one).encode()) for key, one in told.items()}

    def list_texts(self) -> dict[str, str]:
        """Return the text of each question, by key; an annotated answer has none."""
        return {
            **{self.make_key(one.id): one.question for one in self.questions},
            **{self.make_key(n): one.question for n, one in enumerate(self.quiz, start=1)},
        }

    def read_documents(self) -> Iterator[bytes]:
        """Yield the names and contents of the documents and the glossary."""
        sources = list_sources([self.folder / "documents"]) if self.folder else self.sources("")
        for one in sources:
            yield from (one.name.encode(), b"" if one.skip else one.load())
        glossary = self.glossary or (self.folder / "glossary.csv" if self.folder else None)
        if glossary is not None and glossary.exists():
            yield glossary.read_bytes()

    def cluster_questions(self) -> dict[str, int]:
        """Return the cluster of each question that has gold: questions that share a gold document are resampled
        together.
        """
        together = gold_clusters([{gold.document for gold in one.gold} for one in self.questions])
        return {self.make_key(one.id): place for one, place in zip(self.questions, together, strict=True) if one.gold}

    def limit_questions(self, limit: int | None) -> DataPart:
        """Return the part with only its first questions."""
        if limit is None:
            return self
        return replace(self, questions=self.questions[:limit], quiz=self.quiz[:limit], annotated=self.annotated[:limit])

    @property
    def is_slow(self) -> bool:
        """Return whether its documents take minutes to read and embed."""
        sources = self.sources("")
        return len(sources) > MANY_DOCUMENTS or any(one.uri.lower().endswith(".pdf") for one in sources)

    def limit_documents(self) -> DataPart:
        """Return the part with only the documents of its questions and, if there are, as many others."""
        wanted = {name for one in self.questions for name in self._name_documents(one)}
        if not wanted:
            return self

        def choose_sources(variant: str) -> list[Source]:
            sources = self.sources(variant)
            needed = {one.uri for one in sources if any(one.uri.endswith(f"/{name}") for name in wanted)}
            others = [one.uri for one in sources if one.uri not in needed][: len(needed)]
            return [one for one in sources if one.uri in needed.union(others)]

        return replace(self, sources=choose_sources)

    def _name_documents(self, question: AnswerQuestion) -> set[str]:
        known = {gold.document for gold in question.gold}
        return known | ({self.about[question.id]} if question.id in self.about else set())


@dataclass(frozen=True, slots=True)
class ExperimentData:
    """The data of an experiment. `name`: the name in reports, without folders."""

    name: str
    parts: Sequence[DataPart]
    notes: tuple[str, ...] = ()

    @property
    def questions(self) -> int:
        return sum(len(part.questions) + len(part.quiz) + len(part.annotated) for part in self.parts)

    @property
    def question_hashes(self) -> dict[str, str]:
        """Return a fingerprint of each question, by key."""
        return {key: print_ for part in self.parts for key, print_ in part.hash_questions().items()}

    @property
    def fingerprint(self) -> str:
        return hash_contents(*(f"{key} {print_}\n".encode() for key, print_ in self.question_hashes.items()))

    @property
    def documents(self) -> str:
        """Return a fingerprint of the documents in which the answers are searched."""
        return hash_contents(*(text for part in self.parts for text in part.read_documents()))


def hash_contents(*texts: bytes) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for text in texts:
        # The length keeps two different lists of texts from having the same digest.
        digest.update(len(text).to_bytes(8, "big") + text)
    return digest.hexdigest()


def load_experiment_data(
    experiment: Experiment, given: Path | None, datasets: Path, limit: int | None = None
) -> ExperimentData:
    """Load the given data, or the experiment's own public set.

    Args:
        given: a folder or file in the experiment's form.
        datasets: the folder of public sets.
        limit: only this number of questions of each part, the first ones. If a model derives texts from the documents,
            they are limited, too: to those of these questions and as many others.

    Raises:
        InvalidInput: the data is missing or malformed; the message says what is missing and which form it needs.
    """
    if experiment.form == "none":
        if given is not None:
            raise InvalidInput(f"{experiment.name} draws its questions and takes no data: leave out --data.")
        return ExperimentData("drawn by seed", [DataPart()])
    place = given or find_public_data(experiment, datasets)
    if place is None:
        raise InvalidInput(
            f"{experiment.name} has no public data: give your own with --data, in the form '{experiment.form}' "
            "(evaluate/experiments/README.md)."
        )
    if given is not None:
        _require_form(experiment.form, place)
    if not place.exists():
        raise InvalidInput(f"{place} is not there. {describe_source(experiment)}")
    parts, notes = _READERS[experiment.form](place)
    parts = [part.limit_questions(limit) for part in parts]
    if limit is not None and (experiment.derives or any(part.is_slow for part in parts)):
        every, parts = parts, [part.limit_documents() for part in parts]
        if any(len(part.sources("")) < len(whole.sources("")) for part, whole in zip(parts, every, strict=True)):
            notes = (*notes, LIMITED)
    if given is None:
        notes = (*experiment.public_notes, *notes)
    return ExperimentData(place.name, parts, notes)


def _require_form(form: str, place: Path) -> None:
    """
    Raises:
        InvalidInput: the data given is missing, or lacks a file that its form needs.
    """
    see = f"evaluate/experiments/README.md has the form '{form}'."
    if not place.exists():
        raise InvalidInput(f"{place} is not there. Give data of your own with --data: {see}")
    if form == "references" and place.is_dir():
        raise InvalidInput(f"{place} is a folder; give the file of annotated answers. {see}")
    if lacking := [name for name in _NEEDED.get(form, ()) if not (place / name).exists()]:
        raise InvalidInput(f"{place} lacks {' and '.join(lacking)}. {see}")


def find_public_data(experiment: Experiment, datasets: Path) -> Path | None:
    """Return where the experiment's public set is, or should be; None if it has none."""
    if experiment.form == "benchmarks":
        return datasets
    return datasets / experiment.public if experiment.public else None


def describe_source(experiment: Experiment) -> str:
    return (
        f"Set ARGOT_DATASETS to the folder that holds {experiment.public or 'the public sets'}, or give data of your "
        f"own with --data, in the form '{experiment.form}' (evaluate/experiments/README.md)."
    )


_NEEDED = {"quiz": ("quiz.jsonl", "documents"), "raidd": ("docs_chunks256.json", "questions.json")}
"""What a folder of a form holds, where the form's reader cannot name all of it."""
_Read = tuple[list[DataPart], tuple[str, ...]]


def _read_answers(place: Path) -> _Read:
    questions = place / "questions.jsonl"
    if place.name in PUBLIC_SETS and not questions.exists():
        return [_build_answer_part(load_public_set(place.name, place.parent))], ()
    if not questions.is_file() or not (place / "documents").is_dir():
        raise InvalidInput(
            f"{place} is not in the form 'answers': it needs questions.jsonl and a folder documents/, or the name of a "
            f"public set ({', '.join(PUBLIC_SETS)})."
        )
    glossary = place / "glossary.csv"
    part = _build_answer_part(build_answer_set(questions, place / "documents"), glossary if glossary.exists() else None)
    return [part], ()


def _build_answer_part(given: AnswerSet, glossary: Path | None = None) -> DataPart:
    answerable = [one for one in given.questions if one.is_answerable]
    return DataPart(questions=answerable, sources=lambda variant: given.sources, glossary=glossary or given.glossary)


def _read_beir(place: Path) -> _Read:
    data = load_beir(place)
    questions = [
        AnswerQuestion(id_, "query", data.queries[id_], tuple(GoldSnippet(f"{one}.md") for one in judged))
        for id_, judged in data.qrels.items()
    ]
    return [DataPart(questions=questions, sources=lambda variant: _make_beir_sources(data, variant))], ()


def _make_beir_sources(data: BeirSet, variant: str) -> list[Source]:
    sources = []
    for id_, (title, text) in data.corpus.items():
        bare = variant == "without headers"
        body = (remove_headings(text) if bare else text).strip() or title or id_
        sources.append(make_markdown_source("beir", f"{id_}.md", "" if bare else title, body))
    return sources


def _read_quiz(place: Path) -> _Read:
    return [DataPart(quiz=load_quiz(place), folder=place)], ()


def _read_raidd(place: Path) -> _Read:
    questions, about, sources, notes = load_loogle(place)
    return [DataPart(questions=questions, sources=sources, about=about)], notes


def _read_references(place: Path) -> _Read:
    return [DataPart(annotated=load_annotated_answers(place))], ()


def _read_benchmarks(place: Path) -> _Read:
    parts, benchmarks = [], load_benchmarks(place)
    missing = [name for name in BENCHMARKS if name not in benchmarks]
    notes = (f"Not among the data, so their columns stay empty: {', '.join(missing)}.",) if missing else ()
    for name, found in benchmarks.items():
        sources = found.sources
        parts.append(DataPart(name, found.questions, found.quiz, sources=lambda variant, held=sources: held))  # type: ignore[misc]
    return parts, notes


_READERS: dict[str, Callable[[Path], _Read]] = {
    "answers": _read_answers,
    "beir": _read_beir,
    "quiz": _read_quiz,
    "raidd": _read_raidd,
    "references": _read_references,
    "benchmarks": _read_benchmarks,
}
