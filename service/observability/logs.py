"""The log: lines for people, or one JSON object per line, without questions and without secrets.

Every line passes one formatter, whoever wrote it (uvicorn, Chainlit and the other packages too). It removes

- known secrets: the keys and tokens of the settings, and passwords of the present request;
- text that looks like a secret: API keys, Slack's tokens, cookies, Bearer tokens, passwords in addresses;
- repetitions of users' words in the present request: error messages often quote their input.

A lack of file handles or memory is logged once a minute, because it affects everything attempted meanwhile; and so are
invalid requests.

Packages that log the data they send and store are limited to warnings, whatever the level.
"""

from __future__ import annotations

import errno
import json
import logging
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pydantic import SecretStr

from argot.errors import asked_from_elsewhere
from argot.service.observability.instrumentation import request_id, said_now, secrets_now, surface
from argot.settings import Settings
from argot.shown_addresses import STARS

WITHHELD = "(left out: it repeats what somebody wrote)"
# A shorter one would be found within ordinary words.
MIN_SECRET_CHARS = 4
MIN_REPEATED_WORDS = 3
"""A line repeats a user's text if it shares this many consecutive words with it, or all of a shorter text."""
MIN_REPEATED_CHARS = 8
"""Letters; fewer occur in half of all lines."""
MAX_LINE_CHARS = 20_000
"""Characters of one line."""
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
RATE_LIMIT_SECONDS = 60.0
"""Seconds."""
MALFORMED = {
    "uvicorn.error": ("Invalid HTTP request", "Unsupported upgrade"),
    "python_multipart": ("",),
    "argot.service.sign_in.access_tokens": ("an assistant sent no signed JWT", ""),
}
"""Logger, and the beginnings of its messages about an invalid request: anybody who reaches the port can send thousands.
Each beginning is a kind of its own, so that the commonest does not hide the others.
"""

TALKATIVE = (
    "aiosqlite", "asyncio", "chainlit", "chromadb", "engineio", "httpcore", "httpx", "langchain", "langgraph",
    "markdown_it", "mcp", "multipart", "openai", "pdfminer", "psycopg", "python_multipart", "slack_bolt", "slack_sdk",
    "socketio", "urllib3", "websockets",
)  # fmt: skip
"""At DEBUG and INFO they log complete statements, requests and messages."""

