"""The language models of a measurement: the models that are measured, and the models that judge."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import SecretStr

from argot.errors import InvalidInput
from argot.evaluate.judging import JUDGES, RANKED, AnswerJudge
from argot.settings import Settings

if TYPE_CHECKING:
    from argot.tools.llm.judge import ModelJudge
    from argot.tools.llm.model_server import ModelServer

_T = TypeVar("_T")
REFERENCES = "references"
"""A name among the judges: the model matches references, and is compared with Argot's own matching."""
SideChoice = Literal["extractive", "model", "both"]


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """The names of judges (`evaluate/judging.py`) and `REFERENCES`, and the model that judges; by default the
    configured model.
    """

    names: Sequence[str] = ()
    url: str = ""
    model: str = ""


def list_model_servers(side: SideChoice, settings: Settings) -> list[ModelServer | None]:
    """Return a server for each side that is measured: None for the extractive one, the model server for the other.

    Raises:
        InvalidInput: no model server is configured.
    """
    if side == "extractive":
        return [None]
    from argot.tools.llm.model_server import ModelServer

    server = ModelServer.from_settings(settings)
    if server is None:
        raise InvalidInput(
            f"--side {side} needs a language model, and none is configured. Set ARGOT_MODEL_URL, e.g. to "
            "http://127.0.0.1:8000/v1, or measure with --side extractive."
        )
    return [server] if side == "model" else [None, server]


def build_answer_judges(choice: JudgeChoice, systems: int, settings: Settings) -> list[AnswerJudge]:
    """Return the chosen judges, each once.

    Args:
        systems: how many answers to one question are judged together.

    Raises:
        InvalidInput: a judge is unknown or has no model, or it ranks four answers and there are not four.
    """
    names = [name for name in dict.fromkeys(choice.names) if name != REFERENCES]
    if unknown := next((name for name in names if name not in JUDGES), None):
        raise InvalidInput(f"There is no judge '{unknown}'. Judges: {', '.join((*JUDGES, REFERENCES))}.")
    if "ranking" in names and systems != RANKED:
        raise InvalidInput(
            f"The judge 'ranking' orders the answers of {RANKED} profiles, and there are {systems}. Give --against "
            f"{RANKED - 1} times."
        )
    return [
        AnswerJudge(name, None if name == "rules" else _build_model_judge(name, choice, settings))
        for name in JUDGES
        if name in names
    ]


def build_reference_matcher(choice: JudgeChoice, settings: Settings) -> ModelJudge | None:
    """Return the model that matches references, if this comparison is chosen.

    Raises:
        InvalidInput: no model is configured.
    """
    return _build_model_judge(REFERENCES, choice, settings) if REFERENCES in choice.names else None


def _build_model_judge(name: str, choice: JudgeChoice, settings: Settings) -> ModelJudge:
    from argot.tools.llm.judge import ModelJudge
    from argot.tools.llm.model_server import ModelServer

    server = ModelServer.from_settings(build_judging_settings(choice, settings))
    if server is None:
        raise InvalidInput(
            f"The judge '{name}' needs a language model, and none is configured. Give --judge-url, e.g. "
            "http://127.0.0.1:8000/v1, or set ARGOT_MODEL_URL; the judge 'rules' needs none."
        )
    return ModelJudge(server)


def build_judging_settings(choice: JudgeChoice, settings: Settings) -> Settings:
    """Return the settings of the judging server. A key is never sent to a server other than the one it was set for."""
    if choice.url:
        changes = {
            "model_url": choice.url,
            "model": choice.model,
            "model_key": settings.model_server.judge_key,
            "model_context": 0,
        }
        return settings.replace(**changes)
    return settings.replace(model=choice.model) if choice.model else settings


def build_answering_settings(settings: Settings, url: str | None, model: str | None) -> Settings:
    """Return the settings with another answering model. A key is never sent to a server other than the one it was set
    for.
    """
    if not url or url == settings.model_server.url:
        return settings.replace(model=model) if model else settings
    changes: dict[str, Any] = {"model_url": url, "model": model or "", "model_context": 0}
    # If no server was configured, the configured key is for the server named now.
    return settings.replace(**changes, **({"model_key": SecretStr("")} if settings.model_server.url else {}))


def run_closing(work: Coroutine[Any, Any, _T], *servers: ModelServer | None) -> _T:
    """Run the work, and close the servers in the event loop in which their connections were opened."""

    async def run_work() -> _T:
        try:
            return await work
        finally:
            for server in {id(one): one for one in servers if one is not None}.values():
                await server.aclose()

    return asyncio.run(run_work())
