"""The use cases that leave an audit event: the class and activity of each (OCSF 1.3), and what of it may be named.

Nothing but what this table names gets from a use case into an event, so no question, passage, definition or password
does.
"""

from __future__ import annotations

from typing import NamedTuple

ACCOUNT, AUTHENTICATION, ENTITY, ACCESS = 3001, 3002, 3004, 3005
RESOURCES, LIFECYCLE, API = 6001, 6002, 6003
CLASS_NAMES = {
    ACCOUNT: "Account Change",
    AUTHENTICATION: "Authentication",
    ENTITY: "Entity Management",
    ACCESS: "User Access Management",
    RESOURCES: "Web Resources Activity",
    LIFECYCLE: "Application Lifecycle",
    API: "API Activity",
}
ACTIVITIES = {
    ACCOUNT: {"create": 1, "enable": 2, "password change": 3, "password reset": 4, "disable": 5, "delete": 6},
    AUTHENTICATION: {"logon": 1, "logoff": 2},
    ENTITY: {"create": 1, "read": 2, "update": 3, "delete": 4},
    ACCESS: {"assign privileges": 1, "revoke privileges": 2},
    RESOURCES: {"create": 1, "read": 2, "update": 3, "delete": 4, "import": 6, "export": 7, "share": 8},
    LIFECYCLE: {"start": 3, "stop": 4},
    API: {"create": 1, "read": 2, "update": 3, "delete": 4},
}
"""The number of each activity within its class; one that a class does not have is 99 (other)."""


class Action(NamedTuple):
    """A use case that is recorded.

    `kind`: the kind of its resource. `uid`: the parameter with the resource's id, and `name` the one with its name (a
    user, a term); where the result has the resource, it names it more exactly. `details`: further parameters that the
    event contains: names of groups, roles, contexts, and switches; never free text.
    """

    class_uid: int
    activity: str
    kind: str
    uid: str = ""
    name: str = ""
    details: tuple[str, ...] = ()


def _term(activity: str, uid: str = "", name: str = "", *details: str) -> Action:
    return Action(ENTITY, activity, "term", uid, name, details)


def _document(activity: str, name: str = "", *details: str) -> Action:
    return Action(RESOURCES, activity, "document", "", name, details)


_RIGHTS = ("groups", "role", "manages")

