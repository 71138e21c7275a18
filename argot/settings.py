"""The settings object: environment variables `ARGOT_*` take precedence over `argot.toml` (working folder), then the
defaults.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from argot import setting_groups as groups
from argot.errors import InvalidSettings
from argot.shown_addresses import STARS, hide_key, hide_secrets

SETTINGS_FILE = Path("argot.toml")
ENV_PREFIX = "ARGOT_"
OLD_NAMES = {"embedding_model": "embedder"}
"""Former names of settings, and their present ones."""
REMOVED_NAMES = frozenset({"neighbour_chars"})
"""Settings without effect: a service that still sets one starts all the same."""


class Settings(BaseModel):
    """Places and limits. The way in which questions are answered is a `Profile`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    home: Path = Field(Path("kb"), description="the folder of the knowledge base")
    cache: Path = Field(
        # The folder that the XDG base directory specification names for data that can be regenerated.
        Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "argot",
        description="exported embedding models, the reader, and the sample knowledge base",
    )
    profile: str = Field("default", description="the profile questions are answered with")
    product: str = Field("", max_length=200, description="what the documents are about, as prompts may name it")
    forbidden_words: groups.SeveralValues = Field(
        "", max_length=2000, description="words an answer shall not use, between commas"
    )
    datasets: Path = Field(Path("datasets"), description="the folder of benchmark data, for measuring")
    search: groups.SearchSettings
    storage: groups.StorageSettings
    model_server: groups.ModelServerSettings
    vision: groups.VisionSettings
    derivation: groups.DerivationSettings
    web: groups.WebSettings
    remote: groups.RemoteSettings
    tool_servers: groups.ToolServerSettings
    sign_in: groups.SignInSettings
    oidc: groups.OidcSettings
    embed: groups.EmbedSettings
    slack: groups.SlackSettings
    mail: groups.MailSettings
    reading: groups.ReadingSettings
    limits: groups.LimitsSettings
    jobs: groups.JobsSettings
    retention: groups.RetentionSettings
    telemetry: groups.TelemetrySettings
    audit: groups.AuditSettings

    def __init__(self, **given: Any) -> None:
        """Set up settings by their flat names: those given win over the environment, which wins over the file."""
        super().__init__(**_group_values({**_read_file(), **_read_environment(), **given}))

    def replace(self, **changes: Any) -> Settings:
        """Return the settings with others in place, by their flat names. What is given is not validated."""
        update: dict[str, Any] = {}
        for name, value in changes.items():
            group, attribute = _PLACES[name]
            if group:
                update[group] = update.get(group, getattr(self, group)).model_copy(update={attribute: value})
            else:
                update[attribute] = value
        return self.model_copy(update=update)

    def flatten(self, *, only_given: bool = False) -> dict[str, Any]:
        """Return the values by their flat names; `only_given` leaves out defaults that nobody set."""
        found: dict[str, Any] = {}
        for name, (group, attribute) in _PLACES.items():
            holder = getattr(self, group) if group else self
            if not only_given or attribute in holder.model_fields_set:
                found[name] = getattr(holder, attribute)
        return found


_GROUPS: dict[str, type[BaseModel]] = {
    name: field.annotation
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
}
_PLACES = {name: ("", name) for name in Settings.model_fields if name not in _GROUPS} | {
    field.alias or attribute: (group, attribute)
    for group, model in _GROUPS.items()
    for attribute, field in model.model_fields.items()
}
"""For each flat name its group, none for what stands on `Settings` itself, and its attribute."""
SETTING_GROUPS: dict[str, str] = {name: group for name, (group, _) in _PLACES.items()}
"""The group of each setting, by its flat name; empty for one that belongs to none."""
SETTING_FIELDS: dict[str, FieldInfo] = {
    name: (_GROUPS[group] if group else Settings).model_fields[attribute]
    for name, (group, attribute) in _PLACES.items()
}
"""Each setting by its flat name, as it is written in argot.toml and, in capitals after ARGOT_, in the environment."""


_ADDRESS_ENDINGS = ("url", "endpoint", "issuer", "server", "syslog")
"""Last words of the names of settings whose value is an address, with or without its scheme."""
_STORES = ("store", "blob_url", "chroma_url")
"""Secret settings whose address tells an administrator where the stores are."""


def is_secret(name: str) -> bool:
    """Tell whether the value of a setting is a secret, or an address that usually contains one."""
    field = SETTING_FIELDS[name]
    return field.annotation is SecretStr or not field.repr


