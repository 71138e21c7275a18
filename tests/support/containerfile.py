"""The contents of deploy/container/Containerfile and its list of ignored files, read without an engine."""

import fnmatch
import json
import re
import shlex
from pathlib import Path

from repository import ROOT

PATH = ROOT / "deploy" / "container" / "Containerfile"


def instructions() -> list[tuple[str, str]]:
    """Yield each instruction and its arguments, in order, on one line."""
    lines = [line for line in PATH.read_text("utf-8").splitlines() if not line.lstrip().startswith("#")]
    whole = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in whole.splitlines() if line)]


def last_stage() -> list[tuple[str, str]]:
    found = instructions()
    return found[max(n for n, (name, _) in enumerate(found) if name == "FROM") :]


def said(name: str) -> str:
    """Return the arguments of the last instruction of that name in the last stage."""
    return [rest for one, rest in last_stage() if one == name][-1]


def words(name: str) -> list[str]:
    """Return the arguments of an instruction that is a JSON list."""
    given = json.loads(said(name))
    assert isinstance(given, list)
    return given


def environment() -> dict[str, str]:
    pairs = (pair.partition("=") for name, rest in last_stage() if name == "ENV" for pair in shlex.split(rest))
    return {name: value for name, _, value in pairs}


def copied() -> list[str]:
    """Return the paths that are copied from the repository."""
    rows = [shlex.split(rest) for name, rest in instructions() if name == "COPY" and "--from=" not in rest]
    return [word for row in rows for word in row[:-1] if not word.startswith("--")]


def is_sent(path: str) -> bool:
    """Tell whether a path is in the build context: the last matching line, for it or a folder above it, decides."""
    sent = True
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        pattern = line.removeprefix("!").removeprefix("**/")
        if not line or line.startswith("#"):
            continue
        places = [path, *(str(parent) for parent in Path(path).parents if str(parent) != ".")]
        if line.startswith("**/") or line.startswith("!**/"):
            places = Path(path).parts  # type: ignore[assignment]
        if any(fnmatch.fnmatch(place, pattern) for place in places):
            sent = line.startswith("!")
    return sent
