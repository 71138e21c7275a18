"""Tests of wings: Argot works without each of them and without all, and each part that a wing names exists."""

import shutil
from pathlib import Path

import httpx
import pytest
import serving
from fork_server import ARGOT
from serving import Served

from argot import wings
from argot.service.knowledge_base import KnowledgeBase
from argot.service.transport.knowledge_base_client import LocalClient
from argot.service.usecases.people.api_keys import key_add
from argot.service.usecases.people.users import user_add
from argot.settings import Settings

WITHOUT = "import sys; sys.modules.update(dict.fromkeys({absent!r})); "
"""Python then takes these folders for ones that are not there."""
HELP = """from argot.ui.cli.main import main
try:
    main(["--help"])
except SystemExit:
    pass
"""
INSTALLED = [wing.name for wing in wings.wings()]
ABSENT = pytest.mark.parametrize("absent", [*([one] for one in INSTALLED), INSTALLED], ids="-".join)
PAGES = (
    "/documents", "/documents/sources", "/library", "/glossary", "/insight", "/administration", "/people", "/account",
)  # fmt: skip
PASSWORD = "tilted copper llama 9"
WITHOUT_REFERENCES = ("links", "account_links", "workbench", "templates")
"""Fields of a wing that name no part of a module."""


class ServedWithout(Served):
    """A service in whose process these wings are not installed."""

    def __init__(self, absent: list[str], home: Path) -> None:
        self.code = hide(absent) + ARGOT
        super().__init__(home)

    def start_process(self, arguments: list[str], variables: dict[str, str]) -> serving.Started:
        return serving.start_process(arguments, variables, cwd=self.home.parent, code=self.code, afresh=True)


def hide(absent: list[str]) -> str:
    return WITHOUT.format(absent=[f"argot.{one}" for one in absent])


def run_without(absent: list[str], code: str, *arguments: str | Path) -> str:
    done = serving.run_code(hide(absent) + code, *arguments, afresh=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_installed_wings_are_found() -> None:
    assert list(wings.NAMES) == INSTALLED


@ABSENT
def test_the_service_answers_without_wings(absent: list[str], tiny_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    with LocalClient(KnowledgeBase.open(home, Settings(home=home))) as client:
        client.call(user_add, name="ann", password=PASSWORD, role="admin")  # type: ignore[arg-type]
        key = client.call(key_add, name="test", user="ann").key
    with ServedWithout(absent, home) as service:
        headers = {"Authorization": f"Bearer {key}"}
        asked = {"question": "What does a late tariff filing cost?"}
        answer = httpx.post(f"{service.url}/api/ask", json=asked, headers=headers, timeout=120)
        assert answer.status_code == 200, answer.text
        assert "500 dollars" in answer.text
        with httpx.Client(base_url=service.url, headers={"Origin": service.url}, timeout=120) as browser:
            signed = browser.post("/sign-in", data={"name": "ann", "password": PASSWORD})
            assert signed.status_code == 303, signed.text
            links = {wing.name: [address for address, *_ in wing.links] for wing in wings.wings()}
            for page in (*PAGES, *(one for name, some in links.items() if name not in absent for one in some)):
                shown = browser.get(page)
                assert shown.status_code == 200, f"{page}: {shown.text}"
                for name, some in links.items():
                    assert all((f'href="{one}"' in shown.text) <= (name not in absent) for one in some), page


@ABSENT
def test_the_command_line_works_without_wings(absent: list[str], tiny_home: Path, tmp_path: Path) -> None:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    loaded = "import argot.service.usecases.catalogue, argot.ui.server; print(*sys.modules)"
    code = f"import atexit; atexit.register(lambda: exec({loaded!r})); exec({HELP!r}); {ARGOT}"
    *said, modules = run_without(absent, code, "doctor", "--home", home).splitlines()
    assert any(line.split()[:1] == ["serve"] for line in said) and any("sound" in line for line in said)
    names = modules.split()
    assert "argot.ui.server" in names
    assert not [one for one in names if one.startswith(tuple(f"argot.{wing}." for wing in absent))]


@pytest.mark.parametrize("wing", wings.wings(), ids=lambda wing: wing.name)
def test_every_part_that_a_wing_names_exists(wing: wings.Wing) -> None:
    references = [one for value in vars_of(wing).values() for one in value]
    assert references
    for reference in references:
        assert wings.load_part(reference) is not None


def vars_of(wing: wings.Wing) -> dict[str, list[str]]:
    named = {name: getattr(wing, name) for name in wing.__slots__ if name not in ("name", *WITHOUT_REFERENCES)}
    return {name: [*(value.values() if isinstance(value, dict) else value)] for name, value in named.items()}