ACTIONS: dict[str, Action] = {
    # People, their rights and keys.
    "user_add": Action(ACCOUNT, "create", "user", "", "name", _RIGHTS),
    "user_set": Action(ACCESS, "assign privileges", "user", "", "name", _RIGHTS),
    "user_roles": Action(ACCESS, "assign privileges", "user", "", "name", ("role", "manages", "leave")),
    "user_password": Action(ACCOUNT, "password reset", "user", "", "name"),
    "user_suspend": Action(ACCOUNT, "disable", "user", "", "name"),
    "user_restore": Action(ACCOUNT, "enable", "user", "", "name"),
    "user_link": Action(ACCOUNT, "link with the provider", "user", "", "name"),
    "user_unlink": Action(ACCOUNT, "unlink from the provider", "user", "", "name"),
    "user_end_sessions": Action(AUTHENTICATION, "logoff", "user", "", "name"),
    "user_export": Action(RESOURCES, "export", "user", "", "name"),
    "user_erase": Action(ACCOUNT, "delete", "user", "", "name"),
    "key_add": Action(ENTITY, "create", "key", "", "", ("user", "days")),
    "key_revoke": Action(ENTITY, "delete", "key", "key"),
    "slack_channel_set": Action(ENTITY, "update", "slack channel", "channel"),
    "slack_channel_forget": Action(ENTITY, "delete", "slack channel", "channel"),
    "slack_people_link": Action(ACCOUNT, "link with slack", "user", "", "user"),
    "slack_people_unlink": Action(ACCOUNT, "unlink from slack", "slack account", "slack_user", "", ("team",)),
    # The glossary.
    "context_add": Action(ENTITY, "create", "context", "", "name", ("audience",)),
    "context_save": Action(ENTITY, "update", "context", "context_id", "", ("audience",)),
    "glossary_add": _term("create", "", "term", "context", "audience"),
    "glossary_draft": _term("create", "", "term", "context", "audience"),
    "glossary_save": _term("update", "sense_id", "", "audience"),
    "glossary_approve": _term("approve", "sense_id"),
    "glossary_retire": _term("retire", "sense_id"),
    "glossary_accept": _term("accept proposal", "proposal_id", "", "status"),
    "glossary_accept_many": _term("accept proposals", "", "", "status"),
    "glossary_approve_many": _term("approve"),
    "glossary_merge": _term("merge", "sense_id"),
    "glossary_alias": _term("update", "sense_id"),
    "glossary_dismiss": _term("dismiss proposal", "proposal_id"),
    "glossary_reopen": _term("reopen proposal", "proposal_id"),
    "glossary_dismiss_miss": _term("dismiss", "", "term"),
    "glossary_let_stand": Action(ENTITY, "accept", "conflict"),
    "glossary_take_up": Action(ENTITY, "reopen", "conflict"),
    "glossary_review": _term("assign reviewer", "proposal_id"),
    "term_suggest": _term("suggest", "", "term", "context"),
    "term_confirm": _term("confirm proposal", "proposal_id"),
    "glossary_roll_back": _term("roll back", "", "term", "change", "force"),
    "glossary_import": Action(RESOURCES, "import", "glossary"),
    "glossary_import_file": Action(RESOURCES, "import", "glossary", "", "", ("format",)),
    "glossary_export": Action(RESOURCES, "export", "glossary"),
    "glossary_export_file": Action(RESOURCES, "export", "glossary", "", "", ("format",)),
    # Documents, and where they come from.
    "add": _document("create", "", "audience", "paths"),
    "upload": _document("create", "name", "audience"),
    "document_fetch": _document("create", "address", "audience"),
    "remove": _document("delete", "document", "forever"),
    "document_label": Action(RESOURCES, "update", "document", "", "document", ("audience",)),
    "document_reread": _document("update", "document"),
    "document_replace": _document("update", "document"),
    "document_bring_back": _document("update", "document", "revision"),
    "document_change": _document("update", "", "documents", "change"),
    "document_restore": _document("restore", "document"),
    "removed_erase": _document("delete", "document"),
    "source_add": Action(ENTITY, "create", "source", "", "name", ("address", "kind", "audience")),
    "source_remove": Action(ENTITY, "delete", "source", "", "name", ("with_documents",)),
    "source_sync": Action(RESOURCES, "import", "source", "", "name", ("confirm",)),
    "source_sync_start": Action(RESOURCES, "import", "source", "", "name", ("confirm",)),
    "reindex": Action(RESOURCES, "update", "index"),
    # What leaves the knowledge base, or changes how it answers.
    "backup": Action(RESOURCES, "export", "knowledge base", "", "path"),
    "thread_export": Action(RESOURCES, "export", "conversation", "thread"),
    "thread_link_add": Action(RESOURCES, "share", "conversation", "thread"),
    "thread_link_withdraw": Action(RESOURCES, "withdraw share", "link"),  # the result names it: a secret may be typed
    "verified_add": Action(RESOURCES, "create", "verified answer", "", "", ("thread", "turn")),
    "verified_renew": Action(RESOURCES, "update", "verified answer", "answer"),
    "verified_remove": Action(RESOURCES, "delete", "verified answer", "answer"),
    "thread_delete": Action(RESOURCES, "delete", "conversation", "thread"),
    "my_data": Action(RESOURCES, "export", "user"),
    "data_export": Action(RESOURCES, "export", "training pairs", "", "name"),
    "data_import": Action(RESOURCES, "import", "training pairs", "", "name"),
    "data_remove": Action(RESOURCES, "delete", "training pairs", "", "name"),
    "rating_export": Action(RESOURCES, "export", "rating study", "study"),
    "rating_remove": Action(RESOURCES, "delete", "rating study", "study"),
    "administration": Action(ENTITY, "read", "settings"),
    "profile_save": Action(ENTITY, "update", "profile", "", "name"),
    "model_adopt": Action(ENTITY, "update", "model", "run"),
    "model_adopt_start": Action(ENTITY, "update", "model", "run"),
    "model_back": Action(ENTITY, "update", "model", "", "kind"),
    "model_back_start": Action(ENTITY, "update", "model", "", "kind"),
}

USER_UPDATE = Action(ACCOUNT, "update", "user", "", "name")
"""A `user_add` of somebody who exists, with neither rights nor a password."""
USER_LEAVE = Action(ACCESS, "revoke privileges", "user", "", "name", ("leave",))
"""A `user_roles` that takes groups away, and gives nothing."""

READS: dict[str, Action] = {
    name: _document("read", "document")
    for name in (
        "show", "document_text", "document_page", "document_contents", "document_part", "document_compare",
        "document_pictures", "document_picture", "read_source", "read_original",
    )
} | {
    name: _document("read")
    for name in ("read_passage", "page_picture", "passage_pictures")
}  # fmt: skip
"""Recorded if `audit_reads` is on, and the document is restricted."""

OTHER = Action(API, "other", "use case")
"""A use case, or an address, that is recorded only when it is refused because the person lacks a role."""