def hide_setting(name: str, value: object) -> object:
    """Return the value of a setting with stars in place of possible secrets. Secrets show as stars anyway.

    `value`: also one of a wrong type, as somebody may write it in argot.toml.
    """
    if value in (None, "") or isinstance(value, SecretStr):
        return value
    if isinstance(value, dict) or (is_secret(name) and name not in _STORES):
        return STARS
    if isinstance(value, list):
        return [hide_setting(name, one) for one in value]
    if not isinstance(value, str):
        return value
    if name == "embed_token_key":
        return hide_key(value)
    is_address = name in _STORES or "://" in value or name.endswith(_ADDRESS_ENDINGS)
    return hide_secrets(value) if is_address else value


def describe_group(group: str) -> str:
    """Return the subject of a group of settings; empty for those of no group."""
    return (_GROUPS[group].__doc__ or "") if group else ""


def _read_file() -> dict[str, Any]:
    return tomllib.loads(SETTINGS_FILE.read_text(encoding="utf-8")) if SETTINGS_FILE.is_file() else {}


def _read_environment() -> dict[str, str]:
    # An empty variable counts as unset: an environment file may hold `ARGOT_MODEL_URL=` for what nobody filled in.
    variables = {variable.lower(): value for variable, value in os.environ.items() if value}
    names = {name: f"{ENV_PREFIX}{name}".lower() for name in (*_PLACES, *OLD_NAMES)}
    return {name: variables[variable] for name, variable in names.items() if variable in variables}


def _group_values(given: dict[str, Any]) -> dict[str, Any]:
    """Return the values as `Settings` holds them. A name that a setting had before counts where its new one is not."""
    flat = {name: value for name, value in given.items() if name not in REMOVED_NAMES}
    for old, name in OLD_NAMES.items():
        if value := flat.pop(old, None):
            flat.setdefault(name, value)
    groups: dict[str, dict[str, Any]] = {group: {} for group in _GROUPS}
    others: dict[str, Any] = {}
    for name, value in flat.items():
        group, _ = _PLACES.get(name, ("", name))
        # The name of a group is no setting: None in its place is refused.
        (groups[group] if group else others)[name] = value if name not in _GROUPS else None
    return {**groups, **others}


def load_settings(**overrides: Any) -> Settings:
    """Return the effective settings; `overrides` (from the command line) take precedence unless they are None.

    Raises:
        InvalidSettings: a name or value is wrong; the message names the valid ones.
    """
    # The command line passes every option, with None for those not given.
    values = {name: value for name, value in overrides.items() if value is not None}
    _refuse_unknown_variables()
    try:
        return _check(Settings(**values))
    except ValidationError as error:
        raise InvalidSettings("\n".join(_explain(problem) for problem in error.errors())) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{SETTINGS_FILE} is not valid TOML: {error}. Mend or remove it.") from error


def _check(settings: Settings) -> Settings:
    # Not by a validator, whose message repeats what it was given, with its password.
    if settings.storage.database and not settings.storage.database.startswith(("postgresql://", "postgres://")):
        raise InvalidSettings(
            "The setting 'store' is no address of PostgreSQL."
            " Give it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or leave it empty."
        )
    if settings.storage.blob_url and not settings.storage.database:
        raise InvalidSettings("The setting 'blob_url' is for a knowledge base on PostgreSQL: it needs 'store' as well.")
    return settings


@cache
def list_valid_names() -> tuple[str, ...]:
    return tuple(sorted(SETTING_FIELDS))


def _refuse_unknown_variables() -> None:
    for variable in os.environ:
        name = variable.removeprefix(ENV_PREFIX).lower()
        # pydantic-settings ignores unknown variables, so that a misspelt one would silently do nothing.
        if variable.startswith(ENV_PREFIX) and name not in (*list_valid_names(), *OLD_NAMES, *REMOVED_NAMES):
            raise InvalidSettings(f"{variable} is not a setting. {_suggest_name(name, variable_form=True)}")


def _explain(problem: Any) -> str:
    first, *rest = map(str, problem["loc"])
    name = rest[0] if rest and first in _GROUPS else first
    if (field := SETTING_FIELDS.get(name)) is None:
        return f"'{name}' is not a setting. {_suggest_name(name, variable_form=False)}"
    # What may hold a password is not repeated.
    value = repr(hide_setting(name, problem.get("input"))) if field.repr else "what it is"
    return f"Setting '{name}' ({field.description}) cannot be {value}: {problem['msg']}."


def _suggest_name(name: str, *, variable_form: bool) -> str:
    def spell(setting: str) -> str:
        return ENV_PREFIX + setting.upper() if variable_form else setting

    close = difflib.get_close_matches(name, list_valid_names(), n=1)
    hint = f"Did you mean {spell(close[0])}? " if close else ""
    return f"{hint}Settings: {', '.join(spell(setting) for setting in list_valid_names())}."
