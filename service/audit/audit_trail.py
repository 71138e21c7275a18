"""The audit trail of one process: it makes events of deeds, and gives each to every destination of the settings."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Literal

from argot.errors import StoreUnavailable
from argot.service.audit.audit_actions import AUTHENTICATION, LIFECYCLE
from argot.service.audit.audit_events import STOPPED, Deed, Outcome, Resource, build_event
from argot.service.audit.audit_sinks import FileSink, HttpSender, QueueSink, SyslogSender
from argot.service.identity.people import make_local_principal
from argot.service.identity.sign_in_attempts import find_network
from argot.service.leaky_buckets import LeakyBuckets
from argot.service.observability.logs import Cleaner, list_secrets
from argot.settings import Settings, hide_setting, is_secret
from argot.shown_addresses import STARS
from argot.types import Principal

logger = logging.getLogger(__name__)

REFUSALS_PER_MINUTE = 120
"""Refused requests of one person, or of one address without a sign-in, that are recorded each minute. The rest is
counted, because anybody can send thousands.
"""
STRANGERS_REFUSALS_PER_MINUTE = 10 * REFUSALS_PER_MINUTE
"""Refused requests without a sign-in that are recorded each minute, of all addresses together."""
_UNCHECKED = ("429", "503")
"""Outcomes of sign-ins that are turned away before the password is checked."""


def make_trail(settings: Settings) -> AuditTrail | None:
    """Return the trail; None if the settings name no destination.

    Raises:
        InvalidSettings: a destination cannot be one.
    """
    audit = settings.audit
    return AuditTrail(settings) if audit.file or audit.syslog or audit.url else None


def record_command(settings: Settings, deed: Deed) -> None:
    """Record what the person at this machine did with a knowledge base that is not open."""
    if trail := make_trail(settings):
        trail.record(deed, make_local_principal())
        trail.close()


class AuditTrail:
    """Events of one process, in any of its threads.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        audit = settings.audit
        self.records_reads = audit.reads
        self._settings = settings
        self._cleaner = Cleaner(list_secrets(settings))
        self._file = FileSink(audit.file) if audit.file else None
        self._queues: list[QueueSink] = []
        if audit.syslog:
            self._queues.append(QueueSink("the syslog server", SyslogSender(audit.syslog)))
        if audit.url:
            sender = HttpSender(audit.url, audit.token.get_secret_value())
            self._queues.append(QueueSink("the address in 'audit_url'", sender))
        self._guard = threading.Lock()
        self._refusals: LeakyBuckets[tuple[str, ...]] = LeakyBuckets(60.0, clock)
        self._left_out = 0

    def count_lost(self) -> int:
        """Count the events that a destination did not get, and will not get."""
        return sum(sink.lost for sink in self._sinks())

    def _sinks(self) -> Iterable[FileSink | QueueSink]:
        return (self._file, *self._queues) if self._file else self._queues

    def require_writable(self) -> None:
        """See that the file can be written, before something is done that has to be recorded.

        Raises:
            StoreUnavailable: it cannot; what was to be done is not done.
        """
        if self._file is None:
            return
        if error := self._file.flush():
            raise StoreUnavailable(
                f"The audit file {self._file.path} cannot be written: {error.strerror or error}. Nothing was changed:"
                " a change that cannot be recorded is not made. Free space or grant the permission there, or set"
                " ARGOT_AUDIT_FILE to another path.",
                "the audit file cannot be written; free space, or grant the permission",
            )

    def record(self, deed: Deed, principal: Principal | None) -> None:
        """Record an action, or its refusal. A failure is logged, because the deed has happened."""
        if not self._admit(deed, principal):
            return
        event = build_event(deed, principal)
        with self._guard:
            left_out, self._left_out = self._left_out, 0
        if left_out:
            event.setdefault("unmapped", {})["refusals_not_recorded"] = left_out
        line = json.dumps(self._clean(event), ensure_ascii=True)
        for sink in self._sinks():
            sink.write(line)

    def record_sign_in(self, operation: str, name: str, address: str, refusal: Outcome) -> None:
        """Record that somebody signed in, or was refused. `name` is empty if nobody here is called that."""
        self.record(Deed(AUTHENTICATION, "logon", operation, refusal, user=name, address=address), None)

    def record_service(self, activity: Literal["start", "stop"]) -> None:
        """Record that the service starts, with the settings in force and secrets masked, or that it stops."""
        settings = mask_settings(self._settings) if activity == "start" else {}
        about = (Resource("service", name="argot"),)
        deed = Deed(LIFECYCLE, activity, activity, resources=about, road="service", details=settings)
        self.record(deed, None)

    def close(self) -> None:
        """Send the waiting events, and count those that cannot be sent."""
        for sink in self._sinks():
            sink.close()

    def _admit(self, deed: Deed, principal: Principal | None) -> bool:
        """Return whether a deed is recorded; count it if it is not."""
        limits = _limit_refusals(deed, principal)
        with self._guard:
            if all(self._refusals.wait(key, limit) <= 0 for key, limit in limits.items()):
                for key, limit in limits.items():
                    self._refusals.add(key, limit)
                return True
            self._left_out += 1
            is_first = self._left_out == 1
        if is_first:
            logger.warning("more than %d refusals a minute: the audit counts the rest", REFUSALS_PER_MINUTE)
        return False

    def _clean(self, value: Any) -> Any:
        """Return the value without keys and passwords, which an address of a document may contain."""
        if isinstance(value, str):
            return self._cleaner.remove_secrets(value)
        if isinstance(value, dict):
            return {name: self._clean(one) for name, one in value.items()}
        return [self._clean(one) for one in value] if isinstance(value, list) else value


def _limit_refusals(deed: Deed, principal: Principal | None) -> dict[tuple[str, ...], int]:
    """Return the counters of a refusal, each with its limit a minute; empty for a deed that is always recorded: one
    that was done, or was stopped and may be half done, or a sign-in as a person who is known here, unless it was
    turned away unchecked. `Attempts` limits those that are checked.
    """
    code = deed.outcome.code
    if code in ("", STOPPED):
        return {}
    if principal is not None:
        return {("person", principal.name): REFUSALS_PER_MINUTE}
    if deed.user and code not in _UNCHECKED:
        return {}
    sender = (deed.operation, deed.user, find_network(deed.address))
    return {sender: REFUSALS_PER_MINUTE, ("strangers",): STRANGERS_REFUSALS_PER_MINUTE}


def mask_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that somebody has set, by name; those that are secret, or may contain a secret, masked."""
    values = settings.flatten(only_given=True)
    return {name: STARS if is_secret(name) else hide_setting(name, value) for name, value in sorted(values.items())}
