"""Slack's Web API on this machine, as far as Argot uses it, and events as Slack sends and signs them.

    slack = await FakeSlack().start()
    settings = slack.settings(home)
    slack.refuse("chat.startStream", "method_not_supported")     # says no, until `heal`
    slack.limit("chat.postMessage", seconds=0.2)                 # 429 with Retry-After, once
    slack.down = True                                            # hangs up on every call
    slack.calls("chat.postMessage")                              # what was sent, as dicts
    slack.said("C1")                                             # the messages in a channel
    body = slack.message("What is WL?", channel="C1", user="U1")
    await slack.send(client, body)                               # signed, to /slack/events

Calls that Slack would refuse (`slack_rules.py`) are refused here and listed in `faults`, and so are calls for which
the app lacks the scope: `granted` holds the scopes of the manifest. `socket` holds what Argot sent over Socket Mode;
`push` sends there.
"""

import asyncio
import hashlib
import hmac
import itertools
import json
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from aiohttp import WSMsgType, web
from slack_rules import refusals, scope_needed

from argot.slack.slack_check import SCOPES

SECRET = "the signing secret of the tests"
BOT_TOKEN = "xoxb-canary-bot-token"
APP_TOKEN = "xapp-canary-app-token"
TEAM, BOT, BOT_ID = "T0TEAM", "U0BOT", "B0BOT"


