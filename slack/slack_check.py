"""Slack's part of `argot doctor`, and `argot slack check`: whether the tokens work, and the app has its permissions."""

from __future__ import annotations

import asyncio
import importlib.util
import ipaddress
import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from argot.errors import InvalidSettings, install_command
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.settings import Settings
from argot.shown_addresses import hide_secrets

NAME = "Slack"
SECONDS = 10
SCOPES = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "chat:write",
    "commands",
    "groups:history",
    "im:history",
    "mpim:history",
    "reactions:write",
    "users:read",
    "users:read.email",
)
"""What the manners need, and no more; slack/README.md says what for."""


def check_slack(settings: Settings) -> list[Finding]:
    """Check Slack's tokens and permissions; a Slack that hangs takes the bound of two calls."""
    bot = settings.slack.bot_token.get_secret_value()
    app = settings.slack.app_token.get_secret_value()
    secret = settings.slack.signing_secret.get_secret_value()
    if not (bot or app or secret):
        return [make_good_finding(NAME, "not set up (slack/README.md)")]
    if importlib.util.find_spec("slack_bolt") is None:
        return [make_bad_finding(NAME, "slack-bolt is not installed", install_command("slack"))]
    if not bot:
        return [make_bad_finding(NAME, "no bot token", "set ARGOT_SLACK_BOT_TOKEN (xoxb-...; slack/README.md)")]
    findings = [*_check_token(settings, bot)]
    if all(finding["ok"] for finding in findings):
        findings += _check_transport(settings, app, secret)
    return findings


def _check_token(settings: Settings, bot: str) -> Iterator[Finding]:
    identity, code = _call(settings, bot, "auth_test")
    if code:
        yield make_bad_finding(
            NAME, f"the bot token does not work: {code}", _choose_remedy(code, "ARGOT_SLACK_BOT_TOKEN")
        )
        return
    yield make_good_finding(
        NAME, f"workspace {identity.get('team')} ({identity.get('team_id')}), as {identity.get('user')}"
    )
    # Slack names the scopes that were granted in a header only.
    granted = {one.strip() for one in str(identity.headers.get("x-oauth-scopes") or "").split(",")}
    missing = [scope for scope in SCOPES if scope not in granted]
    if missing:
        remedy = "add them to the app under 'OAuth & Permissions', and install it again"
        yield make_bad_finding("Slack: scopes", f"missing: {', '.join(missing)}", remedy)
    else:
        yield make_good_finding("Slack: scopes", "all that are needed")


def _check_transport(settings: Settings, app: str, secret: str) -> Iterator[Finding]:
    """Check that Slack can reach Argot: by Socket Mode, or by signed requests over HTTP."""
    if app:
        _, code = _call(settings, app, "apps_connections_open", app_token=app)
        if code:
            yield make_bad_finding(
                "Slack: Socket Mode",
                f"the app token does not work: {code}",
                _choose_remedy(code, "ARGOT_SLACK_APP_TOKEN"),
            )
        else:
            yield make_good_finding("Slack: Socket Mode", "open")
    if secret and settings.web.public_url:
        site = hide_secrets(settings.web.public_url.rstrip("/"))
        yield make_good_finding("Slack: HTTP", f"signed requests to {site}/slack/events")
    elif secret and not app:
        remedy = "set ARGOT_PUBLIC_URL, or use Socket Mode: ARGOT_SLACK_APP_TOKEN"
        yield make_bad_finding("Slack: HTTP", "Slack needs an address that it can reach", remedy)
    if not (app or secret):
        remedy = "set ARGOT_SLACK_APP_TOKEN (Socket Mode) or ARGOT_SLACK_SIGNING_SECRET (HTTP)"
        yield make_bad_finding(NAME, "no connection from Slack to Argot", remedy)


def _call(settings: Settings, token: str, method: str, **arguments: Any) -> tuple[Any, str]:
    """Return Slack's answer and its error code; the code is empty if all went well."""
    import aiohttp
    from slack_sdk.errors import SlackApiError

    try:
        return asyncio.run(_ask(settings, token, method, arguments)), ""
    except SlackApiError as error:
        data = getattr(error.response, "data", None)
        code = str(data.get("error") or "") if isinstance(data, dict) else ""
        # Slack's codes are one word, such as `invalid_auth`; a sentence comes from something in between.
        return None, code if code and " " not in code else "unreachable (it answers with something else)"
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return None, f"unreachable ({type(error).__name__})"


async def _ask(settings: Settings, token: str, method: str, arguments: dict[str, Any]) -> Any:
    from slack_sdk.web.async_client import AsyncWebClient

    # slack_sdk logs its requests; its errors become findings instead.
    quiet = logging.getLogger("argot.slack_sdk")
    quiet.setLevel(logging.WARNING)
    client = AsyncWebClient(
        token, base_url=settings.slack.api_url, timeout=SECONDS, logger=quiet, retry_handlers=[]
    )  # fmt: skip
    # A proxy named by the environment cannot reach this machine's own addresses.
    if is_on_this_machine(settings.slack.api_url):
        client.proxy = None
    return await getattr(client, method)(**arguments)


def is_on_this_machine(url: str) -> bool:
    """Tell whether an address can be reached without the proxy that the environment names."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _choose_remedy(code: str, setting: str) -> str:
    if code.startswith("unreachable"):
        return "let this machine reach slack.com, directly or by HTTPS_PROXY"
    return f"copy the token from the app's page at api.slack.com into {setting}"


def find_bot_team(settings: Settings) -> str:
    """Find the workspace that the bot token belongs to.

    Raises:
        InvalidSettings: there is no token, or Slack does not take it.
    """
    bot = settings.slack.bot_token.get_secret_value()
    identity, code = _call(settings, bot, "auth_test") if bot else (None, "no bot token")
    if code or identity is None:
        raise InvalidSettings(f"Slack does not say which workspace it is: {code}. Name it: --team T0123ABC")
    return str(identity["team_id"])
