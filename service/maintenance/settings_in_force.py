"""The settings in force, each with its source, for `argot doctor` and the page of administrators: no password or key is
shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import SecretStr

from argot.service.storage.adopted_models import MODELS
from argot.settings import (
    ENV_PREFIX,
    OLD_NAMES,
    SETTING_FIELDS,
    SETTING_GROUPS,
    SETTINGS_FILE,
    Settings,
    hide_setting,
    is_secret,
)


@dataclass(frozen=True, slots=True)
class SettingShown:
    """A setting as it is in force. `value`: "set" or "not set" if it is a secret; `source`: empty for a default.

    `group`: empty for a setting that belongs to none.
    """

    name: str
    group: str
    value: str
    default: str
    is_changed: bool
    is_secret: bool
    source: str
    description: str


def list_settings(settings: Settings) -> Iterator[SettingShown]:
    """Yield all settings, group by group."""
    written, values = read_written(), settings.flatten()
    for name, field in SETTING_FIELDS.items():
        value, secret = values[name], is_secret(name)
        changed = value != field.default
        yield SettingShown(
            name,
            SETTING_GROUPS[name],
            _say_whether_set(value) if secret else _format_value(hide_setting(name, value)),
            _say_whether_set(field.default) if secret else _format_value(field.default),
            changed,
            secret,
            name_source(name, value, written) if changed else "",
            field.description or "",
        )


def read_written() -> str:
    """Return the text of the file of settings, empty if there is none."""
    return SETTINGS_FILE.read_text(encoding="utf-8") if SETTINGS_FILE.exists() else ""


def name_source(name: str, value: object, written: str) -> str:
    """Name where the value of a changed setting comes from. `written`: the text of the file of settings."""
    if variable := find_variable(name):
        return f"from {variable}"
    if any(re.search(rf"^\s*{one}\s*=", written, re.MULTILINE) for one in _list_names(name)):
        return f"from {SETTINGS_FILE.absolute()}"
    if f"/{MODELS}/" in str(value):
        return f"adopted; take it back with: argot learn back {name}"
    return "from the command line"


def find_variable(name: str) -> str | None:
    """Return the environment variable that sets it, if there is one."""
    return next((one for one in (f"{ENV_PREFIX}{n.upper()}" for n in _list_names(name)) if os.environ.get(one)), None)


def _list_names(name: str) -> list[str]:
    """Return the setting's name, and its former ones."""
    return [name, *(old for old, new in OLD_NAMES.items() if new == name)]


def _say_whether_set(value: object) -> str:
    plain_value = value.get_secret_value() if isinstance(value, SecretStr) else value
    return "set" if plain_value else "not set"


def _format_value(value: object) -> str:
    # As argot.toml writes it.
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
