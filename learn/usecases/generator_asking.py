"""The asking of a tuned language model, beside the one in use (AccurateRAG 2.5, "Q&A")."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from argot.errors import Conflict
from argot.graph.run_context import build_run_context
from argot.graph.single_question import SingleQuestions
from argot.learn.run_folder import RunFolder
from argot.learn.usecases.adoption_rules import find_visible_run
from argot.learn.usecases.training_runs import RunId
from argot.results import AskResult
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.profiles import get_profile
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import Principal

if TYPE_CHECKING:
    from argot.tools.llm.model_server import ModelServer


@dataclass(frozen=True, slots=True)
class GeneratorAnswer:
    """An answer, with the name of the model. `by_model`: False where it is quotations, because the model failed."""

    model: str
    text: str
    status: str
    by_model: bool
    unsupported: list[str]


@dataclass(frozen=True, slots=True)
class GeneratorAnswers:
    """The answers to one question by the model in use and by a training's model."""

    run: str
    name: str
    present: GeneratorAnswer
    candidate: GeneratorAnswer


@usecase("manager", everywhere=True)
async def generator_ask(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    question: Annotated[Text, Field(min_length=1, max_length=2000)],
    run: RunId,
) -> GeneratorAnswers:
    """Ask the model in use and a tuned one, from the documents that the caller may read; nothing is kept.

    Raises:
        NotFound: there is no such training that the caller may see.
        Conflict: it is not finished, is no language model, or the model server does not serve it; the message says how.
        ModelUnavailable: the model server does not answer.
        InvalidInput: the question cannot be asked.
    """
    found = await kb.blocking(find_visible_run, kb, principal, run)
    if found.state.status != "done" or found.request.kind != "generator":
        raise Conflict(
            f"Training {run} has no language model to ask: it is a {found.request.kind}, {found.state.status}."
        )
    tuned = await _require_served(kb, found)
    assert kb.model_server is not None
    profile = await get_profile(kb.profiles, kb.settings.profile)
    asking, answers = SingleQuestions(), []
    for name, server in ((kb.settings.model_server.name or "in use", kb.model_server), (found.id, tuned)):
        context = await kb.look_up(
            build_run_context, await kb.load(), kb.glossary, principal, profile, kb.settings, None, server
        )
        result = await asking.ask([(replace(context, records_misses=False), question.strip())])
        answers.append(_describe_answer(name, result))
    return GeneratorAnswers(found.id, found.request.name, *answers)


async def _require_served(kb: KnowledgeBase, run: RunFolder) -> ModelServer:
    """Return the server under the training's name, by which its adapter is served.

    Raises:
        Conflict: there is no server, or it does not serve it.
    """
    from argot.tools.llm.model_server import ModelServer

    server = ModelServer.from_settings(kb.settings.replace(model=run.id))
    how = await kb.blocking(explain_serving, run.model, run.id)
    if server is None:
        raise Conflict(f"No model server serves {run.id}: ARGOT_MODEL_URL is not set. {how}")
    await server.load()
    try:
        served = (await server.served_model(fresh=True)).listed
    except Exception as error:
        raise server.fault(error).error() from None
    if run.id not in served:
        raise Conflict(f"The model server does not serve {run.id}; it serves {', '.join(served) or 'nothing'}. {how}")
    return server


def explain_serving(folder: Path, name: str) -> str:
    """Explain how vLLM serves the model or the adapter of this folder under this name."""
    adapter = folder / "adapter_config.json"
    if not adapter.is_file():
        return f"Serve it: deploy/vllm/gpu/serve.sh {folder} --served-model-name {name}"
    # vLLM accepts adapters up to rank 16 by default.
    rank = json.loads(adapter.read_text("utf-8"))["r"]
    return f"Start vLLM with it: --enable-lora --max-lora-rank {rank} --lora-modules {name}={folder}"


def _describe_answer(model: str, result: AskResult) -> GeneratorAnswer:
    unsupported = [one.text for one in result.sentences if not one.supported]
    return GeneratorAnswer(model, result.answer, result.status, result.answered_by == "model", unsupported)
