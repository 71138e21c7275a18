"""The model server as calls see it: its connections, its models, and the fields it has refused."""

from __future__ import annotations

import asyncio
import importlib
import sys
import time
import weakref
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from argot.results import ModelCall
from argot.settings import Settings
from argot.tools.llm.address import ModelAddress
from argot.tools.llm.faults import (
    REFUSAL_STATUSES,
    SUBJECT,
    UNREADY_STATUSES,
    Fault,
    StatusError,
    WrongAnswer,
    build_fault,
    describe_unreachable,
    shorten_names,
)

if TYPE_CHECKING:
    from argot.tools.llm.model_client import ModelClient

SILENT_SECONDS = 10.0
"""For this long after a connection timed out, calls fail at once instead of each waiting for its timeout."""
OFFER_SECONDS = 300.0
"""How long the list of models is used before the server is asked again."""
MAX_TOOLS_MISSED = 2
MAX_NAME_CHARS = 300  # characters of a model's name, which people see
CLIENT_MODULE = "argot.tools.llm.model_client"
DEFAULT_CONTEXT = 4096
"""Used if neither server nor settings state one: Ollama's default, to which it cuts prompts silently."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """Entry of /v1/models for the model in use. `at`: when the server was asked, in monotonic seconds."""

    model: str
    context_tokens: int
    listed: tuple[str, ...]
    is_vllm: bool
    context_known: bool
    at: float


@dataclass
class ServerQuirks:
    """Features that this server does not accept; learnt from its refusals, so that each happens only once.

    `no_schema`: prompts whose schema it refused. `in_words`: it accepts schemas but ignores them. `thinks`: its last
    answer began with a thought that no mark announced. `echoes`: an answer continued with its own prompt, and it was no
    thought. `tools`: the server accepts tools, and its model calls them; `tools_missed`: how many calls in succession
    it answered only without them.
    """

    no_schema: set[str] = field(default_factory=set)
    in_words: bool = False
    tokenizer: bool = True
    usage: bool = True
    thinking_off: bool = True
    thinks: bool = False
    echoes: bool = False
    tools: bool = True
    tools_missed: int = 0
    max_tokens: str = "max_tokens"

    def thinking(self, is_vllm: bool) -> dict[str, object]:
        """Return the field that keeps a reasoning model from thinking aloud, at length, before each reply."""
        return {"chat_template_kwargs": {"enable_thinking": False}} if is_vllm and self.thinking_off else {}

    def note_tools(self, fault: Fault | None) -> None:
        """Note a reply to a prompt with tools. `fault`: of the attempt with tools, if only one without succeeded."""
        if fault is None:
            self.tools_missed = 0
            return
        self.tools_missed += 1
        # One reply that is cut off, or a server that restarts, must not take the tools from everybody.
        is_refusal = not fault.invalid and fault.status not in UNREADY_STATUSES
        self.tools = not is_refusal and self.tools_missed < MAX_TOOLS_MISSED

    def learn(self, prompt: str, fault: Fault, sent: Collection[str]) -> bool:
        """Return whether the refusal identified a field to leave out, so that asking once more is worthwhile.

        A schema may be refused for its content, so that only this prompt goes without it.
        """
        # Other statuses do not refuse a field.
        if fault.status not in REFUSAL_STATUSES or fault.overflow:
            return False
        # From the most certain to the least: fields that the refusal names, then the schema, which it may not name.
        if "stream_options" in fault.asked and "stream_options" in sent:
            self.usage = False
        elif "max_completion_tokens" in fault.asked and "max_tokens" in sent:
            self.max_tokens = "max_completion_tokens"
        elif "chat_template_kwargs" in sent and "chat_template" in fault.asked:
            self.thinking_off = False
        elif "tools" in sent:
            return False  # `note_tools`, once a request without them succeeds
        elif "response_format" in sent:
            self.no_schema.add(prompt)
        elif prompt in self.no_schema:
            self.no_schema.discard(prompt)  # it also refuses the request without a schema
            return False
        else:
            return False
        return True


@dataclass(eq=False)
class Endpoint:
    """The server of these settings: its connections, its models and its learnt quirks.

    `counts_again`: until then (monotonic seconds) tokens are estimated, since the tokenizer did not answer.
    """

    settings: Settings
    address: ModelAddress
    quirks: ServerQuirks = field(default_factory=ServerQuirks)
    known: ServedModel | None = None
    counts: dict[bytes, int] = field(default_factory=dict)
    counts_again: float = 0.0
    told: Callable[[ModelCall], None] | None = None
    """Receives each call when it has ended, whoever made it."""
    subject: ClassVar[str] = SUBJECT
    """The server, in sentences about its faults."""
    _silent_until: float = 0.0
    _connections: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, ModelClient] = field(
        default_factory=weakref.WeakKeyDictionary
    )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address})"

    def connection(self) -> ModelClient:
        """Return the running loop's connections: a pool belongs to the loop that made it."""
        from argot.tools.llm.model_client import ModelClient

        loop = asyncio.get_running_loop()
        for closed in [one for one in self._connections if one.is_closed()]:
            del self._connections[closed]
        if loop not in self._connections:
            self._connections[loop] = ModelClient(self.settings, self.address)
        return self._connections[loop]

    async def aclose(self) -> None:
        """Close the running loop's connections."""
        connection = self._connections.pop(asyncio.get_running_loop(), None)
        if connection is not None:
            await connection.aclose()

    def refuse_if_down(self) -> None:
        """Refuse a call if a connection just timed out.

        Raises:
            WrongAnswer: no connection could be made a moment ago.
        """
        if time.monotonic() < self._silent_until:
            raise WrongAnswer(describe_unreachable(self.address))

    def mark_reached(self) -> None:
        self._silent_until = 0.0

    def fault(self, error: Exception) -> Fault:
        """Return the fault of an error; remembered if a connection timed out. A refused connection costs no time."""
        found = build_fault(error, self.settings, self.address)
        if found.refused and not found.again:
            self._silent_until = time.monotonic() + SILENT_SECONDS
        return found

    async def load(self) -> None:
        """Import the HTTP client in a thread: it takes a moment, which counts against no limit."""
        if CLIENT_MODULE not in sys.modules:
            await asyncio.to_thread(importlib.import_module, CLIENT_MODULE)

    async def served_model(self, *, fresh: bool = False) -> ServedModel:
        """Return the model in use and its context; requested from the server every `OFFER_SECONDS`. Callers limit the
        time.

        Raises:
            WrongAnswer: it does not serve exactly one model.
            Exception: any error of the HTTP library.
        """
        asked = time.monotonic()
        async with self.connection().asking:
            known = self.known
            # Under the lock: calls that waited for it find a list newer than `asked`, and do not ask again.
            if known is None or known.at < (asked if fresh else asked - OFFER_SECONDS):
                known = self.known = _read_served_model(await self._list_models(), self.settings)
            return known

    async def _list_models(self) -> list[dict[str, Any]]:
        """Return the models that /v1/models lists; a gateway may lack that address if the settings name the model."""
        try:
            listed = await self.connection().request("GET", f"{self.address.api}/models")
        except StatusError as error:
            if error.status in (404, 405) and self.settings.model_server.name:
                return []
            raise
        data = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(data, list):
            raise WrongAnswer("lists no models at /v1/models: see ARGOT_MODEL_URL")
        entries = [one for one in data if isinstance(one, dict) and isinstance(one.get("id"), str)]
        # Names are written to messages and logs, so none may contain line breaks or terminal escapes.
        return [one for one in entries if 0 < len(one["id"]) <= MAX_NAME_CHARS and one["id"].isprintable()]


def _read_served_model(models: list[dict[str, Any]], settings: Settings) -> ServedModel:
    served = tuple(str(one["id"]) for one in models)
    name = settings.model_server.name or _get_only_model(models)
    card = next((one for one in models if one["id"] == name), {})
    length = card.get("max_model_len")
    # `type`, not `isinstance`: true and false are integers in Python.
    stated = settings.model_server.context_tokens or (length if type(length) is int and length > 0 else 0)
    is_vllm = card.get("owned_by") == "vllm"
    return ServedModel(name, stated or DEFAULT_CONTEXT, served, is_vllm, bool(stated), time.monotonic())


def _get_only_model(models: list[dict[str, Any]]) -> str:
    """Return the only model; vLLM lists adapters too, each with the model it belongs to as its parent."""
    names = list(dict.fromkeys(str(one["id"]) for one in models if not one.get("parent")))
    if len(names) == 1:
        return names[0]
    raise WrongAnswer(
        f"serves {len(names)} models ({shorten_names(names)}): name one as ARGOT_MODEL" if names else "serves no model"
    )
