"""Faults of calls: each in one clause for people, and whether asking again is safe and may help.

No clause contains text from the server: an error of a model server often quotes the prompt.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass

from argot.errors import ModelUnavailable
from argot.settings import Settings
from argot.tools.llm.address import ModelAddress
from argot.tools.llm.limits import BodyTooLarge, TooLate
from argot.tools.llm.structured_output import InvalidReply

# Servers have no common code for it, only words: "maximum context length", "prompt is too long", "max_model_len".
OVERFLOW = re.compile(
    r"context.{0,20}(length|size|window)|maximum (model )?length|max_model_len|too many tokens"
    r"|(prompt|input).{0,20}too long",
    re.IGNORECASE,
)
TOO_LONG_CLAUSE = "says that the prompt is longer than its model's context"
STATUS_CLAUSES = {
    300: ("sends elsewhere", ": give that address as ARGOT_MODEL_URL"),
    401: ("refused the key", ": set ARGOT_MODEL_KEY"),
    403: ("refused the key", ": set ARGOT_MODEL_KEY"),
    404: ("knows no such model or address", ": see ARGOT_MODEL and ARGOT_MODEL_URL"),
    429: ("has too much to do", ""),
    500: ("failed", ""),
    502: ("failed", ""),
    503: ("is not ready", ""),
}
UNREADABLE_CLAUSES: dict[type[BaseException], str] = {
    UnicodeError: "no UTF-8",
    RecursionError: "JSON of too many layers",
    json.JSONDecodeError: "broken JSON",
}
MAX_ERROR_CHARS = 4000
"""Characters examined of a server's own error text."""
MAX_NAMED_MODELS = 8
MAX_SHOWN_CHARS = 60
"""Characters of a model's name in a sentence: the server may have chosen any length."""
SUBJECT = "The language model server"
# Not 429: a busy server must not get another request.
RETRY_STATUSES = (500, 502, 503)
REFUSAL_STATUSES = (400, 422, 501)
"""With these a server refuses a field of the request."""
UNREADY_STATUSES = (502, 503)
SERVER_ERROR = 500


class ContextOverflow(ModelUnavailable):
    """The prompt is longer than the model's context: the call can succeed with less of it."""


class MalformedReply(ModelUnavailable):
    """The server answers, but the model's reply is not in the requested form: another call may succeed."""


class TooLong(Exception):
    """A prompt would not fit, by its count before it was sent."""


class WrongAnswer(Exception):
    """The server answered, but not as a model server does. Its message is the clause."""


class StatusError(Exception):
    """The server answered with a status other than 200. `said`: the text it sent, never to be shown."""

    def __init__(self, status: int, said: str = "") -> None:
        self.status = status
        self.said = said[:MAX_ERROR_CHARS]
        super().__init__(f"status {status}")


class ServerFailed(Exception):
    """The server reported a failure within its answer. `said`: its words, never to be shown."""

    def __init__(self, said: str) -> None:
        self.said = said[:MAX_ERROR_CHARS]
        super().__init__("failed while answering")


@dataclass(frozen=True, slots=True)
class Fault:
    """`clause` continues the `subject`: "The language model server ...".

    `again`: a second attempt may succeed. `refused`: no connection was made. `overflow`: the prompt is too long.
    `invalid`: the reply is no valid JSON; `schema_ignored`: and it was not merely cut off. `status`: of HTTP, 0 if
    there was none. `asked`: the server's text in lower case, for identifying the field it refused.
    """

    clause: str
    again: bool = False
    refused: bool = False
    overflow: bool = False
    invalid: bool = False
    schema_ignored: bool = False
    status: int = 0
    asked: str = ""
    subject: str = SUBJECT

    @property
    def concerns_tools(self) -> bool:
        """True if the reason may be the tools of the request: a server refuses them with one of several statuses, and a
        model writes words instead of calls, or calls that are not valid.
        """
        return self.invalid or (not self.overflow and (self.status in REFUSAL_STATUSES or self.status >= SERVER_ERROR))

    def error(self) -> ModelUnavailable:
        kind = ContextOverflow if self.overflow else MalformedReply if self.invalid else ModelUnavailable
        return kind(f"{self.subject} {self.clause}.")


