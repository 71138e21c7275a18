"""What `argot doctor` found, one thing each."""

from __future__ import annotations

from collections.abc import Callable

from typing_extensions import TypedDict  # pydantic reads no other before Python 3.12

from argot.errors import ArgotError
from argot.remedies import REINSTALL


class Finding(TypedDict):
    """One thing looked at. `remedy` is empty where nothing is wrong."""

    name: str
    ok: bool
    detail: str
    remedy: str


def good(name: str, detail: str) -> Finding:
    return Finding(name=name, ok=True, detail=detail, remedy="")


def bad(name: str, detail: str, remedy: str) -> Finding:
    return Finding(name=name, ok=False, detail=detail, remedy=remedy)


def attempt(name: str, look: Callable[[], str], remedy: str = "") -> Finding:
    """What `look` says, or its error as a problem. The remedy stands in Argot's own errors already."""
    try:
        return good(name, look())
    except ArgotError as error:
        return bad(name, str(error), remedy or "see the message")
    # Whatever goes wrong is a finding: the doctor looks at everything else all the same.
    except Exception as error:
        return bad(name, f"{type(error).__name__}: {error}", remedy or REINSTALL)
