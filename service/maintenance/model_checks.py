"""The models' part of `argot doctor`: whether their servers answer, what they serve, and what they lack."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from argot.errors import InvalidSettings, ModelUnavailable
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.settings import Settings

if TYPE_CHECKING:
    from argot.tools.llm.model_server import ModelServer, ServerInfo
    from argot.tools.llm.vision_server import VisionServer

NAME = "language model"
VISION_NAME = "vision model"
LITTLE_CONTEXT = 4096
"""The tokens of five passages, their question and an answer of the usual length, with a reserve."""


def check_model_server(settings: Settings) -> list[Finding]:
    """Check the model server; one that hangs takes the timeout of one call, or two."""
    from argot.tools.llm.model_server import ModelServer

    try:
        server = ModelServer.from_settings(settings)
        if server is None:
            return [
                make_good_finding(NAME, "none: answers are quoted from documents; for written ones set ARGOT_MODEL_URL")
            ]
        info, adapters = asyncio.run(_describe_server(server))
        return [*_check_limits(server, info), *_check_adapters(adapters)]
    except InvalidSettings as error:
        return [make_bad_finding(NAME, str(error), "set ARGOT_MODEL_URL to http://HOST:PORT/v1, or leave it empty")]
    except ModelUnavailable as error:
        what, _, remedy = str(error).removesuffix(".").partition(": ")
        return [make_bad_finding(NAME, what, remedy or "look at the log of the server at ARGOT_MODEL_URL")]


def check_vision_server(settings: Settings) -> list[Finding]:
    """Check the vision model server, by one token about a small picture."""
    from argot.tools.llm.vision_server import VisionServer

    try:
        server = VisionServer.from_settings(settings)
        if server is None:
            detail = "none: pictures are found by captions and the words in them; to describe them set ARGOT_VISION_URL"
            return [make_good_finding(VISION_NAME, detail)]
        return [asyncio.run(_check_sight(server))]
    except InvalidSettings as error:
        return [
            make_bad_finding(VISION_NAME, str(error), "set ARGOT_VISION_URL to http://HOST:PORT/v1, or leave it empty")
        ]
    except ModelUnavailable as error:
        what, _, remedy = str(error).removesuffix(".").partition(": ")
        return [make_bad_finding(VISION_NAME, what, remedy or "look at the log of the server at ARGOT_VISION_URL")]


async def _check_sight(server: VisionServer) -> Finding:
    try:
        sees = await server.sees_pictures()
        model = server.known.model if server.known else ""
    finally:
        await server.aclose()
    if sees:
        return make_good_finding(VISION_NAME, f"{model}, sees pictures, answers at {server.address}")
    remedy = "serve a model that sees, such as one of Qwen's VL models, or leave ARGOT_VISION_URL empty"
    return make_bad_finding(VISION_NAME, f"{model} at {server.address} refuses pictures", remedy)


async def _describe_server(server: ModelServer) -> tuple[ServerInfo, bool | None]:
    """Ask a server for its abilities, and whether it loads adapters while it runs; None: it is no vLLM."""
    try:
        await _require_answer(server)
        info = await server.describe()
        return info, await _loads_adapters(server) if server.known and server.known.is_vllm else None
    finally:
        await server.aclose()


async def _require_answer(server: ModelServer) -> None:
    """Ask a server for its models now. `describe` remembers for minutes what it found while the server still answered.

    Raises:
        ModelUnavailable
    """
    from argot.tools.llm.limits import Clock

    await server.load()
    try:
        await Clock.of(server.settings).wait(server.served_model(fresh=True))
    except Exception as error:
        raise server.fault(error).error() from None


async def _loads_adapters(server: ModelServer) -> bool:
    """Ask a vLLM whether it loads adapters (LoRA) while it runs; the request names none, and so changes nothing."""
    from argot.tools.llm.faults import StatusError
    from argot.tools.llm.limits import Clock

    order = server.connection().order(f"{server.address.api}/load_lora_adapter", {})
    try:
        await Clock.of(server.settings).wait(order)
    except StatusError as error:
        return error.status not in (404, 405)
    except Exception as error:
        raise server.fault(error).error() from None
    return True


def _check_limits(server: ModelServer, info: ServerInfo) -> Iterator[Finding]:
    model = f"{info.model} (of {len(info.served)} it serves)" if len(info.served) > 1 else info.model
    yield make_good_finding(NAME, f"{model}, answers at {server.address}")
    yield _check_context(info)
    # A missing ability is no fault: Argot works without it, and reports the consequence.
    yield make_good_finding(
        "model: JSON schemas",
        "enforced"
        if info.json_schema
        else "not enforced by this server: the prompt describes the schema, and a reply that breaks it is dropped;"
        " vLLM enforces them",
    )
    yield make_good_finding(
        "model: log-probabilities",
        "returned"
        if info.logprobs
        else "not returned by this server: scores are read from the model's words; vLLM returns them",
    )
    yield make_good_finding(
        "model: token counts",
        "by the server's own tokenizer"
        if info.tokenizer
        else "estimated, rather too high, as this server does not answer at /tokenize: fewer passages may fit",
    )


def _check_adapters(loaded: bool | None) -> Iterator[Finding]:
    if loaded is not None:
        detail = (
            "loaded while it runs"
            if loaded
            else "only loaded at its start; to load tuned models while it runs start it with "
            "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and --enable-lora --max-lora-rank 32 (LORA=32 in front of "
            "deploy/vllm/gpu/serve.sh does both)"
        )
        yield make_good_finding("model: adapters", detail)


def _check_context(info: ServerInfo) -> Finding:
    name, tokens = "model: context", f"{info.context_tokens} tokens"
    if not info.context_known:
        remedy = "set ARGOT_MODEL_CONTEXT to the context length the server runs the model with"
        return make_bad_finding(name, f"not reported by the server, {tokens} assumed", remedy)
    if info.context_tokens < LITTLE_CONTEXT:
        remedy = "serve the model with a longer one (vLLM: --max-model-len), or ask for less: ARGOT_MODEL_ANSWER_TOKENS"
        return make_bad_finding(name, f"{tokens}: too little for the passages of an answer", remedy)
    return make_good_finding(name, tokens)
