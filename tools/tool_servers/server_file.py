"""The file that names other MCP servers, and allows tools of theirs (setting `mcp_servers`).

It has a table for each server, and one in it for each tool, as `argot mcp-tools` prints it (docs/administrators.md).
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from argot.errors import InvalidSettings
from argot.types import EVERYONE, Audience, Principal

MAX_FILE_BYTES = 1_000_000
MAX_DESCRIPTION_CHARS = 300
MAX_SENT_CHARS = 400
"""Greatest length of the arguments of one call; the prompt `research` allows no longer ones."""
ANYBODY = "*"
"""Stands among the groups of a server that everybody may use."""

ServerName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
TOOL_NAME = r"^[A-Za-z0-9_./-]{1,80}$"
ToolName = Annotated[str, Field(pattern=TOOL_NAME)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class AllowedTool(_Table):
    """A tool that may be called. `digest`: of its description and schema when it was allowed.

    `sends`: "question", if its arguments may contain only words of the question and of `arguments`; "anything" also
    lets the model send words of documents. `arguments` and `description` are put to the model.
    """

    digest: str = Field(pattern="^[0-9a-f]{32}$")
    description: str = Field("", max_length=MAX_DESCRIPTION_CHARS)
    arguments: str = Field("", max_length=1000)
    sends: Literal["question", "anything"] = "question"
    max_sent_chars: int = Field(300, ge=1, le=MAX_SENT_CHARS)


class ToolServer(_Table):
    """An MCP server by its address or its command, with the tools that may be called.

    `groups`: those that may use it; empty: nobody. `seconds`: for one call, from the connection to the result.
    """

    url: str = ""
    command: tuple[str, ...] = ()
    secret_env: str = Field("", pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")
    secret_file: Path | None = None
    secret_variable: str = Field("", pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")
    groups: tuple[str, ...] = ()
    seconds: float = Field(10, gt=0, le=60)
    max_result_chars: int = Field(6000, ge=100, le=20_000)
    tools: dict[ToolName, AllowedTool] = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.url) == bool(self.command):
            raise ValueError("give either 'url' or 'command'")
        if self.url:
            _check_url(self.url)
        if self.secret_env and self.secret_file:
            raise ValueError("give either 'secret_env' or 'secret_file'")
        has_secret = bool(self.secret_env or self.secret_file)
        if bool(self.secret_variable) != (has_secret and bool(self.command)):
            raise ValueError(
                "'secret_variable' is the variable in which a command, and only a command, gets its secret"
            )
        return self

    @property
    def audience(self) -> Audience | None:
        """The readers who may use it; None: nobody may."""
        if not self.groups:
            return None
        return EVERYONE if ANYBODY in self.groups else frozenset(self.groups)

    def may_use(self, principal: Principal) -> bool:
        audience = self.audience
        return audience is not None and principal.may_read(audience)

    def read_secret(self) -> str:
        """Return the server's key, which is read for each call; empty: it needs none.

        Raises:
            InvalidSettings: it is not where the file says.
        """
        if self.secret_env:
            found = os.environ.get(self.secret_env, "")
            place = f"The environment variable {self.secret_env}"
        elif self.secret_file:
            place = f"The file {self.secret_file}"
            try:
                found = self.secret_file.read_text("utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise InvalidSettings(f"{place} with a server's key cannot be read: {type(error).__name__}.") from error
        else:
            return ""
        if not found or not found.isprintable() or not found.isascii():
            raise InvalidSettings(f"{place} holds no key: set it to the key of the server, in one line of ASCII.")
        return found


_FILE = TypeAdapter(dict[ServerName, ToolServer])


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("'url' is no http:// or https:// URL with a host")
    if parts.username or parts.password:
        raise ValueError("'url' contains a password; put the key into 'secret_env' or 'secret_file'")


def read_server_file(path: Path | None) -> dict[str, ToolServer]:
    """Return the servers of the file, by name; none without a file.

    Raises:
        InvalidSettings: the file cannot be read, or contains something wrong; the message names it.
    """
    if path is None:
        return {}
    shown = f"The file {path} (setting 'mcp_servers') cannot be used"
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise InvalidSettings(f"{shown}: it is longer than {MAX_FILE_BYTES} bytes. Name another file.")
        return _FILE.validate_python(tomllib.loads(data.decode("utf-8-sig")))
    except OSError as error:
        raise InvalidSettings(f"{shown}: {error.strerror or error}. Create it, or unset ARGOT_MCP_SERVERS.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidSettings(f"{shown}: it is not valid TOML ({error}). Correct it.") from error
    except ValidationError as error:
        problems = "\n".join(_explain(one) for one in error.errors())
        raise InvalidSettings(f"{shown}:\n{problems}") from error


def _explain(problem: Any) -> str:
    place = ".".join(str(part) for part in problem["loc"] if part != "[key]")
    if problem["type"] == "extra_forbidden":
        table = AllowedTool if "tools" in problem["loc"] else ToolServer
        return f"'{place}' is no setting of a server or tool. Settings: {', '.join(table.model_fields)}."
    # Somebody may have put a key into a whole table, or in place of the variable that has it: neither is repeated.
    given = problem.get("input")
    is_shown = isinstance(given, str | int | float | bool) and not str(problem["loc"][-1]).startswith("secret")
    value = f" cannot be {given!r:.100}" if is_shown else ""
    text = problem["msg"].removeprefix("Value error, ")
    return f"'{place}'{value}: {text[:1].lower()}{text[1:]}."