# Argot's keys; Slack's tokens; keys in OpenAI's format; JSON web tokens; text after Bearer or Basic (`earer`, since a
# look-behind has one length and the first letter may be small); passwords in addresses.
_SECRETS = re.compile(
    r"""
      \bargot_[A-Za-z0-9_-]{16,}
    | \bxox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{6,} | \bxapp-[A-Za-z0-9-]{6,}
    | \bsk-[A-Za-z0-9_-]{16,}
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*
    | (?<=earer[ ])[^\s"',;)]{4,} | (?<=asic[ ])[A-Za-z0-9+/=]{8,}
    | (?<=://)[^/@\s"']{1,200}(?=@)
    """,
    re.VERBOSE,
)
# Any value after a telling name: `password=...`, `"token": "..."`.
_NAMED = re.compile(
    r"""
    ( (?: password | passwd | secret | token | api[_-]?key | model_key | csrf | cookie | authorization
        | argot_\d+ | argot_inner )
      ["']? \s{0,3} (?:[:=]|=>) \s{0,3} (?: b?["'] )? )
    (?: bearer\s+ | basic\s+ )?
    ( [^\s"',;&)}\]]{3,} )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


def configure(settings: Settings) -> None:
    """Set the log up from the settings. A log that was set up elsewhere is left alone."""
    root = logging.getLogger()
    ours = [handler for handler in root.handlers if isinstance(handler.formatter, Lines)]
    if root.handlers and not ours:
        return
    handler = ours[0] if ours else logging.StreamHandler(sys.stderr)
    if not ours:
        handler.addFilter(RateLimitFilter())
    handler.setFormatter(JsonLines(settings) if settings.telemetry.log_format == "json" else Lines(settings))
    if not ours:
        root.addHandler(handler)
    root.setLevel(settings.telemetry.log_level)
    # Never more verbose than the log as a whole.
    level = max(logging.WARNING, root.level)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(level)


class RateLimitFilter(logging.Filter):
    """Lets through one line a minute of each unbounded kind, with the number suppressed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._since: dict[str, float] = {}
        self._held_back: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        kind = _name_endless_kind(record)
        if not kind:
            return True
        now = self._clock()
        if now - self._since.get(kind, -RATE_LIMIT_SECONDS) < RATE_LIMIT_SECONDS:
            self._held_back[kind] += 1
            return False
        fields: dict[str, Any] = {"held_back": self._held_back.pop(kind, 0)}
        if kind == "exhausted":
            fields["handles"] = "LimitNOFILE, or ulimit -n, allows more"
        record.fields = {**(getattr(record, "fields", None) or {}), **fields}
        self._since[kind] = now
        return True


def _name_endless_kind(record: logging.LogRecord) -> str:
    """Return the kind of an unbounded line; empty for all others."""
    if _is_exhausted(record.exc_info[1] if record.exc_info else None):
        return "exhausted"
    kinds = ((logger, beginning) for logger, some in MALFORMED.items() for beginning in some)
    for logger, beginning in kinds:
        if record.name.startswith(logger) and str(record.msg).startswith(beginning):
            return f"{logger}: {beginning}"
    return ""


class Runs(NamedTuple):
    """Return all n-grams of the text, of `size` words each."""

    size: int
    there: set[tuple[str, ...]]


class Lines(logging.Formatter):
    """Lines for people, safe to print on a terminal, because they contain file names."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")
        self.clean = Cleaner(list_secrets(settings))

    def format(self, record: logging.LogRecord) -> str:
        token = asked_from_elsewhere.set(False)  # readers of the log may know where the stores are
        try:
            return self.line(record)
        finally:
            asked_from_elsewhere.reset(token)

    def line(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", None) or {}
        field_text = "".join(f" {name}={value}" for name, value in fields.items())
        request = f" [{request_id.get()}]" if request_id.get() else ""
        text = f"{record.levelname} {record.name}:{request} {_read_message(record)}{field_text}"
        if trace := _trace(record, self.formatException):
            text += f"\n{trace}"
        return _strip_invisible(self.clean(text))


class JsonLines(Lines):
    """One object per line: at, level, logger, message, request, surface, and any other fields."""

    def line(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self.clean(_read_message(record)),
        }
        if request_id.get():
            entry |= {"request": request_id.get(), "surface": surface.get()}
        for name, value in (getattr(record, "fields", None) or {}).items():
            entry[str(name)] = self.clean(value) if isinstance(value, str) else value
        if trace := _trace(record, self.formatException):
            entry["trace"] = self.clean(trace)
        return json.dumps(entry, ensure_ascii=True, default=str)


class Cleaner:
    """Removes text that does not belong in a log, or only secrets."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        # The longest first, because one secret may be part of another.
        self._known = sorted({one for one in known if len(one) >= MIN_SECRET_CHARS}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        # Cut before it is cleaned: cleaning is linear in the text.
        if len(text) > MAX_LINE_CHARS:
            text = f"{text[:MAX_LINE_CHARS]} (cut)"
        text = self.remove_secrets(text)
        word_runs = [runs for one in said_now.get() if (runs := _find_runs(one))]
        return "\n".join(_cut_said(line, word_runs) for line in text.split("\n")) if word_runs else text

    def remove_secrets(self, text: str) -> str:
        """Return the text without keys and passwords, both known and suspected ones."""
        for secret in (*self._known, *secrets_now.get()):
            if secret in text:
                text = text.replace(secret, STARS)
        return _SECRETS.sub(STARS, _NAMED.sub(rf"\1{STARS}", text))


def list_secrets(settings: Settings) -> list[str]:
    """Every secret that stands in the settings."""
    values = settings.flatten().values()
    return [value.get_secret_value() for value in values if isinstance(value, SecretStr) and value.get_secret_value()]


def _is_exhausted(error: BaseException | None) -> bool:
    # It is usually wrapped in the error of the attempted action.
    while error is not None:
        if isinstance(error, OSError) and error.errno in EXHAUSTED:
            return True
        error = error.__cause__ or error.__context__
    return False


def _cut_said(line: str, word_runs: Sequence[Runs]) -> str:
    """Return the line; if it repeats a user's words, only the part before its first colon."""
    if not _has_repetition(line, word_runs):
        return line
    head, colon, _ = line.partition(":")
    return f"{head}: {WITHHELD}" if colon and not _has_repetition(head, word_runs) else WITHHELD


def _has_repetition(line: str, word_runs: Sequence[Runs]) -> bool:
    words = _split_words(line)
    return any(
        tuple(words[place : place + runs.size]) in runs.there
        for runs in word_runs
        for place in range(len(words) - runs.size + 1)
    )


def _find_runs(text: str) -> Runs | None:
    """Return the runs of words of a text; None if it is too short to be distinguished from the log's own words."""
    words = _split_words(text)
    size = min(MIN_REPEATED_WORDS, len(words))
    if not size or sum(map(len, words[:size])) < MIN_REPEATED_CHARS:
        return None
    return Runs(size, {tuple(words[place : place + size]) for place in range(len(words) - size + 1)})


def _split_words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _read_message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as error:
        return f"{record.msg!s} (its values do not fit: {type(error).__name__})"


def _trace(record: logging.LogRecord, told: Callable[[Any], str]) -> str:
    if record.exc_info and record.exc_info[0] is not None:
        return told(record.exc_info)
    return record.exc_text or ""


def _strip_invisible(text: str) -> str:
    """Remove control and invisible characters, which affect a terminal or hide in a text."""
    return "".join(
        character if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs") else " "
        for character in text
    )