def build_fault(error: Exception, settings: Settings, address: ModelAddress) -> Fault:
    """Return the fault behind an exception of a call."""
    if isinstance(error, StatusError):
        return _read_status(error.status, error.said)
    if isinstance(error, ServerFailed):
        return Fault(TOO_LONG_CLAUSE, overflow=True) if OVERFLOW.search(error.said) else Fault("failed while answering")
    return (
        _read_own_error(error, settings)
        or _read_transport_error(error, address)
        or Fault(f"sent what cannot be read: {_describe_unreadable(error)}")
    )


def _read_own_error(error: BaseException, settings: Settings) -> Fault | None:
    if isinstance(error, TooLate):
        return Fault(_describe_timeout(error, settings))
    if isinstance(error, InvalidReply):
        clause = f"did not reply with the JSON it was asked for: {error.reason}"
        return Fault(clause, again=True, invalid=True, schema_ignored=not error.cut_off)
    if isinstance(error, TooLong):
        return Fault("has too short a context for this prompt: see ARGOT_MODEL_CONTEXT", overflow=True)
    if isinstance(error, BodyTooLarge):
        return Fault("sent more than an answer can be long")
    if isinstance(error, ModelUnavailable):
        return Fault(str(error).removeprefix(SUBJECT).strip(" ."), overflow=isinstance(error, ContextOverflow))
    return Fault(str(error)) if isinstance(error, WrongAnswer) else None


def _describe_timeout(error: TooLate, settings: Settings) -> str:
    if error.first:
        return f"sent nothing within {settings.model_server.first_token_seconds:g} s"
    return f"was not done within {settings.model_server.call_seconds:g} s"


def _read_status(status: int, body: str) -> Fault:
    asked = body.lower()
    if status == 413 or (status in (400, 422) and OVERFLOW.search(asked)):
        return Fault(TOO_LONG_CLAUSE, overflow=True, status=status)
    if clause := STATUS_CLAUSES.get(300 if 300 <= status < 400 else status):
        return Fault(f"{clause[0]} ({status}){clause[1]}", again=status in RETRY_STATUSES, status=status)
    if status < 400 or status > 599:
        return Fault(f"answers as no model server does ({status}): see ARGOT_MODEL_URL", status=status)
    verb = "refused the request" if status < 500 or status == 501 else "failed"
    return Fault(f"{verb} ({status})", status=status, asked=asked)


def _read_transport_error(error: Exception, address: ModelAddress) -> Fault | None:
    """Return the fault of an httpx exception; httpx is imported only where one can occur."""
    import httpx

    # Before the other connection failures: a setting fixes this one, and asking again is no use.
    if isinstance(error, httpx.ConnectError) and _is_distrust(error):
        return Fault("shows a certificate that is not trusted: name its authority's file as SSL_CERT_FILE")
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        # A refused connection came at once, a timeout has already cost its seconds.
        return Fault(describe_unreachable(address), again=isinstance(error, httpx.ConnectError), refused=True)
    if isinstance(error, httpx.TimeoutException):
        return Fault("did not answer in time")
    if isinstance(error, httpx.ProxyError):
        return Fault("cannot be reached through the proxy of the environment: see HTTPS_PROXY and NO_PROXY")
    # The base class of all others, so last: these connections broke off midway.
    if isinstance(error, httpx.HTTPError):
        return Fault("broke off the connection", again=True)
    return None


def _is_distrust(error: BaseException | None) -> bool:
    """Return whether a certificate was refused: httpx distinguishes it from other connection failures only by the
    cause.
    """
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error is not None


def _describe_unreadable(error: Exception) -> str:
    """Return a description of the unreadable reply for people."""
    for kind, words in UNREADABLE_CLAUSES.items():
        if isinstance(error, kind):
            return words
    return "something that is no part of an answer"


def describe_unreachable(address: ModelAddress) -> str:
    return f"cannot be reached at {address}: start it, or mend ARGOT_MODEL_URL"


def describe_unserved(model: str, served: Sequence[str]) -> str:
    return f"does not serve the model {model}, but {shorten_names(served)}: set ARGOT_MODEL"


def shorten_names(models: Sequence[str]) -> str:
    """Return some of the models in one line, each short enough that the sentence around it stays readable."""
    shown = [" ".join(name.split()) for name in models[:MAX_NAMED_MODELS]]
    more = [f"{len(models) - MAX_NAMED_MODELS} more"] if len(models) > MAX_NAMED_MODELS else []
    return ", ".join([name if len(name) <= MAX_SHOWN_CHARS else f"{name[:MAX_SHOWN_CHARS]}…" for name in shown] + more)
