"""Requests, events and errors as lines of JSON between two processes of one person."""

from __future__ import annotations

import base64
import json
from typing import Any

from argot.errors import ArgotError, RetryLater, rebuild_error
from argot.service.usecases.usecase_registry import Event

MAX_LINE = 256 * 1024 * 1024
"""Bytes of one message: a glossary file or a whole document is sent in one."""


def encode(message: Event) -> bytes:
    """Return the line of a message; bytes are sent as base64, which use cases accept as well (`uploads.Data`)."""
    return json.dumps(message, separators=(",", ":"), default=_encode_base64).encode("ascii") + b"\n"


def _encode_base64(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def decode(line: bytes) -> Event:
    """Return the message of a line.

    Raises:
        ValueError: it is no JSON object.
    """
    message: Any = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("not a JSON object")
    return message


def make_error_event(error: ArgotError) -> Event:
    wait = {"wait": error.wait} if isinstance(error, RetryLater) else {}
    return {"kind": "error", "type": type(error).__name__, "message": str(error), **wait}


def restore_error(event: Event) -> ArgotError:
    """Return the error of an event, with its own class and message."""
    error = rebuild_error(str(event.get("type")), str(event.get("message")))
    if isinstance(error, RetryLater) and isinstance(event.get("wait"), int):
        error.wait = event["wait"]
    return error
