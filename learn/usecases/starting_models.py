"""The starting model of a training: checked before anybody waits, and only for those who may see its data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argot.errors import InvalidInput, NotFound, asked_from_elsewhere
from argot.learn.run_folder import RunKind, RunRequest, is_run
from argot.learn.starting_model import find_starting_model, parse_folder
from argot.learn.usecases.adoption_rules import find_visible_run
from argot.service.storage.home_folder import RUNS
from argot.settings import Settings
from argot.tools.retrieval.cross_encoder import CrossEncoderScorer
from argot.tools.retrieval.onnx_cross_encoder import OnnxCrossEncoderScorer
from argot.tools.retrieval.scorer_choice import choose_scorer
from argot.types import Principal

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase


def choose_base(kind: RunKind, base: str, recipe: Mapping[str, Any], settings: Settings, runs: Path) -> str:
    """Choose the starting model of a training: `base`, or the model in use where none is given.

    Raises:
        InvalidInput: there is no such model, or its weights are not safetensors; or none is named for a generator.
    """
    if kind == "generator" and not base:
        raise InvalidInput("Say which language model to start from: the folder of one with safetensors, as --base.")
    base = base or _find_in_use(kind, recipe, settings)
    # Another training may be done by the time that this one begins.
    if not is_run(runs, base):
        _require_model(kind, base, runs)
    return base


def name_context_embedder(recipe: dict[str, Any], settings: Settings, runs: Path) -> dict[str, Any]:
    """Return the recipe of a generator with the embedder named that finds its contexts: by default the one in use, an
    adopted one, too (AccurateRAG 2.4.1). A recipe that searches nothing stays as it is.

    Raises:
        InvalidInput: the named embedder does not exist, or its weights are not safetensors.
    """
    if recipe.get("contexts_by") not in ("semantic", "hybrid"):
        return recipe
    return {**recipe, "embedder": choose_base("embedder", str(recipe.get("embedder") or ""), {}, settings, runs)}


def _require_model(kind: RunKind, base: str, runs: Path) -> None:
    from argot.learn.generator.base_models import require_base

    try:
        (require_base if kind == "generator" else find_starting_model)(base, runs)
    except (InvalidInput, NotFound) as error:
        # One message for all reasons: over the network, nobody learns which folders this machine has.
        if asked_from_elsewhere.get():
            raise InvalidInput(
                f"There is no model '{base:.80}' to start from, with weights in safetensors: neither an installed "
                "package, nor a folder, nor a training."
            ) from error
        raise


def list_starting_runs(kb: KnowledgeBase, principal: Principal, request: RunRequest) -> list[RunRequest]:
    """List the trainings of the starting model: their data are in the new one, too.

    Raises:
        NotFound: this principal may not see one of them.
    """
    names = (request.base, str(request.recipe.get("embedder", "")))
    runs = kb.home.absolute() / RUNS
    return [find_visible_run(kb, principal, run).request for name in names if (run := _find_run(name, runs))]


def _find_in_use(kind: RunKind, recipe: Mapping[str, Any], settings: Settings) -> str:
    # Readers start from an embedder, and the comparison of words has no weights; a cross-encoder may go on.
    goes_on = kind == "reranker" and recipe.get("form") == "cross_encoder"
    if goes_on and isinstance(choose_scorer(settings), OnnxCrossEncoderScorer | CrossEncoderScorer):
        return settings.search.reranker
    return settings.search.embedder


def _find_run(name: str, runs: Path) -> str:
    """Find the id of the training with this model, by id or by path; empty if there is none."""
    if is_run(runs, name):
        return name
    place, runs = parse_folder(name).resolve(), runs.resolve()
    return place.relative_to(runs).parts[0] if name and runs in place.parents else ""
