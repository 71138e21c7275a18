"""Events in the form of the Open Cybersecurity Schema Framework (OCSF 1.3)."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from argot import __version__
from argot.errors import (
    ArgotError,
    Conflict,
    InvalidInput,
    InvalidSettings,
    NotAllowed,
    NotFound,
    RetryLater,
    StoreUnavailable,
)
from argot.service.audit.audit_actions import ACTIVITIES, CLASS_NAMES
from argot.service.identity.people import role_of
from argot.service.observability.instrumentation import credential, request_id, surface
from argot.types import Principal

OCSF_VERSION = "1.3.0"
OTHER_ACTIVITY = 99
MAX_RESOURCES = 1000
"""Resources, or values of a list, that one event names."""
MAX_VALUE_CHARS = 300
"""Characters of one text in an event."""
REASONS: tuple[tuple[type[ArgotError], str], ...] = (
    (NotAllowed, "the actor may not do this"),
    (NotFound, "there is no such resource, or the actor may not see it"),
    (Conflict, "the resource was changed meanwhile, or exists already"),
    (InvalidSettings, "the settings do not allow it"),
    (InvalidInput, "the request was not valid"),
    (StoreUnavailable, "a store cannot be used"),
    (RetryLater, "not now"),
)
"""Why an action failed, in words of our own: the message of an error may repeat what somebody wrote."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A thing that an event is about; `uid` and `name` may be empty."""

    kind: str
    uid: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of an action. `code`: the class of the error; empty: it was done."""

    code: str = ""
    detail: str = ""


DONE = Outcome()
STOPPED = "Stopped"
"""Code of the outcome of an action that was stopped before its end."""


@dataclass(frozen=True, slots=True)
class Deed:
    """A person's action, before it becomes an event. `operation`: the use case, or the code that did it.

    `user`: the name of the person whom it concerns; `road`: how it came in, if not through the present surface.
    """

    class_uid: int
    activity: str
    operation: str
    outcome: Outcome = DONE
    resources: tuple[Resource, ...] = ()
    user: str = ""
    road: str = ""
    address: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


def describe_failure(error: type[ArgotError]) -> Outcome:
    reason = next((text for kind, text in REASONS if issubclass(error, kind)), "it failed")
    return Outcome(error.__name__, reason)


def build_event(deed: Deed, principal: Principal | None) -> dict[str, Any]:
    """Build the event of a deed that ends now. `principal` None: nobody has signed in."""
    now = time.time()
    number = ACTIVITIES[deed.class_uid].get(deed.activity, OTHER_ACTIVITY)
    event: dict[str, Any] = {
        "metadata": {
            "version": OCSF_VERSION,
            "uid": secrets.token_hex(12),
            "product": {"name": "Argot", "vendor_name": "Argot", "version": __version__},
        },
        "time": int(now * 1000),
        "time_dt": datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds"),
        "category_uid": deed.class_uid // 1000,
        "class_uid": deed.class_uid,
        "class_name": CLASS_NAMES[deed.class_uid],
        "activity_id": number,
        "activity_name": deed.activity.capitalize(),
        "type_uid": deed.class_uid * 100 + number,
        "severity_id": 1,
        "status_id": 2 if deed.outcome.code else 1,
        "status": "Failure" if deed.outcome.code else "Success",
        "actor": _describe_actor(principal, deed.road),
        "api": {"operation": deed.operation},
    }
    if request_id.get():
        event["metadata"]["correlation_uid"] = request_id.get()
    if deed.outcome.code:
        event |= {"status_code": deed.outcome.code, "status_detail": deed.outcome.detail}
    if deed.user:
        event["user"] = {"name": _shorten(deed.user)}
    if deed.resources:
        event["resources"] = list(_describe_resources(deed.resources))
    if deed.address:
        event["src_endpoint"] = {"ip": deed.address}
    if details := {name: _plain(value) for name, value in deed.details.items() if value not in (None, [], (), "")}:
        event["unmapped"] = details
    return event


def _describe_actor(principal: Principal | None, road: str) -> dict[str, Any]:
    actor: dict[str, Any] = {"app_name": road or surface.get()}
    if principal is not None:
        actor["user"] = {"name": principal.name, "type": role_of(principal)}
    method, key = credential.get()
    if method:
        actor["session"] = {"issuer": method} | ({"credential_uid": key} if key else {})
    return actor


def _describe_resources(resources: Iterable[Resource]) -> Iterable[dict[str, str]]:
    for one in tuple(resources)[:MAX_RESOURCES]:
        named = {"type": one.kind, "uid": _shorten(one.uid), "name": _shorten(one.name)}
        yield {name: value for name, value in named.items() if value}


def _plain(value: Any) -> Any:
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in (sorted(value) if isinstance(value, set | frozenset) else value)][:MAX_RESOURCES]
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    return _shorten(str(value))


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[:MAX_VALUE_CHARS]}..."