class FakeSlack:
    def __init__(self) -> None:
        self.log: list[tuple[str, dict[str, Any]]] = []
        self.users: dict[str, dict[str, Any]] = {}
        self.channels: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.ephemeral: list[dict[str, Any]] = []
        self.reactions: set[tuple[str, str, str]] = set()
        self.streams: dict[str, str] = {}
        self.down = False
        self.faults: list[str] = []
        self.granted = set(SCOPES)
        self.absent: set[tuple[str, str]] = set()
        self.triggers: dict[str, int] = {}
        self.tickets: set[str] = set()
        self.refused = 0
        self._at: list[float] = []
        self.socket: list[dict[str, Any]] = []
        self.scopes = ""
        self._refusals: dict[str, str] = {}
        self._broken: dict[str, list[int]] = defaultdict(list)
        self._limits: dict[str, list[float]] = defaultdict(list)
        self._times = itertools.count(1)
        self._connection: web.WebSocketResponse | None = None
        self._changed = asyncio.Event()

    async def start(self) -> "FakeSlack":
        app = web.Application(client_max_size=64 * 1024 * 1024)
        for verb in ("GET", "POST"):
            app.router.add_route(verb, "/api/{method}", self._answer)
        app.router.add_get("/socket", self._socket)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        return self

    async def close(self) -> None:
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/"

    def settings(self, home: Any, **more: Any) -> Any:
        from argot.settings import Settings

        given = {"slack_bot_token": BOT_TOKEN, "slack_signing_secret": SECRET, "slack_api_url": self.url}
        return Settings(home=home, **{**given, **more})

    # -- what tests say

    def refuse(self, method: str, code: str) -> None:
        self._refusals[method] = code

    def heal(self) -> None:
        self._refusals.clear()
        self._broken.clear()
        self.down = False

    def limit(self, method: str, *, seconds: float) -> None:
        self._limits[method].append(seconds)

    def break_down(self, method: str, status: int) -> None:
        """Let a method answer once with a web server's error page and this status."""
        self._broken[method].append(status)

    def trigger(self) -> str:
        """Return a trigger that can open one form, before the next message: Slack gives it three seconds, in which no
        answer is sent.
        """
        made = f"{next(self._times)}.trigger"
        self.triggers[made] = len(self.calls("chat.postMessage"))
        return made

    def person(self, user: str, email: str = "", **more: Any) -> str:
        self.users[user] = {
            "id": user, "team_id": TEAM, "is_email_confirmed": True, "profile": {"email": email}, **more
        }  # fmt: skip
        return user

    # -- what tests see

    def calls(self, method: str) -> list[dict[str, Any]]:
        return [given for name, given in self.log if name == method]

    def times(self, method: str) -> list[float]:
        """Return the times of the calls of a method, in seconds."""
        latest = self._at[len(self._at) - len(self.log) :]
        return [at for at, (name, _) in zip(latest, self.log, strict=True) if name == method]

    def said(self, channel: str) -> list[dict[str, Any]]:
        """Return the messages of Argot in a channel, in their present form."""
        return [one for one in self.channels[channel] if one.get("bot_id") == BOT_ID]

    def alone(self, channel: str, user: str = "") -> list[dict[str, Any]]:
        return [one for one in self.ephemeral if one["channel"] == channel and (not user or one["user"] == user)]

    async def until(self, holds: Callable[[], Any], seconds: float = 120.0) -> Any:
        """Wait for a condition, checked after each call and a few times a second, and return its value."""
        end = time.monotonic() + seconds
        while not (found := holds()):
            if time.monotonic() > end:
                raise AssertionError(f"it never came about; calls: {[name for name, _ in self.log]}")
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), 0.1)
            except TimeoutError:
                continue
        return found

    # -- events

    def ts(self) -> str:
        return f"{int(time.time())}.{next(self._times):06d}"

    def event(self, event: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {
            "type": "event_callback",
            "team_id": TEAM,
            "api_app_id": "A0",
            "event_id": f"Ev{next(self._times):010d}",
            "event_time": int(time.time()),
            "authorizations": [{"team_id": TEAM, "user_id": BOT, "is_bot": True}],
            "event": event,
            **more,
        }

    def message(
        self, text: str, *, channel: str, user: str = "U1", mention: bool = True, thread: str = "", **more: Any
    ) -> dict[str, Any]:
        """Post a message of a user and return its event; outside a DM it mentions Argot unless `mention` is False."""
        direct = channel.startswith("D")
        called = mention and not direct
        event = {
            "type": "app_mention" if called else "message",
            "channel": channel,
            "user": user,
            "text": f"<@{BOT}> {text}" if called else text,
            "ts": self.ts(),
            **({} if called else {"channel_type": "im" if direct else "channel"}),
            **({"thread_ts": thread} if thread else {}),
        }
        envelope = {name: more.pop(name) for name in ("is_ext_shared_channel", "event_id") if name in more}
        event |= more
        self.channels[channel].append(event)
        return self.event(event, **envelope)

    def press(self, message: dict[str, Any], prefix: str, *, user: str = "U1", channel: str = "") -> dict[str, Any]:
        """Return the press of the first button of a message whose action begins with `prefix`."""
        buttons = [one for block in message["blocks"] for one in block.get("elements", ()) if "action_id" in one]
        action = next(one for one in buttons if one["action_id"].startswith(prefix))
        return self.pressed(message, action, user=user, channel=channel)

    def pressed(
        self, message: dict[str, Any], action: dict[str, Any], *, user: str = "U1", channel: str = ""
    ) -> dict[str, Any]:
        hidden = bool(message.get("is_ephemeral"))
        where = channel or message["channel"]
        return {
            "type": "block_actions",
            "team": {"id": TEAM},
            "user": {"id": user, "team_id": TEAM},
            "channel": {"id": where},
            "trigger_id": self.trigger(),
            "container": {"type": "message", "message_ts": message["ts"], "channel_id": where, "is_ephemeral": hidden},
            "actions": [{**action, "action_ts": self.ts()}],
            **({} if hidden else {"message": message}),
        }

    def thumb(self, message: dict[str, Any], *, up: bool, user: str = "U1") -> dict[str, Any]:
        block = next(one for one in message["blocks"] if one["type"] == "context_actions")
        native = block["elements"][0]
        side = native["positive_button" if up else "negative_button"]
        action = {"type": "feedback_buttons", "action_id": native["action_id"], "value": side["value"]}
        return self.pressed(message, action, user=user)

    def shortcut(self, text: str, *, channel: str, user: str = "U1") -> dict[str, Any]:
        return {
            "type": "message_action",
            "callback_id": "argot_add_term",
            "team": {"id": TEAM},
            "user": {"id": user, "team_id": TEAM},
            "channel": {"id": channel},
            "trigger_id": self.trigger(),
            "message": {"type": "message", "user": "U9", "text": text, "ts": self.ts()},
        }

    def command(self, text: str, *, channel: str, user: str = "U1") -> dict[str, Any]:
        """Return what a person typed behind /term, which Slack sends as the fields of a form."""
        return {
            "command": "/term",
            "text": text,
            "team_id": TEAM,
            "user_id": user,
            "channel_id": channel,
            "trigger_id": self.trigger(),
        }

    def submit(self, view: dict[str, Any], values: dict[str, Any], *, user: str = "U1") -> dict[str, Any]:
        """Return the submission of a form with these values: a text, or the value of an option."""
        state: dict[str, Any] = {}
        for block in view["blocks"]:
            if block["type"] != "input":
                continue
            name, element = block["block_id"], block["element"]
            if element["type"] == "plain_text_input":
                state[name] = {name: {"value": values.get(name, element.get("initial_value"))}}
            else:
                wanted = values.get(name)
                chosen = next((one for one in element["options"] if one["value"] == wanted), None)
                state[name] = {name: {"selected_option": chosen or element.get("initial_option")}}
        return {
            "type": "view_submission",
            "team": {"id": TEAM},
            "user": {"id": user, "team_id": TEAM},
            "view": {"id": f"V{next(self._times)}", "hash": "1.a", **view, "state": {"values": state}},
        }

    # -- the way to Argot

    def headers(self, text: str, *, at: float | None = None, secret: str = SECRET) -> dict[str, str]:
        timestamp = str(int(time.time() if at is None else at))
        digest = hmac.new(secret.encode(), f"v0:{timestamp}:{text}".encode(), hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}

    async def send(self, client: Any, body: Any, *, retry: int = 0, **signing: Any) -> Any:
        """Send a request as Slack does: events as JSON, everything else as a form with one field."""
        if isinstance(body, dict) and "command" in body:
            text, kind = urlencode(body), "application/x-www-form-urlencoded"
        elif not isinstance(body, dict) or body["type"] in ("event_callback", "url_verification"):
            text, kind = json.dumps(body), "application/json"
        else:
            text, kind = urlencode({"payload": json.dumps(body)}), "application/x-www-form-urlencoded"
        headers = {"Content-Type": kind, **self.headers(text, **signing)}
        if retry:
            headers |= {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": "http_timeout"}
        return await client.post("/slack/events", content=text.encode(), headers=headers)

    async def push(self, body: dict[str, Any], envelope: str = "") -> str:
        """Send over Socket Mode and return the envelope id; with an earlier id, as a retry without an answer."""
        await self.until(lambda: self._connection is not None and not self._connection.closed)
        is_event = body["type"] == "event_callback"
        again = {"retry_attempt": 1, "retry_reason": "timeout"} if envelope and is_event else {}
        envelope = envelope or f"envelope-{next(self._times)}"
        assert self._connection
        await self._connection.send_json(
            {
                "type": "events_api" if is_event else "interactive",
                "envelope_id": envelope,
                "payload": body,
                "accepts_response_payload": body["type"] == "view_submission",
                **again,
            }
        )
        return envelope

    async def acknowledged(self, envelope: str) -> dict[str, Any]:
        """Return Argot's answer to an envelope."""
        found = await self.until(lambda: [one for one in self.socket if one["envelope_id"] == envelope])
        payload: dict[str, Any] = found[-1].get("payload") or {}
        return payload

    async def hang_up(self, reason: str) -> None:
        """Close the connection as Slack does every few hours: announced ("warning", "refresh_requested") or not."""
        await self.until(lambda: self._connection is not None and not self._connection.closed)
        old, self._connection = self._connection, None
        assert old
        if reason:
            await old.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "here"}})
        else:
            await old.close()

    # -- the Web API

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        if self.down:
            self.refused += 1
            assert request.transport
            request.transport.close()
            return web.Response()
        given = await _given(request)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ") or given.get("token", "")
        assert token == (APP_TOKEN if method == "apps.connections.open" else BOT_TOKEN), f"{method} with {token!r}"
        self.log.append((method, given))
        self._at.append(time.monotonic())
        self._changed.set()
        if self._limits[method]:
            seconds = self._limits[method].pop(0)
            return web.json_response(
                {"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": str(seconds)}
            )
        if self._broken[method]:
            return web.Response(status=self._broken[method].pop(0), text="<html>oops</html>", content_type="text/html")
        if method in self._refusals:
            return web.json_response({"ok": False, "error": self._refusals[method]})
        if (needed := scope_needed(method, given)) and needed not in self.granted:
            self.faults.append(f"{method}: missing_scope {needed}")
            return web.json_response({"ok": False, "error": "missing_scope", "needed": needed})
        if wrong := refusals(method, given):
            self.faults += [f"{method}: {one}" for one in wrong]
            return web.json_response({"ok": False, "error": wrong[0].partition(":")[0]})
        handler = getattr(self, "_" + method.replace(".", "_"), None)
        answer = handler(given) if handler else {}
        self._changed.set()
        if isinstance(answer, str):
            return web.json_response({"ok": False, "error": answer})
        return web.json_response({"ok": True, **answer}, headers={"x-oauth-scopes": self.scopes})

    def _auth_test(self, given: dict[str, Any]) -> Any:
        return {
            "user_id": BOT,
            "bot_id": BOT_ID,
            "team_id": TEAM,
            "team": "Testers",
            "user": "argot",
            "url": "http://x",
        }

    def _apps_connections_open(self, given: dict[str, Any]) -> Any:
        """Return an address that opens one connection."""
        ticket = f"t{next(self._times)}"
        self.tickets.add(ticket)
        return {"url": f"ws://127.0.0.1:{self.port}/socket?ticket={ticket}"}

    def _users_info(self, given: dict[str, Any]) -> Any:
        return {"user": self.users[given["user"]]} if given["user"] in self.users else "user_not_found"

    def _users_lookupByEmail(self, given: dict[str, Any]) -> Any:
        found = [one for one in self.users.values() if one["profile"]["email"] == given["email"]]
        return {"user": found[0]} if found else "users_not_found"

    def _chat_postMessage(self, given: dict[str, Any]) -> Any:
        ts = self.ts()
        self.channels[given["channel"]].append(self._marked({**given, "ts": ts, "user": BOT, "bot_id": BOT_ID}))
        return {"ts": ts, "channel": given["channel"]}

    def _marked(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the message with an id for every block, as Slack adds it."""
        blocks = message.get("blocks") or []
        return {**message, "blocks": [{"block_id": f"b{next(self._times)}", **block} for block in blocks]}

    def _chat_postEphemeral(self, given: dict[str, Any]) -> Any:
        if (given["channel"], given["user"]) in self.absent:
            return "user_not_in_channel"
        self.ephemeral.append(self._marked({**given, "ts": self.ts(), "is_ephemeral": True}))
        return {"message_ts": self.ephemeral[-1]["ts"]}

    def _chat_update(self, given: dict[str, Any]) -> Any:
        if given["ts"] in self.streams:
            return "streaming_state_conflict"
        for one in self.channels[given["channel"]]:
            if one["ts"] == given["ts"]:
                one.update(self._marked(given))
                return {"ts": given["ts"]}
        return "message_not_found"

    def _chat_delete(self, given: dict[str, Any]) -> Any:
        kept = [one for one in self.channels[given["channel"]] if one["ts"] != given["ts"]]
        gone = len(kept) < len(self.channels[given["channel"]])
        self.channels[given["channel"]] = kept
        return {} if gone else "message_not_found"

    def _chat_startStream(self, given: dict[str, Any]) -> Any:
        answer = self._chat_postMessage({"channel": given["channel"], "thread_ts": given["thread_ts"], "text": ""})
        self.streams[answer["ts"]] = given["channel"]
        return self._append(answer["ts"], given) or answer

    def _chat_appendStream(self, given: dict[str, Any]) -> Any:
        if given["ts"] not in self.streams:
            return "message_not_in_streaming_state"
        return self._append(given["ts"], given) or {"ts": given["ts"]}

    def _chat_stopStream(self, given: dict[str, Any]) -> Any:
        if self.streams.pop(given["ts"], None) is None:
            return "message_not_in_streaming_state"
        return {"ts": given["ts"]}

    def _append(self, ts: str, given: dict[str, Any]) -> None:
        for one in self.channels[self.streams[ts]]:
            if one["ts"] == ts:
                one["text"] += "".join(chunk["text"] for chunk in given.get("chunks") or ())

    def _conversations_replies(self, given: dict[str, Any]) -> Any:
        """Return the oldest messages of a thread up to the limit, and always its first one."""
        top, after, before = given["ts"], given.get("oldest") or "0", given.get("latest") or "9"
        messages = [one for one in self.channels[given["channel"]] if one.get("thread_ts") == top and one["ts"] != top]
        between = [one for one in messages if after < one["ts"] < before]
        first, most = int(given.get("cursor") or 0), int(given.get("limit") or 100)
        more = len(between) > first + most
        beginning = [one for one in self.channels[given["channel"]] if one["ts"] == top]
        answer = {"messages": [*beginning, *between[first : first + most]], "has_more": more}
        return {**answer, "response_metadata": {"next_cursor": str(first + most)}} if more else answer

    def _reactions_add(self, given: dict[str, Any]) -> Any:
        key = (given["channel"], given["timestamp"], given["name"])
        if key in self.reactions:
            return "already_reacted"
        self.reactions.add(key)
        return {}

    def _reactions_remove(self, given: dict[str, Any]) -> Any:
        key = (given["channel"], given["timestamp"], given["name"])
        if key not in self.reactions:
            return "no_reaction"
        self.reactions.discard(key)
        return {}

    def _views_open(self, given: dict[str, Any]) -> Any:
        made = self.triggers.pop(given["trigger_id"], None)
        if made is None:
            return "exchanged_trigger_id"
        return {"view": {"id": "V1"}} if made == len(self.calls("chat.postMessage")) else "expired_trigger_id"

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self.tickets:
            return web.Response(status=403)  # type: ignore[return-value]
        self.tickets.remove(ticket)
        connection = web.WebSocketResponse()
        await connection.prepare(request)
        await connection.send_json({"type": "hello", "num_connections": 1, "connection_info": {"app_id": "A0"}})
        self._connection = connection
        self._changed.set()
        async for message in connection:
            if message.type == WSMsgType.TEXT:
                self.socket.append(json.loads(message.data))
                self._changed.set()
        return connection


async def _given(request: web.Request) -> dict[str, Any]:
    """Return the arguments of a call, however the client sends them."""
    if request.content_type == "application/json":
        given = await request.json() if request.can_read_body else {}
        return given if isinstance(given, dict) else {}
    given = {**request.query, **{name: str(value) for name, value in (await request.post()).items()}}
    for name in ("blocks", "metadata", "view", "chunks"):
        if isinstance(given.get(name), str):
            given[name] = json.loads(given[name])
    return given
