"""The model server as the rest of Argot sees it: one `ModelServer` per process, one `Model` per run of the graph.

Every call is bounded in time and length, asked again only where nothing was received, and recorded. What goes wrong
is a `ModelUnavailable` whose one sentence may be shown to the asker.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
import time
import weakref
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from argot.results import ModelCall
from argot.settings import Settings
from argot.tools.model.address import Address, address_of
from argot.tools.model.faults import ContextOverflow, Fault, StatusError, WrongAnswer, fault_of, named, unreachable
from argot.tools.model.model import Model

if TYPE_CHECKING:
    from argot.tools.model.client import ModelClient

__all__ = ["ContextOverflow", "Model", "ModelServer", "ServerInfo", "forget_servers"]

SILENT_SECONDS = 10.0
"""So long after nobody took a connection in time, calls fail at once instead of each waiting for itself."""
OFFER_SECONDS = 300.0
"""So long what the server serves is believed without asking again."""
LONGEST_NAME = 300
SPEAKER = "argot.tools.model.client"
DEFAULT_CONTEXT = 4096
"""Where neither the server nor the settings say: Ollama's default, which it cuts prompts to without a word."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What the server offers. `served` are all the models it lists.

    `context_known`: the context's length is the server's or the settings' word, no assumption.
    """

    model: str
    context_tokens: int
    json_schema: bool
    logprobs: bool
    tokenizer: bool
    served: tuple[str, ...] = ()
    context_known: bool = True


@dataclass(frozen=True, slots=True)
class Offer:
    """What /v1/models says, for the model in use. `at`: when, in monotonic seconds."""

    model: str
    context_tokens: int
    served: tuple[str, ...]
    is_vllm: bool
    context_known: bool
    at: float


@dataclass
class Habits:
    """What this server turned out not to take; learnt from its refusals, so that each is met once.

    `no_schema`: prompts whose schema it refused. `in_words`: it takes schemas and does not keep to them. `thinks`: its
    last answer began with a thought that no mark announced. `echoes`: an answer went over into its own prompt, and no
    thought was over behind it.
    """

    no_schema: set[str] = field(default_factory=set)
    in_words: bool = False
    tokenizer: bool = True
    usage: bool = True
    thinking_off: bool = True
    thinks: bool = False
    echoes: bool = False
    max_tokens: str = "max_tokens"

    def thinking(self, is_vllm: bool) -> dict[str, object]:
        """What keeps a reasoning model from thinking aloud, at the length of an answer, before each reply."""
        return {"chat_template_kwargs": {"enable_thinking": False}} if is_vllm and self.thinking_off else {}

    def learn(self, prompt: str, fault: Fault, sent: Collection[str]) -> bool:
        """Whether the refusal taught something, so that asking once more is worth it.

        A schema may be refused for what is in it, so that it is given up for this prompt alone.
        """
        if fault.status not in (400, 422, 501) or fault.overflow:
            return False
        if "stream_options" in fault.asked and "stream_options" in sent:
            self.usage = False
        elif "max_completion_tokens" in fault.asked and "max_tokens" in sent:
            self.max_tokens = "max_completion_tokens"
        elif "chat_template_kwargs" in sent and "chat_template" in fault.asked:
            self.thinking_off = False
        elif "response_format" in sent:
            self.no_schema.add(prompt)
        elif prompt in self.no_schema:
            self.no_schema.discard(prompt)  # it refuses the request without a schema too: that was not it
            return False
        else:
            return False
        return True


@dataclass(eq=False)
class ModelServer:
    """The server of these settings: its connections, what it offers and what was learnt of it.

    `counts_again`: before this moment, in monotonic seconds, tokens are estimated, as the tokenizer did not answer.
    """

    settings: Settings
    address: Address
    habits: Habits = field(default_factory=Habits)
    known: Offer | None = None
    counts: dict[bytes, int] = field(default_factory=dict)
    counts_again: float = 0.0
    told: Callable[[ModelCall], None] | None = None
    """Told of each call when it has ended, whoever made it."""
    _described: tuple[ServerInfo, float] | None = None
    _silent_until: float = 0.0
    _connections: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, ModelClient] = field(
        default_factory=weakref.WeakKeyDictionary
    )

    @classmethod
    def from_settings(cls, settings: Settings) -> ModelServer | None:
        """The process's one server of these settings; None where no model is to be used.

        Raises:
            InvalidSettings: the URL is none.
        """
        return _server(_OfServer(settings)) if settings.model_url.strip() else None

    def __repr__(self) -> str:
        return f"ModelServer({self.address})"

    def session(self, calls: list[ModelCall]) -> Model:
        """One run's use of the server; each call is appended to `calls`."""
        return Model(self, calls)

    def connection(self) -> ModelClient:
        """The running loop's connections: a pool belongs to the loop that made it."""
        from argot.tools.model.client import ModelClient

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
        """
        Raises:
            WrongAnswer: nobody took a connection a moment ago.
        """
        if time.monotonic() < self._silent_until:
            raise WrongAnswer(unreachable(self.address))

    def fault(self, error: Exception) -> Fault:
        """What went wrong; remembered where waiting for a connection was in vain. A refusal costs no time."""
        found = fault_of(error, self.settings, self.address)
        if found.refused and not found.again:
            self._silent_until = time.monotonic() + SILENT_SECONDS
        return found

    async def describe(self) -> ServerInfo:
        """What the server can do, found out by small requests; kept as long as what it serves is.

        Raises:
            ModelUnavailable: it does not answer them within the bounds of a call.
        """
        from argot.tools.model.probing import probe

        info, at = self._described or (None, 0.0)
        if info is None or time.monotonic() - at >= OFFER_SECONDS or (self.known and self.known.model != info.model):
            await self.load()
            try:
                info = await probe(self)
            except Exception as error:
                raise self.fault(error).error() from None
            self._described = info, time.monotonic()
        return info

    async def warm(self) -> None:
        """Do beforehand what a first call takes long for: imports, the connection, the first log-probabilities.

        Raises:
            ModelUnavailable: the server does not answer; it is found out again when a question needs it.
        """
        await self.describe()

    async def load(self) -> None:
        """Import what speaks to the server, beside everything else: a moment, which no bound counts."""
        if SPEAKER not in sys.modules:
            await asyncio.to_thread(importlib.import_module, SPEAKER)

    async def offer(self, *, fresh: bool = False) -> Offer:
        """The model in use and its context, asked of the server once in a while. Bound its time with a clock.

        Raises:
            WrongAnswer: it serves no one model.
            Exception: whatever the HTTP library raises.
        """
        asked = time.monotonic()
        async with self.connection().asking:
            known = self.known
            if known is None or known.at < (asked if fresh else asked - OFFER_SECONDS):
                known = self.known = _read_offer(await self._models(), self.settings)
            return known

    async def _models(self) -> list[dict[str, Any]]:
        """What /v1/models lists; a gateway without it is no fault where the model is named in the settings."""
        try:
            listed = await self.connection().request("GET", f"{self.address.api}/models")
        except StatusError as error:
            if error.status in (404, 405) and self.settings.model:
                return []
            raise
        data = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(data, list):
            raise WrongAnswer("lists no models at /v1/models: see ARGOT_MODEL_URL")
        named = [one for one in data if isinstance(one, dict) and isinstance(one.get("id"), str)]
        return [one for one in named if 0 < len(one["id"]) <= LONGEST_NAME and one["id"].isprintable()]


