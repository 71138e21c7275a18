"""The rules of adoption: a model replaces the present one only if it measures better and its folder is sound."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argot.errors import Conflict, InvalidInput, NotAllowed, NotFound
from argot.learn.run_folder import RunFolder, RunKind, RunRequest
from argot.learn.training_pairs import PARTS
from argot.service.storage.home_folder import RUNS
from argot.types import Principal

if TYPE_CHECKING:
    from argot.corpus.store.document_store import CorpusStore
    from argot.service.knowledge_base import KnowledgeBase

PART = "validation"
"""The part that decides. The test part is shown, and decides nothing."""
MAIN_MEASURE: Mapping[RunKind, str] = {"embedder": "map@10", "reranker": "map@10", "generator": "rouge_l"}
"""The measure that decides if the card names none."""
STARTED_FROM = "after against before"
"""Which comparison of a card decides where it names nothing else."""
SAFE_SUFFIXES = frozenset({".safetensors", ".onnx", ".json", ".txt"})
"""File types allowed in a model's folder: none that runs code when it is read."""
MIN_KNOWN_SHARE = 0.5
"""The share of the passages searched in training that must still be in the documents."""
LOOKED_AT = 1000


@dataclass(frozen=True, slots=True)
class Gain:
    """The gain of a model over the one it started from, by the card's main measure on the validation part.

    `low`, `high`: the 95 % interval of the paired difference. `of`: the ranked list, such as "top10".
    """

    measure: str
    before: float | None
    after: float | None
    gain: float
    low: float
    high: float
    questions: int
    of: str = ""

    @property
    def is_better(self) -> bool:
        return self.low > 0

    @property
    def description(self) -> str:
        way = "higher" if self.gain >= 0 else "lower"
        return (
            f"on the {PART} part its {self.measure} is {abs(self.gain):.3f} {way}, with a 95 % interval from "
            f"{self.low:+.3f} to {self.high:+.3f} ({self.high - self.low:.3f} wide, {self.questions} questions)"
        )


@dataclass(frozen=True, slots=True)
class MeasuredChange:
    """A measure before and after, on one part, with the paired difference and its 95 % interval.

    `of`: the ranked list, such as "top10"; empty if the whole pool was searched. `ways`: which two are compared, as in
    "after against before".
    """

    part: str
    of: str
    ways: str
    measure: str
    before: float | None
    after: float | None
    gain: float
    low: float
    high: float
    questions: int


def read_changes(card: Mapping[str, Any]) -> Iterator[MeasuredChange]:
    """Read the card's comparisons, without those not in its form: a folder may come from anywhere."""
    figures = card.get("figures")
    if not isinstance(figures, Mapping):
        return
    for name, found in figures.items():
        if name in PARTS:
            yield from _read_part(str(name), "", found)
        elif isinstance(found, Mapping):
            for part, inner in found.items():
                yield from _read_part(str(part), str(name), inner)


def _read_part(part: str, of: str, found: Any) -> Iterator[MeasuredChange]:
    if not isinstance(found, Mapping):
        return
    for measure, one in found.items():
        with suppress(KeyError, TypeError, ValueError):
            low, high = map(float, one["interval95"])
            was, now, change, questions = one["before"], one["after"], float(one["difference"]), int(one["questions"])
            yield MeasuredChange(part, of, STARTED_FROM, str(measure), was, now, change, low, high, questions)
    differences = found.get("differences")
    for ways, measures in differences.items() if isinstance(differences, Mapping) else ():
        after, _, before = str(ways).partition(" against ")
        for measure, one in measures.items() if isinstance(measures, Mapping) else ():
            # A missing or invalid number allows no comparison.
            with suppress(KeyError, TypeError, ValueError, AttributeError):
                low, high = map(float, one["interval95"])
                means = found.get("means", {})
                was, now = (means.get(way, {}).get(measure) for way in (before, after))
                change, questions = float(one["difference"]), int(one["questions"])
                yield MeasuredChange(part, of, str(ways), str(measure), was, now, change, low, high, questions)


def find_gain(kind: RunKind, card: Mapping[str, Any], part: str = PART) -> Gain | None:
    """Find the gain by the main measure, against the model it started from; None where the card does not say it.

    The card may name the measure (`main`) and the comparison (`compared`). `part`: any but the one that decides is only
    shown.
    """
    measure, ways = str(card.get("main", MAIN_MEASURE[kind])), card.get("compared", STARTED_FROM)
    for one in read_changes(card):
        if (one.part, one.measure, one.ways) == (part, measure, ways):
            return Gain(measure, one.before, one.after, one.gain, one.low, one.high, one.questions, one.of)
    return None


# -- who may ----------------------------------------------------------------------------------------------------------


def may_see(kb: KnowledgeBase, principal: Principal, request: RunRequest) -> bool:
    """Tell whether a person may see a run: they may read every document it learnt from, then and now."""
    return all(principal.may_read(frozenset(readers)) for readers in list_readers(kb, request))


def list_readers(kb: KnowledgeBase, request: RunRequest) -> list[tuple[str, ...]]:
    """Return for each document learnt from its readers when the training began, and now. Blocks."""
    if not request.documents:
        return list(request.readers)
    learnt = set(request.documents)
    there = kb.document_store.documents(Principal("learning", sees_all=True))
    return [*request.readers, *(tuple(sorted(one.audience)) for one in there if one.id in learnt)]


def find_visible_run(kb: KnowledgeBase, principal: Principal, name: str) -> RunFolder:
    """
    Raises:
        NotFound: there is none that this principal may see.
    """
    run = RunFolder.find(kb.home.absolute() / RUNS, name)
    if not may_see(kb, principal, run.request):
        # As if it did not exist: its training data must not be guessed.
        raise NotFound(f"There is no training '{name}'. Those there are: argot learn runs")
    return run


