"""Reads a pressed button or a submitted form: who, in which conversation, and whether it was sent before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal

from argot.slack.app.event_filter import SlackJob
from argot.slack.app.modals import OTHER, TERM

TWICE_SECONDS = 30
"""The same button pressed again within about this time counts once."""


def who(body: Mapping[str, Any], home: str) -> tuple[str, str]:
    """Our workspace, `home` where that is known, and the person, wherever that one is from."""
    return home or str((body.get("team") or {}).get("id") or ""), presser(body)


def presser(body: Mapping[str, Any]) -> str:
    return str((body.get("user") or {}).get("id") or "")


def value_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the pressed button says, of Slack's own feedback buttons too; a shortcut says nothing."""
    action = (body.get("actions") or [{}])[0]
    try:
        value = json.loads(str(action.get("value") or "{}"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def job_of_press(body: Mapping[str, Any], home: str) -> SlackJob:
    """A job in the thread of the message whose button it was."""
    team, user = who(body, home)
    value = value_of(body)
    container = body.get("container") or {}
    message = body.get("message") or {}
    channel = str((body.get("channel") or {}).get("id") or container.get("channel_id") or "")
    ts = str(message.get("ts") or container.get("message_ts") or "")
    thread_ts = str(message.get("thread_ts") or container.get("thread_ts") or ts)
    return SlackJob(
        # Each press has a time of its own, so that answers to several presses on one message are told apart.
        "choice", team, channel, user, f"{ts}#{key_of(body)}", thread_ts,
        direct=channel.startswith("D"), outsiders=bool(value.get("o")), thread=str(value.get("t", "")),
        turn=int(value.get("n") or 0), ephemeral=bool(container.get("is_ephemeral")),
        threaded=bool(message.get("thread_ts") or container.get("thread_ts")),
    )  # fmt: skip


def job_of_form(body: Mapping[str, Any], home: str, kind: Literal["choice", "sense"]) -> SlackJob:
    """A job in the thread of the message that the form was opened from."""
    team, user = who(body, home)
    kept = kept_in(body["view"])
    channel = str(kept.get("c", ""))
    return SlackJob(
        kind, team, channel, user, "", str(kept.get("ts", "")),
        direct=channel.startswith("D"), thread=str(kept.get("t", "")), turn=int(kept.get("n") or 0),
        threaded=bool(kept.get("th")), ephemeral=bool(kept.get("e")), outsiders=bool(kept.get("o")),
    )  # fmt: skip


def kept_of(job: SlackJob) -> dict[str, Any]:
    """What a form has to know of the message it was opened from."""
    shown = {"e": job.ephemeral, "o": job.outsiders, "th": job.threaded}
    return {"t": job.thread, "n": job.turn, "c": job.channel, "ts": job.thread_ts, **shown}


def kept_in(view: Mapping[str, Any]) -> dict[str, Any]:
    """What `kept_of` gave the form."""
    kept: dict[str, Any] = json.loads(view.get("private_metadata") or "{}")
    return kept


def once(job: SlackJob, body: Mapping[str, Any]) -> str:
    """The key under which a button pressed twice in a row asks once; empty: each press counts."""
    # A choice once by one person, since others are told that it is over; a question in other words once by anybody.
    message = job.ts.partition("#")[0]
    by = {"choice": job.user, "again": ""}.get(job.kind)
    at = str(body["actions"][0].get("action_ts") or "")
    if by is None or not at.partition(".")[0].isdigit():
        return ""
    soon = str(int(at.partition(".")[0]) // TWICE_SECONDS)
    return "o:" + hashed(job.kind, job.channel, message, job.thread, str(job.turn), by, job.text, soon)


def hashed(*parts: str) -> str:
    # Joined by a control character, so that ("a", "bc") and ("ab", "c") differ. Keys stay when words are
    # deleted.
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def key_of(body: Mapping[str, Any]) -> str:
    """The key by which a press is known again when Slack sends it again: who pressed what, when."""
    actions = body.get("actions") or [{}]
    view = body.get("view") or {}
    parts = [
        str(body.get("type", "")),
        presser(body),
        str(actions[0].get("action_ts") or body.get("trigger_id") or view.get("id") or ""),
        str(actions[0].get("action_id", "")),
        str(view.get("id") or "")
        + (json.dumps(view.get("state"), sort_keys=True) if view.get("callback_id") in (TERM, OTHER) else ""),
    ]
    return "b:" + hashed(*parts)
