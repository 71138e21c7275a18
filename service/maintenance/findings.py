"""Findings of `argot doctor`, one for each check."""

from __future__ import annotations

from collections.abc import Callable

from typing_extensions import TypedDict  # pydantic supports no other before Python 3.12

from argot.errors import ArgotError
from argot.remedies import REINSTALL


class Finding(TypedDict):
    """The result of one check. `remedy` is empty if nothing is wrong."""

    name: str
    ok: bool
    detail: str
    remedy: str


def make_good_finding(name: str, detail: str) -> Finding:
    return Finding(name=name, ok=True, detail=detail, remedy="")


def make_bad_finding(name: str, detail: str, remedy: str) -> Finding:
    return Finding(name=name, ok=False, detail=detail, remedy=remedy)


def check_by(name: str, look: Callable[[], str], remedy: str = "") -> Finding:
    """Report the text of `look`, or its error as a problem. Argot's own errors already contain their remedy."""
    try:
        return make_good_finding(name, look())
    except ArgotError as error:
        return make_bad_finding(name, str(error), remedy or "see the message")
    # Every error is a finding: the doctor continues with all other checks.
    except Exception as error:
        return make_bad_finding(name, f"{type(error).__name__}: {error}", remedy or REINSTALL)