def require_open_to_all(kb: KnowledgeBase, request: RunRequest, *, for_everybody: bool) -> None:
    """Require that everybody may read the run's documents, since a model answers everybody.

    Raises:
        NotAllowed: it learnt from documents that not everybody may read.
    """
    if not any(list_readers(kb, request)):
        return
    if request.kind == "generator":
        raise NotAllowed(
            "It learnt from documents that not everybody may read, and a language model can repeat what it has read "
            "to whoever asks. Such a one is never put into force. Train one on documents that everybody may read."
        )
    if not for_everybody:
        raise NotAllowed(
            "It learnt from documents that not everybody may read, and would order passages for everybody. It cannot "
            "repeat them, but which words go together may show. If that is acceptable, adopt it --for-everybody."
        )


# -- checks of the run and its model ----------------------------------------------------------------------------------


def require_better(run: RunFolder) -> Gain:
    """Return by how much a training's model measures better.

    Raises:
        Conflict: it is not done, or does not measure better; the message states by how much, with the interval.
    """
    state = run.state
    if state.status != "done":
        raise Conflict(f"Training {run.id} is {state.status}. Only one that is done can be adopted.")
    gain = find_gain(run.request.kind, run.card)
    if gain is None:
        raise Conflict(
            f"The card of training {run.id} has no {MAIN_MEASURE[run.request.kind]} of the {PART} part, by which it is "
            "decided: it cannot be adopted."
        )
    if not gain.is_better:
        raise Conflict(
            f"Training {run.id} is not adopted: {gain.description}. Only what measures better goes in: the interval "
            "has to lie above zero."
        )
    return gain


def require_sound(kb: KnowledgeBase, run: RunFolder) -> None:
    """Check that a training still fits the knowledge base.

    Raises:
        Conflict: pairs, documents or base are not those it was trained with.
        InvalidInput: its model contains files that may run code, or is invalid.
    """
    require_safe_model(run.model)
    _require_of_kind(run)
    _require_same_data(run)
    _require_known_passages(kb.document_store, run)
    _require_base(run)


def require_safe_model(folder: Path) -> None:
    """Check that a folder has only a model's weights and vocabulary.

    Raises:
        InvalidInput: it is no model, or contains files of other kinds than weights and vocabulary.
    """
    files = [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()] if folder.is_dir() else []
    if not any(path.suffix in (".safetensors", ".onnx") for path in files):
        raise InvalidInput(f"There is no model in {folder}: it has no file of weights. Train it anew.")
    for path in files:
        if path.is_symlink() or path.suffix not in SAFE_SUFFIXES:
            raise InvalidInput(
                f"The model holds '{path.relative_to(folder)}'. It may hold {', '.join(sorted(SAFE_SUFFIXES))} alone: "
                "other files may run code when they are read."
            )
    for path in folder.rglob("modules.json"):
        # It names the classes that read the model.
        if foreign := [one for one in _read_classes(path) if not one.startswith("sentence_transformers.")]:
            raise InvalidInput(f"The model's {path.name} names '{foreign[0]}', which is no part of what reads models.")


def _read_classes(path: Path) -> list[str]:
    try:
        return [str(module["type"]) for module in json.loads(path.read_text("utf-8"))]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}. Train it anew.") from error


def _require_of_kind(run: RunFolder) -> None:
    """Require a model of the run's kind: an embedder in a re-ranker's place would end every question in an error."""
    from argot.learn.starting_model import is_embedder
    from argot.tools.retrieval.scorer_choice import is_reranker

    kind, folder = run.request.kind, run.model
    if (kind == "embedder" and not is_embedder(folder)) or (kind == "reranker" and not is_reranker(folder)):
        raise InvalidInput(f"What training {run.id} left in {folder} is no {kind}. Train it anew.")


def _require_same_data(run: RunFolder) -> None:
    from argot.learn.preparation import compute_weights_fingerprint
    from argot.learn.run_data import compute_data_fingerprint

    card = run.card
    if compute_data_fingerprint(run.pairs(), run.passages()) != card.get("data_fingerprint"):
        raise Conflict(f"The pairs of training {run.id} are not those it was measured with. Train it anew.")
    if compute_weights_fingerprint(run.model) != card.get("fingerprint"):
        raise Conflict(f"The model of training {run.id} is not the one that was measured. Train it anew.")


def _require_known_passages(store: CorpusStore, run: RunFolder) -> None:
    # Those that were searched, of which imported pairs bring some of their own.
    learnt = sorted({one.id for one in run.passages()})[:LOOKED_AT]
    known = store.passages(Principal("", sees_all=True), learnt)
    if len(known) < MIN_KNOWN_SHARE * len(learnt):
        raise Conflict(
            f"Of {len(learnt):,} passages that training {run.id} searched, {len(known):,} are in the documents of this "
            "knowledge base. It fits others, or these as they were: train it anew."
        )


def _require_base(run: RunFolder) -> None:
    try:
        if run.request.kind == "generator":
            # Served by the adapter: found by name, elsewhere than an embedder, and by its weights.
            from argot.learn.generator.base_models import find_base_model

            if find_base_model(run.request.base, run.path.parent).fingerprint != run.card.get("base_fingerprint"):
                raise InvalidInput(f"'{run.request.base}' is another model by now.")
        else:
            from argot.learn.starting_model import find_starting_model

            find_starting_model(run.request.base, run.path.parent)
    except (InvalidInput, NotFound) as error:
        raise Conflict(f"What training {run.id} started from is not here any more. {error}") from error
