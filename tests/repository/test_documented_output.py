"""The output that the documents show for a command is what it prints on the samples."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from repository import ROOT

from argot.service.operations.sample_base import build
from argot.settings import Settings
from argot.ui.cli.main import main
from argot.wings import NAMES

PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *(page for wing in NAMES for page in sorted((ROOT / wing).rglob("README.md"))),
]
_SHOWN = re.compile(r"^```\n\$ (argot .*)\n((?:.*\n)*?)```$", re.MULTILINE)


_QUOTED = re.compile(
    r"^\$ argot ask (?P<question>\".*\")\n(?:(?!\$).*\n)*?.*`--profile (?P<profile>\w+)`.*\n\n(?P<answer>(?:> .*\n)+)",
    re.MULTILINE,
)
"""A question of a block, and below it what another profile answers, as a quotation."""


def shown(page: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a block that begins with one, and the output shown below it."""
    yield from _SHOWN.findall(page)


def stable(output: str) -> str:
    """Return the output without the parts that differ between runs: the names of threads at its end."""
    text = re.sub(r"\bt[0-9a-f]{16}\b", "THREAD", output).rstrip()
    return text.removesuffix("Thread THREAD").rstrip()


EXAMPLES = [example for page in PAGES for example in shown(page.read_text("utf-8"))]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("samples") / "kb"
    build(home, Settings(home=home))
    return home


def quoted(page: str) -> Iterator[tuple[str, str]]:
    """Yield each command whose answer is quoted, and the answer without its context and sources."""
    for found in _QUOTED.finditer(page):
        words = " ".join(line.removeprefix("> ") for line in found["answer"].splitlines())
        yield f"argot ask --profile {found['profile']} {found['question']}", words


QUOTED = [example for page in PAGES for example in quoted(page.read_text("utf-8"))]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "output"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_a_documented_command_prints_the_documented_output(
    command: str, output: str, samples: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stable(printed(command, samples, capsys, monkeypatch)) == stable(output)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "answer"), QUOTED, ids=[command for command, _ in QUOTED])
def test_a_documented_question_gets_the_quoted_answer(
    command: str, answer: str, samples: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert printed(command, samples, capsys, monkeypatch).partition("\n\nIn context")[0] == answer


def printed(command: str, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ARGOT_HOME", str(home))
    words = shlex.split(command)
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(words[1 : words.index("|") if "|" in words else None])
    assert not ended.value.code
    return capsys.readouterr().out


def test_the_documented_examples_are_found() -> None:
    assert {command.split()[1] for command, _ in EXAMPLES} == {"ask"}
    assert len(EXAMPLES) >= 2
    assert [command.split()[3] for command, _ in QUOTED] == ["plain_rag"]
    page = "```\n$ argot list | cat\none\n\ntwo\n```\n\n```bash\nargot ask x\n```\n"
    assert list(shown(page)) == [("argot list | cat", "one\n\ntwo\n")]
    assert stable("yes\n\nThread t5d0c65f5fd6b6b2c\n") == stable("yes\n")
