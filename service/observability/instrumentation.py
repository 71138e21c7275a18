"""Reports each running use case, and the surface that called it, to metrics and log.

Neither receives questions or names. Users' words are in `said_now` during their request, so that the log can keep them
out of error messages, which may repeat them (`logs.py`).
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import SecretStr

from argot.clock import timestamp
from argot.errors import (
    ArgotError,
    Conflict,
    InvalidInput,
    InvalidSettings,
    LocalError,
    NotAllowed,
    NotFound,
    RetryLater,
)

if TYPE_CHECKING:
    from argot.results import AskResult

logger = logging.getLogger(__name__)

# Set once per request; its tasks, and threads of `asyncio.to_thread`, inherit them.
surface: ContextVar[str] = ContextVar("surface", default="command")
"""The surface of the present request: chat, pages, api, openai, slack, mcp, command, service."""
request_id: ContextVar[str] = ContextVar("request_id", default="")
credential: ContextVar[tuple[str, str]] = ContextVar("credential", default=("", ""))
"""How the asker of the present request signed in (password, provider, header, key, local), and the id of a key."""
said_now: ContextVar[tuple[str, ...]] = ContextVar("said_now", default=())
secrets_now: ContextVar[tuple[str, ...]] = ContextVar("secrets_now", default=())

ASKED_AMISS = (InvalidInput, InvalidSettings, NotFound, NotAllowed, Conflict)
"""Errors that say what is wrong with a request."""
MAX_TEXT_CHARS = 20_000
"""Characters of a parameter."""
MAX_TEXTS = 20
"""Characters of a list; for a conversation the latest messages, because the present question comes last."""


def make_request_id() -> str:
    return secrets.token_hex(6)


class Listener(Protocol):
    """Receives each use case that has ended: `outcome` is the status of a question, else done, error, refused or
    stopped.
    """

    def case_ended(self, run: CaseRecord, outcome: str) -> None: ...


@contextmanager
def watch(
    listeners: Iterable[Listener], name: str, parameters: Mapping[str, Any], *, asks: bool
) -> Iterator[CaseRecord]:
    """Watch one use case; it receives each event (`Watched.saw`), and the use case's end."""
    said_now.set(tuple(text for value in parameters.values() for text in _take_latest(_list_texts(value))))
    hidden = (value.get_secret_value() for value in parameters.values() if isinstance(value, SecretStr))
    # Without empty ones, which would match between any two letters.
    secrets_now.set(tuple(filter(None, hidden)))
    watched = CaseRecord(name, asks, surface.get(), str(parameters.get("thread") or ""))
    outcome = ""
    try:
        yield watched
        outcome = watched.status
    except ArgotError as error:
        # A request to return later is no error.
        outcome = "refused" if isinstance(error, RetryLater) else "error"
        watched.error = type(error).__name__
        watched.asked_amiss = isinstance(error, ASKED_AMISS) and not isinstance(error, LocalError)
        raise
    except Exception as error:
        outcome, watched.error = "error", type(error).__name__
        raise
    finally:
        # Some callers leave as soon as they have the result: that is no stop.
        outcome = outcome or (watched.status if "result" in watched.kinds else "stopped")
        for listener in listeners:
            listener.case_ended(watched, outcome)
        if asks:
            logger.info("question %s", outcome, extra={"fields": watched.fields(outcome)})


def _list_texts(value: object) -> list[str]:
    """Return the texts of a parameter: itself, those of a list, or those in the messages of a conversation."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for one in value[-MAX_TEXTS:] for text in _list_texts(getattr(one, "content", one))]
    return []


def _take_latest(texts: Sequence[str]) -> Iterator[str]:
    """Return the last texts, `MAX_TEXT_CHARS` characters in all: every line of the log is compared with them."""
    left = MAX_TEXT_CHARS
    for text in reversed(texts):
        yield text[:left]
        left -= min(left, len(text))


class CaseRecord:
    """Record of one run of a use case. Seconds count from the request, including the wait for its turn.

    `thread`: the conversation of the request, if one was named. `data`: the result, as soon as there is one.
    """

    def __init__(self, name: str, asks: bool, surface: str, thread: str = "") -> None:
        self.name, self.asks, self.surface, self.thread = name, asks, surface, thread
        self.at = timestamp("seconds")
        self.began = time.perf_counter()
        self.first: float | None = None
        self.result: AskResult | None = None
        self.data: object = None
        self.kinds: dict[str, int] = {}
        self.stages: list[tuple[str, float]] = []
        self.error, self.asked_amiss = "", False

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def status(self) -> str:
        if not self.asks:
            return "done"
        return self.result.status if self.result else "answered"

    def saw(self, kind: str, *, name: str = "", seconds: float | None = None, data: object = None) -> None:
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if kind == "result":
            self.data = data
        if not self.asks:
            return
        if kind == "token" and self.first is None:
            self.first = self.seconds
        elif kind == "stage" and seconds is not None:
            self.stages.append((name, seconds))
        else:
            # Builds models, and what writes a log imports this module: every command.
            from argot.results import AskResult

            self.result = data if isinstance(data, AskResult) else self.result

    def fields(self, outcome: str) -> dict[str, Any]:
        """The fields for the log."""
        fields: dict[str, Any] = {"case": self.name, "status": outcome, "seconds": round(self.seconds, 3)}
        if self.first is not None:
            fields["first_token_seconds"] = round(self.first, 3)
        if self.error:
            fields["error_class"] = self.error
        return fields
