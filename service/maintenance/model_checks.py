"""The language model's part of `argot doctor`: does the server answer, with what, and what can it not do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from argot.errors import InvalidSettings, ModelUnavailable
from argot.service.maintenance.findings import Finding, bad, good
from argot.settings import Settings

if TYPE_CHECKING:
    from argot.tools.llm.model_server import ModelServer, ServerInfo

NAME = "language model"
LITTLE_CONTEXT = 4096
"""The tokens that five passages, their question and an answer of the usual length take, with some to spare."""


def model_findings(settings: Settings) -> list[Finding]:
    """What there is to say of the model server; a server that hangs takes the bound of one call, or two."""
    from argot.tools.llm.model_server import ModelServer

    try:
        server = ModelServer.from_settings(settings)
        if server is None:
            return [good(NAME, "none: answers are quoted from documents; for written ones set ARGOT_MODEL_URL")]
        info, adapters = asyncio.run(_described(server))
        return [*_of_server(server, info), *_of_adapters(adapters)]
    except InvalidSettings as error:
        return [bad(NAME, str(error), "set ARGOT_MODEL_URL to http://HOST:PORT/v1, or leave it empty")]
    except ModelUnavailable as error:
        what, _, remedy = str(error).removesuffix(".").partition(": ")
        return [bad(NAME, what, remedy or "look at the log of the server at ARGOT_MODEL_URL")]


async def _described(server: ModelServer) -> tuple[ServerInfo, bool | None]:
    """What it can do, and whether it loads adapters while it runs; None of a server that is no vLLM."""
    from argot.tools.llm.adapters import can_load_adapters

    try:
        info = await server.describe()
        return info, await can_load_adapters(server) if server.known and server.known.is_vllm else None
    finally:
        await server.aclose()


def _of_server(server: ModelServer, info: ServerInfo) -> Iterator[Finding]:
    served = f" (of {len(info.served)} it serves)" if len(info.served) > 1 else ""
    yield good(NAME, f"{info.model}{served}, answers at {server.address}")
    yield _context(info)
    # What a server cannot do is no fault: Argot does without, and says what that costs.
    yield good(
        "model: JSON schemas",
        "kept to"
        if info.json_schema
        else "not kept to by this server: the schema is told in words, and a reply that breaks it is left out; "
        "vLLM keeps to them",
    )
    yield good(
        "model: log-probabilities",
        "given" if info.logprobs else "not given by this server: scores are the model's plain words; vLLM gives them",
    )
    yield good(
        "model: token counts",
        "by the server's own tokenizer"
        if info.tokenizer
        else "estimated, rather too high, as this server does not answer at /tokenize: fewer passages may fit",
    )


def _of_adapters(loaded: bool | None) -> Iterator[Finding]:
    from argot.tools.llm.adapters import START_HINT

    if loaded is not None:
        said = (
            "loaded while it runs"
            if loaded
            else f"taken at its start alone; to have tuned models loaded while it runs {START_HINT}"
        )
        yield good("model: adapters", said)


def _context(info: ServerInfo) -> Finding:
    name, tokens = "model: context", f"{info.context_tokens} tokens"
    if not info.context_known:
        remedy = "set ARGOT_MODEL_CONTEXT to the context length the server runs the model with"
        return bad(name, f"not told by the server, {tokens} assumed", remedy)
    if info.context_tokens < LITTLE_CONTEXT:
        remedy = "serve the model with a longer one (vLLM: --max-model-len), or ask for less: ARGOT_MODEL_ANSWER_TOKENS"
        return bad(name, f"{tokens}: too little for the passages of an answer", remedy)
    return good(name, tokens)


def without_password(url: str) -> str:
    """The URL as it may be shown: a password does not belong into it, but may stand there all the same."""
    return re.sub(r"//[^/@]*@", "//***@", url)
