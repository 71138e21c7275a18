"""Events of use cases: one listener to each run, whatever surface it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from argot import errors
from argot.errors import ArgotError, NotAllowed
from argot.service.audit.audit_actions import (
    ACCESS,
    ACCOUNT,
    ACTIONS,
    AUTHENTICATION,
    OTHER,
    READS,
    RESOURCES,
    USER_LEAVE,
    USER_UPDATE,
    Action,
)
from argot.service.audit.audit_events import DONE, MAX_RESOURCES, STOPPED, Deed, Outcome, Resource, describe_failure
from argot.service.audit.audit_trail import AuditTrail
from argot.service.identity.people import make_local_principal
from argot.service.observability.instrumentation import CaseRecord
from argot.service.threads.shared_links import SharedLink
from argot.types import Document, Principal

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase

_COUNTS = ("added", "updated", "renamed", "removed", "unchanged", "duplicate", "failed")
"""Fields of the reports about several documents."""
_RIGHTS = ACTIONS["user_set"].details
_ABOUT_USERS = (ACCOUNT, ACCESS, AUTHENTICATION)


def listen_for_audit(
    kb: KnowledgeBase, principal: Principal, name: str, parameters: Mapping[str, Any]
) -> list[CaseAudit | RefusalAudit]:
    """Return the listener that records a use case, or at least its refusal; none without an audit trail.

    Raises:
        StoreUnavailable: it would be recorded, and the file cannot be written.
    """
    if kb.audit is None:
        return []
    actions = list(_find_actions(kb, name, parameters))
    if any(action.activity != "read" for action in actions):
        kb.audit.require_writable()
    elif not actions and kb.audit.records_reads and name in READS:
        actions = [READS[name]]
    if not actions:
        return [RefusalAudit(kb, principal, parameters)]
    return [CaseAudit(kb, kb.audit, principal, action, parameters) for action in actions]


def _find_actions(kb: KnowledgeBase, name: str, parameters: Mapping[str, Any]) -> Iterator[Action]:
    """Yield the actions that a use case is about to do; of one that adds or changes, the one that applies now."""
    if name == "user_add" and not parameters["new"] and kb.people.find(parameters["name"]):
        rights, password = _has_any(parameters, *_RIGHTS), _has_any(parameters, "password", "make_password")
        if rights:
            yield ACTIONS["user_set"]
        if password:
            yield ACTIONS["user_password"]
        if not rights and not password:
            yield USER_UPDATE
    elif name == "user_roles" and not _has_any(parameters, "role", "manages"):
        if parameters["leave"]:
            yield USER_LEAVE
    elif name in ACTIONS:
        yield ACTIONS[name]


def _has_any(parameters: Mapping[str, Any], *names: str) -> bool:
    return any(parameters[name] for name in names)


def note_refusal(kb: KnowledgeBase, principal: Principal, name: str, parameters: Mapping[str, Any]) -> None:
    """Record that somebody's role is not sufficient for a use case, or for an address that is not just one (`name`:
    "GET /people"). `parameters`: its parameters, not yet checked.
    """
    if kb.audit is not None:
        action = ACTIONS.get(name) or READS.get(name) or OTHER
        kind = "address" if "/" in name else action.kind
        about = Resource(kind, name=name) if action is OTHER else _name_given(action, parameters)
        user = about.name if action.class_uid in _ABOUT_USERS else ""
        deed = Deed(action.class_uid, action.activity, name, describe_failure(NotAllowed), (about,), user)
        kb.audit.record(deed, principal)


def note_sync(kb: KnowledgeBase, principal: Principal, source: str, report: object) -> None:
    """Record that a job has synchronised a source, whether a person or the schedule started it."""
    if kb.audit is not None:
        about = (Resource("source", name=source),)
        details = _count_documents(report)
        kb.audit.record(Deed(RESOURCES, "import", "sync_job", resources=about, road="job", details=details), principal)


class RefusalAudit:
    """Records that a use case without an event of its own refused somebody who lacks a right."""

    def __init__(self, kb: KnowledgeBase, principal: Principal, parameters: Mapping[str, Any]) -> None:
        self._kb, self._principal, self._given = kb, principal, parameters

    def case_ended(self, run: CaseRecord, outcome: str) -> None:
        if run.error == NotAllowed.__name__:
            note_refusal(self._kb, self._principal, run.name, self._given)


class CaseAudit:
    """Records one run of a use case when it has ended."""

    def __init__(
        self,
        kb: KnowledgeBase,
        trail: AuditTrail,
        principal: Principal,
        action: Action,
        parameters: Mapping[str, Any],
    ) -> None:
        self._kb, self._trail, self._principal = kb, trail, principal
        self._action, self._given = action, parameters

    def case_ended(self, run: CaseRecord, outcome: str) -> None:
        action = self._action
        found = tuple(_list_resources(action.kind, run.data))[:MAX_RESOURCES] or (_name_given(action, self._given),)
        if run.name in READS:
            document = self._find_read_document()
            if document is None:
                return
            found = (Resource(action.kind, document.id, document.uri),)
        details = {name: self._given.get(name) for name in action.details}
        details |= _count_documents(run.data)
        if action.kind == "document" and isinstance(kind := getattr(run.data, "kind", None), str):
            details["result"] = kind
        user = str(self._given.get(action.name) or "") if action.class_uid in _ABOUT_USERS else ""
        activity = "update" if action.activity == "create" and _is_change(run.data) else action.activity
        deed = Deed(action.class_uid, activity, run.name, _find_outcome(run, outcome), found, user, details=details)
        self._trail.record(deed, self._principal)

    def _find_read_document(self) -> Document | None:
        """Return the document that was read, or was to be read; None if it is for everyone, or there is none."""
        store, everyone = self._kb.document_store, make_local_principal()
        try:
            if passage := self._given.get("passage_id"):
                _, document = store.passages(everyone, [passage])[passage]
            else:
                document = store.document(everyone, str(self._given.get("document")))
        except (ArgotError, KeyError):
            return None
        return document if document.audience else None


def _is_change(data: object) -> bool:
    """Return whether something that a use case was to create was there: a context, sense or document of the name."""
    return getattr(data, "version", 1) > 1 or getattr(data, "kind", "") == "updated"


def _name_given(action: Action, parameters: Mapping[str, Any]) -> Resource:
    """Return the resource as the parameters name it."""
    uid, name = (parameters.get(one) if one else None for one in (action.uid, action.name))
    return Resource(action.kind, _read_plain(uid), _read_plain(name))


def _read_plain(value: object) -> str:
    """Return an id or a name as text; empty if it is something else, which has not been checked."""
    return str(value) if isinstance(value, str | int) else ""


def _find_outcome(run: CaseRecord, outcome: str) -> Outcome:
    if outcome == "stopped":
        return Outcome(STOPPED, "it was stopped before its end; a part may be done")
    if not run.error:
        return DONE
    kind = getattr(errors, run.error, None)
    if isinstance(kind, type) and issubclass(kind, ArgotError):
        return describe_failure(kind)
    return Outcome(run.error, "it failed")


def _list_resources(kind: str, data: object) -> Iterator[Resource]:
    """Yield the resources that a result names: terms, documents, keys, or users."""
    if kind == "term":
        senses = getattr(data, "senses", None)
        for one in senses if isinstance(senses, list) else [data]:
            if term := getattr(one, "term", ""):
                yield Resource(kind, str(getattr(one, "id", "")), term)
    elif kind == "document":
        yield from _list_documents(data)
    elif isinstance(data, SharedLink):
        yield from (Resource("link", data.id), Resource("conversation", data.thread))
    elif kind in ("key", "source", "context") and (name := getattr(data, "name", "")):
        yield Resource(kind, str(getattr(data, "id", "")), name)


def _count_documents(report: object) -> dict[str, int]:
    counts = {name: getattr(report, name, None) for name in _COUNTS}
    return {name: count for name, count in counts.items() if isinstance(count, int) and count}


def _list_documents(data: object) -> Iterator[Resource]:
    if isinstance(data, list):
        for one in data:
            yield from _list_documents(one)
    elif isinstance(data, Document):
        yield Resource("document", data.id, data.uri)
    elif data is not None:
        for one in (getattr(data, "document", None), *(getattr(data, "files", None) or ())):
            if one is not None and not isinstance(one, str):
                yield from _list_documents(one)
