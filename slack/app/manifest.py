"""The manifest from which an app is created in Slack: its permissions, its events, its address.

The scopes are the least that the manners need; slack/README.md says what each is for.
"""

from __future__ import annotations

import json
from typing import Any

from argot.slack.slack_check import SCOPES

EVENTS = (
    "app_context_changed",
    "app_home_opened",
    "app_mention",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
)
ADDRESS = "/slack/events"


def build_manifest(url: str = "") -> str:
    """Build the manifest as YAML: for HTTP to Argot at this address, or without one for Socket Mode."""
    address = {"request_url": f"{url.rstrip('/')}{ADDRESS}"} if url else {}
    shortcut = {
        "name": "Add a term",
        "type": "message",
        "callback_id": "argot_add_term",
        "description": "Put a term of this message into the glossary",
    }
    command = {
        "command": "/term",
        "description": "What a term means here",
        "usage_hint": "PUC",
        "should_escape": False,
        **({"url": f"{url.rstrip('/')}{ADDRESS}"} if url else {}),
    }
    described = {
        "display_information": {
            "name": "Argot",
            "description": "Answers from your own documents, in your own language, with sources",
            "background_color": "#1f3a5f",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": False,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "agent_view": {"agent_description": "Answers from your organisation's own documents"},
            "bot_user": {"display_name": "Argot", "always_online": True},
            "shortcuts": [shortcut],
            "slash_commands": [command],
        },
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": {
            "event_subscriptions": {**address, "bot_events": list(EVENTS)},
            "interactivity": {"is_enabled": True, **address},
            # One workspace: people, channels and the token are stored for one.
            "org_deploy_enabled": False,
            "socket_mode_enabled": not url,
            # The token is in the settings, and is not written back.
            "token_rotation_enabled": False,
        },
    }
    return "\n".join(_write_yaml(described, 0)) + "\n"


def _write_yaml(value: Any, depth: int) -> list[str]:
    """Write maps, lists and scalars as YAML; JSON's strings and booleans are YAML's."""
    pad = "  " * depth
    lines: list[str] = []
    for key, item in value.items():
        if isinstance(item, dict):
            lines += [f"{pad}{key}:", *_write_yaml(item, depth + 1)]
        elif isinstance(item, list):
            lines.append(f"{pad}{key}:")
            for one in item:
                inner = _write_yaml(one, depth + 2) if isinstance(one, dict) else [f"{pad}    {json.dumps(one)}"]
                lines += [f"{pad}  - {inner[0].strip()}", *inner[1:]]
        else:
            lines.append(f"{pad}{key}: {json.dumps(item)}")
    return lines