def _read_offer(models: list[dict[str, Any]], settings: Settings) -> Offer:
    served = tuple(str(one["id"]) for one in models)
    name = settings.model or _only(models)
    card = next((one for one in models if one["id"] == name), {})
    length = card.get("max_model_len")
    stated = settings.model_context or (length if type(length) is int and length > 0 else 0)
    is_vllm = card.get("owned_by") == "vllm"
    return Offer(name, stated or DEFAULT_CONTEXT, served, is_vllm, bool(stated), time.monotonic())


def _only(models: list[dict[str, Any]]) -> str:
    """The one model there is; vLLM lists adapters too, each with the model it belongs to as its parent."""
    names = list(dict.fromkeys(str(one["id"]) for one in models if not one.get("parent")))
    if len(names) == 1:
        return names[0]
    raise WrongAnswer(
        f"serves {len(names)} models ({named(names)}): name one as ARGOT_MODEL" if names else "serves no model"
    )


class _OfServer:
    """Settings, equal where they mean the same server and bounds."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._key = tuple(value for name, value in sorted(settings.model_dump().items()) if name.startswith("model"))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OfServer) and self._key == other._key


@lru_cache(maxsize=8)
def _server(of: _OfServer) -> ModelServer:
    return ModelServer(of.settings, address_of(of.settings.model_url))


def forget_servers() -> None:
    """Make the next `from_settings` start anew, as in a new process; for tests."""
    _server.cache_clear()
