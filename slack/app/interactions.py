"""Reads a pressed button or a submitted form: the person, the conversation, and whether it is a repetition."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal

from argot.slack.app.event_filter import SlackJob
from argot.slack.app.modals import OTHER, TERM

REPEAT_SECONDS = 30
"""The same button pressed again within about this time counts once."""


def find_presser(body: Mapping[str, Any], home: str) -> tuple[str, str]:
    """Find Argot's workspace, `home` if known, and the person, from any workspace."""
    return home or str((body.get("team") or {}).get("id") or ""), read_user(body)


def read_user(body: Mapping[str, Any]) -> str:
    return str((body.get("user") or {}).get("id") or "")


def read_value(body: Mapping[str, Any]) -> dict[str, Any]:
    """Read the value of the pressed button, also of Slack's own feedback buttons; a shortcut has none."""
    action = (body.get("actions") or [{}])[0]
    try:
        value = json.loads(str(action.get("value") or "{}"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def read_pressed_term(body: Mapping[str, Any]) -> str:
    """Read the term of the button that suggests its meaning; empty for the shortcut of a message."""
    return str(read_value(body).get("m", ""))


def read_pressed_job(body: Mapping[str, Any], home: str) -> SlackJob:
    """Read a job in the thread of the message whose button was pressed."""
    team, user = find_presser(body, home)
    value = read_value(body)
    container = body.get("container") or {}
    message = body.get("message") or {}
    channel = str((body.get("channel") or {}).get("id") or container.get("channel_id") or "")
    ts = str(message.get("ts") or container.get("message_ts") or "")
    thread_ts = str(message.get("thread_ts") or container.get("thread_ts") or ts)
    return SlackJob(
        # Each press has its own time, so that answers to several presses on one message are distinguished.
        "choice", team, channel, user, f"{ts}#{find_press_key(body)}", thread_ts,
        direct=channel.startswith("D"), outsiders=bool(value.get("o")), thread=str(value.get("t", "")),
        turn=int(value.get("n") or 0), ephemeral=bool(container.get("is_ephemeral")),
        threaded=bool(message.get("thread_ts") or container.get("thread_ts")),
    )  # fmt: skip


def read_form_job(body: Mapping[str, Any], home: str, kind: Literal["choice", "sense"]) -> SlackJob:
    """Read a job in the thread of the message that the form was opened from."""
    team, user = find_presser(body, home)
    kept = read_kept(body["view"])
    channel = str(kept.get("c", ""))
    return SlackJob(
        kind, team, channel, user, "", str(kept.get("ts", "")),
        direct=channel.startswith("D"), thread=str(kept.get("t", "")), turn=int(kept.get("n") or 0),
        threaded=bool(kept.get("th")), ephemeral=bool(kept.get("e")), outsiders=bool(kept.get("o")),
    )  # fmt: skip


def keep_for_form(job: SlackJob) -> dict[str, Any]:
    """Return the data about a message that a form opened from it keeps."""
    shown = {"e": job.ephemeral, "o": job.outsiders, "th": job.threaded}
    return {"t": job.thread, "n": job.turn, "c": job.channel, "ts": job.thread_ts, **shown}


def read_kept(view: Mapping[str, Any]) -> dict[str, Any]:
    """Read the data that `keep_for_form` gave the form."""
    kept: dict[str, Any] = json.loads(view.get("private_metadata") or "{}")
    return kept


def find_repeat_key(job: SlackJob, body: Mapping[str, Any]) -> str:
    """Return the key under which a button pressed twice in a row asks once; empty: each press counts."""
    # A choice once per person, since others are informed that it is over; a question in other words once for all.
    message = job.ts.partition("#")[0]
    by = {"choice": job.user, "again": ""}.get(job.kind)
    at = str(body["actions"][0].get("action_ts") or "")
    if by is None or not at.partition(".")[0].isdigit():
        return ""
    soon = str(int(at.partition(".")[0]) // REPEAT_SECONDS)
    return "o:" + hash_parts(job.kind, job.channel, message, job.thread, str(job.turn), by, job.text, soon)


def hash_parts(*parts: str) -> str:
    # Joined by a control character, so that ("a", "bc") and ("ab", "c") differ. Keys stay when words are
    # deleted.
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def find_press_key(body: Mapping[str, Any]) -> str:
    """Return the key of a press, the same when Slack sends it again: the person, the button and the time."""
    actions = body.get("actions") or [{}]
    view = body.get("view") or {}
    parts = [
        str(body.get("type", "")),
        read_user(body),
        str(actions[0].get("action_ts") or body.get("trigger_id") or view.get("id") or ""),
        str(actions[0].get("action_id", "")),
        str(view.get("id") or "")
        + (json.dumps(view.get("state"), sort_keys=True) if view.get("callback_id") in (TERM, OTHER) else ""),
    ]
    return "b:" + hash_parts(*parts)
