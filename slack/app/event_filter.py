"""The choice of the messages that Argot answers. Pure functions of Slack's payloads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from argot.language import AUXILIARIES, INTERROGATIVES
from argot.slack.app.mrkdwn import read_question
from argot.slack.usecases.slack_channels import Channel

HUMAN = (None, "file_share", "thread_broadcast", "me_message")
"""Subtypes of messages that somebody wrote. All others tell of joins, edits, deletions, bots."""
SLACKBOT = "USLACKBOT"
CHANNEL_IN_VIEW = "slack#/types/channel_id"
# <@U012AB3CD>, or with a name: <@U012AB3CD|ada>.
_MENTION = re.compile(r"<@(\w+)(?:\|[^>]*)?>")
# A question without its mark: "hi, what is PUC", "so does anybody know ...".
_ASKS = re.compile(
    r"(?:(?:hi|hello|hey|so|and|but|also|please|sorry)[,! ]+){0,2}"
    rf"(?:{INTERROGATIVES}|{AUXILIARIES}|must|has|have|any(?:one|body))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SlackJob:
    """A message or a pressed button that is to be answered. It is stored as JSON until then.

    Args:
        kind: a message; or a pressed button: a choice, a question to ask in other words or in another sense of a
            term, the answer for one person; or news to send unprompted.
        ts: the message; `thread_ts` is the one its thread begins with, and where the answer goes.
        text: the question, or the chosen option; for a sense or news the text from `job_contents.py`.
        direct: in a direct message with one person, where Slack may show a title and a status. `viewed`: the channel
            that the asker looks at beside it.
        status: Slack shows what Argot is doing.
        outsiders: people of other companies read the channel.
        team: our own workspace. `sender`: the workspace of the author, if Slack reports it.
        thread: Argot's conversation that a button belongs to; `turn`: its turn.
        ephemeral: the answer is shown to this person alone, in a place that others see.
        threaded: the message is in an existing thread.
    """

    kind: Literal["message", "choice", "again", "sense", "alone", "news"]
    team: str
    channel: str
    user: str
    ts: str
    thread_ts: str
    text: str = ""
    direct: bool = False
    outsiders: bool = False
    thread: str = ""
    turn: int = 0
    ephemeral: bool = False
    threaded: bool = False
    sender: str = ""
    viewed: str = ""
    status: bool = False

    @property
    def lane(self) -> str:
        """The key of the Slack thread: jobs of one lane are answered one after the other."""
        return f"{self.channel}:{self.thread_ts}"

    @property
    def place(self) -> str:
        """The key of the message, in every event about it."""
        return _place_of(self.channel, self.ts)

    @property
    def plain(self) -> dict[str, Any]:
        return asdict(self)


def read_job(body: Mapping[str, Any], me: str, channel: Channel, home: str = "") -> SlackJob | None:
    """Read the job that a message asks for, or None.

    Args:
        body: an event of Slack's (`message` or `app_mention`) in its envelope.
        me: our own Slack id; empty: not known yet, the envelope may tell.
        channel: how the channel is answered.
        home: our own workspace; empty: not known yet. Events for another app are ignored.
    """
    team = find_team(body)
    # A shared channel is in several workspaces, and Argot may be installed in each.
    if home and team != home:
        return None
    event: Mapping[str, Any] = body.get("event") or {}
    # At the start Slack may not have sent Argot's own id yet.
    me = me or _find_bot(body) or _find_mentioned(event)
    user, ts, text = str(event.get("user") or ""), str(event.get("ts") or ""), str(event.get("text") or "")
    if event.get("subtype") not in HUMAN or event.get("bot_id") or event.get("hidden") or not (user and ts):
        return None
    # Our own messages come as events too: answering them would never end.
    if user in (me, SLACKBOT) or not event.get("channel"):
        return None
    # An `app_mention` names no type; the ids of direct messages begin with D.
    direct = event.get("channel_type") == "im" or str(event["channel"]).startswith("D")
    threaded = bool(event.get("thread_ts")) and event.get("thread_ts") != ts
    mentioned = event.get("type") == "app_mention" or (bool(me) and me in _MENTION.findall(text))
    if not direct and not _is_wanted(channel, text, mentioned=mentioned, threaded=threaded):
        return None
    return SlackJob(
        "message",
        team,
        str(event["channel"]),
        user,
        ts,
        str(event.get("thread_ts") or ts),
        read_question(text, me),
        direct=direct,
        outsiders=bool(body.get("is_ext_shared_channel")),
        ephemeral=not direct and channel.replies == "ephemeral",
        threaded=threaded,
        sender=str(event.get("user_team") or event.get("team") or ""),
        viewed=find_viewed_channel(event.get("app_context")) if direct else "",
    )


def find_deleted_place(body: Mapping[str, Any]) -> str:
    """Find the place of a message that somebody deleted; empty: the event tells of something else."""
    event: Mapping[str, Any] = body.get("event") or {}
    if event.get("subtype") != "message_deleted" or not event.get("deleted_ts"):
        return ""
    return _place_of(str(event.get("channel") or ""), str(event["deleted_ts"]))


def _place_of(channel: str, ts: str) -> str:
    return f"m:{channel}:{ts}"


def find_viewed_channel(context: Any) -> str:
    """Find the channel that a person views, from Slack's description of their view; empty: none."""
    entities = context.get("entities") if isinstance(context, dict) else None
    named = [one for one in entities or () if isinstance(one, dict) and one.get("type") == CHANNEL_IN_VIEW]
    return str(named[0].get("value") or "") if named else ""


def is_question(text: str) -> bool:
    """Tell whether a message asks something."""
    plain = read_question(text)
    return bool(re.search(r"\?\s*(?:\W*$|[\s])", plain)) or bool(_ASKS.match(plain) and len(plain.split()) > 2)


def _is_wanted(channel: Channel, text: str, *, mentioned: bool, threaded: bool) -> bool:
    if channel.mode == "off":
        return False
    if mentioned:
        return True
    # People who talk among themselves in a thread are ignored unless they mention Argot.
    if threaded or not text.strip():
        return False
    if channel.mode == "all":
        return True
    return channel.mode == "questions" and not _MENTION.search(text) and is_question(text)


def _find_mentioned(event: Mapping[str, Any]) -> str:
    # An `app_mention` is sent to the one mentioned: if nothing else tells our id, the first mention in it does.
    found = _MENTION.findall(str(event.get("text") or "")) if event.get("type") == "app_mention" else []
    return found[0] if found else ""


def _find_bot(body: Mapping[str, Any]) -> str:
    granted = _read_authorization(body)
    return str(granted.get("user_id") or "") if granted.get("is_bot") else ""


def find_team(body: Mapping[str, Any]) -> str:
    """Find the workspace that an event was sent for: the one Argot is installed in."""
    # In a channel shared with another company `team_id` may be theirs; `authorizations` names the installation.
    return str(_read_authorization(body).get("team_id") or body.get("team_id") or "")


def _read_authorization(body: Mapping[str, Any]) -> Mapping[str, Any]:
    granted = body.get("authorizations")
    return granted[0] if isinstance(granted, list) and granted and isinstance(granted[0], dict) else {}
