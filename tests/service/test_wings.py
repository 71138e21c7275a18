"""Wings: Argot works without each of them, and what each names is there."""

import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from serving import COMMAND, Served

from argot import wings

WITHOUT = "import sys; sys.modules['argot.{wing}'] = None; "
"""Python then takes the folder for one that is not there."""
INSTALLED = [wing.name for wing in wings.wings()]


def without(wing: str, code: str, *arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(wing=wing) + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_wings() -> None:
    assert {"ratings", "slack"} <= set(INSTALLED)


@pytest.mark.parametrize("wing", INSTALLED)
def test_the_service_answers_without_a_wing(
    wing: str, tiny_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    monkeypatch.setattr("serving.COMMAND", [*COMMAND[:2], WITHOUT.format(wing=wing) + COMMAND[2]])
    with Served(home) as service:
        asked = {"model": "argot", "messages": [{"role": "user", "content": "What does a late filing cost?"}]}
        said = httpx.post(f"{service.url}/v1/chat/completions", json=asked, timeout=120)
        assert said.status_code == 200, said.text
        assert "500 dollars" in said.json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize("wing", INSTALLED)
def test_the_command_line_works_without_a_wing(wing: str) -> None:
    code = "from argot.ui.cli.main import main; main()"
    assert "serve" in without(wing, code, "--help")
    loaded = "import argot.service.usecases.catalogue, argot.ui.cli.main; print(*sys.modules)"
    assert not [one for one in without(wing, loaded).split() if one.startswith(f"argot.{wing}.")]


@pytest.mark.parametrize("wing", wings.wings(), ids=lambda wing: wing.name)
def test_what_a_wing_names_is_there(wing: wings.Wing) -> None:
    references = [one for value in vars_of(wing).values() for one in value]
    assert references
    for reference in references:
        assert wings.load_part(reference) is not None


def vars_of(wing: wings.Wing) -> dict[str, list[str]]:
    named = {name: getattr(wing, name) for name in wing.__slots__ if name not in ("name", "links", "templates")}
    return {name: [*(value.values() if isinstance(value, dict) else value)] for name, value in named.items()}
