"""Abilities of a model server, detected by requests for a few tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from argot.tools.llm.calls import build_response_format
from argot.tools.llm.endpoint import Endpoint
from argot.tools.llm.faults import StatusError, WrongAnswer, describe_unserved
from argot.tools.llm.limits import Clock
from argot.tools.llm.structured_output import InvalidReply, parse_object
from argot.tools.llm.token_budget import can_count_tokens, count_tokens

PROBE_WORD = "blue-17"
"""No model writes this by itself, so a reply with it was held to the schema."""
PROBE_SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": [PROBE_WORD]}},
    "required": ["word"],
    "additionalProperties": False,
}
GREETING = [("user", "Say hello.")]
# Statuses with which servers reject an unknown field; any other is a separate fault.
REFUSAL_STATUSES = (400, 404, 422, 501)


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """Abilities of the server. `served` are all the models it lists.

    `context_known`: the context's length comes from the server or the settings, and is not assumed.
    """

    model: str
    context_tokens: int
    json_schema: bool
    logprobs: bool
    tokenizer: bool
    served: tuple[str, ...] = ()
    context_known: bool = True


async def probe(server: Endpoint) -> ServerInfo:
    """Ask the server for a few tokens in each way. Bounded as calls are; vLLM's first log-probabilities may take 14 s.

    Raises:
        Exception: the server does not answer, or not as a model server (`Endpoint.fault` explains it).
    """
    served = await Clock.of(server.settings).wait(server.served_model(fresh=True))
    if served.listed and served.model not in served.listed:
        raise WrongAnswer(describe_unserved(served.model, served.listed))
    by_schema, with_logprobs = await _test_abilities(server, served.model)
    if by_schema is None and with_logprobs is None:
        server.quirks.max_tokens = "max_completion_tokens"  # some servers accept only this name, and some reject it
        await _request_chat(server, served.model, 1, needed=True)
        by_schema, with_logprobs = await _test_abilities(server, served.model)
    # Asked again, whatever an earlier server at this address could not do.
    server.quirks.tokenizer, server.counts_again = True, 0.0
    await Clock.of(server.settings).wait(count_tokens(server, GREETING))
    return ServerInfo(
        model=served.model,
        context_tokens=served.context_tokens,
        json_schema=_is_of_schema(by_schema),
        logprobs=bool((with_logprobs or {}).get("logprobs")),
        tokenizer=can_count_tokens(server),
        served=served.listed,
        context_known=served.context_known,
    )


async def _test_abilities(server: Endpoint, model: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    by_schema = await _request_chat(server, model, 16, response_format=build_response_format("probe", PROBE_SCHEMA))
    return by_schema, await _request_chat(server, model, 1, logprobs=True, top_logprobs=2)


async def _request_chat(
    server: Endpoint, model: str, tokens: int, *, needed: bool = False, **more: Any
) -> dict[str, Any] | None:
    """Return the reply's one choice; None if the server refuses such a request, unless it is `needed`."""
    messages = [{"role": role, "content": text} for role, text in GREETING]
    body = {"model": model, "messages": messages, "temperature": 0, server.quirks.max_tokens: tokens, **more}
    asking = server.connection().request("POST", f"{server.address.api}/chat/completions", body)
    try:
        answer = await Clock.of(server.settings).wait(asking)
    except StatusError as error:
        if error.status in REFUSAL_STATUSES and not needed:
            return None
        raise
    try:
        return dict(answer["choices"][0])
    except (TypeError, KeyError, IndexError, ValueError):
        raise WrongAnswer("does not answer as a model server: see ARGOT_MODEL_URL") from None


def _is_of_schema(choice: dict[str, Any] | None) -> bool:
    # A server may take a schema and ignore it: only a reply that keeps to it shows the ability.
    message = (choice or {}).get("message")
    text = message.get("content") if isinstance(message, dict) else None
    try:
        parse_object(str(text or ""), PROBE_SCHEMA)
    except InvalidReply:
        return False
    return True
