"""The scripts behind `make model-server`: what they refuse, and their messages. Nothing is installed or served."""

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from repository import ROOT

CPU = ROOT / "deploy" / "vllm" / "cpu"
Script = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Run a script with folders of the test, and without access to a package index."""

    def run(name: str, **variables: object) -> "subprocess.CompletedProcess[str]":
        given = {
            "MODEL_SERVER_VENV": tmp_path / "venv",
            "ARGOT_CACHE": tmp_path / "cache",
            "PYTHON": sys.executable,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": "",
            "PIP_CONFIG_FILE": os.devnull,
            **variables,
        }
        return subprocess.run(
            ["bash", str(CPU / name)],
            check=False,
            capture_output=True,
            text=True,
            env={**os.environ, **{key: str(value) for key, value in given.items()}},
            timeout=120,
        )

    return run


@pytest.fixture
def pretended(tmp_path: Path) -> Path:
    """Make an environment that is marked as finished but has no vLLM, and an empty model folder."""
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "venv" / ".installed").touch()
    model = tmp_path / "tiny-model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    return model


@pytest.fixture
def port() -> Iterator[int]:
    """Return a port that is taken."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield int(taken.getsockname()[1])


def test_serving_before_setup_names_the_setup_command(script: Script) -> None:
    done = script("serve.sh")
    assert done.returncode == 1
    assert "make model-server-setup" in done.stderr


def test_a_taken_port_is_reported_with_a_free_one(script: Script, pretended: Path, port: int) -> None:
    done = script("serve.sh", MODEL=pretended, PORT=port)
    assert done.returncode == 1
    assert f"port {port} is taken" in done.stderr
    assert f"PORT={port + 1}" in done.stderr


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("MODEL", "/nowhere", "no config.json"),
        ("THREADS", "two", "no number"),
        ("PORT", "http", "is no port"),
        ("DTYPE", "float16", "bfloat16 or float32"),
    ],
)
def test_an_invalid_option_is_reported(script: Script, pretended: Path, variable: str, value: str, words: str) -> None:
    done = script("serve.sh", **{"MODEL": pretended, variable: value})
    assert done.returncode == 1
    assert value in done.stderr
    assert words in done.stderr


def test_a_server_that_ends_shows_its_last_output(script: Script, pretended: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = int(free.getsockname()[1])
    done = script("serve.sh", MODEL=pretended, PORT=number)
    assert done.returncode == 1
    assert "No module named" in done.stderr
    assert str(tmp_path / "cache") in done.stderr


def test_an_interrupted_installation_is_reported_and_not_marked_finished(script: Script, tmp_path: Path) -> None:
    for _ in range(2):
        done = script("setup.sh")
        assert done.returncode == 1
        assert "failed at '2 of 4: PyTorch'" in done.stderr
        assert "No matching distribution" in done.stderr
        assert not (tmp_path / "venv" / ".installed").exists()


def test_too_little_disk_space_is_reported_before_installing(script: Script, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "df").write_text("#!/bin/sh\necho header\necho disk 9999 9000 999 90% /\n")
    (tools / "df").chmod(0o755)
    done = script("setup.sh", PATH=f"{tools}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert "999 MB left" in done.stderr
    assert "ARGOT_CACHE" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_an_old_python_is_refused_with_how_to_name_another(script: Script, tmp_path: Path) -> None:
    done = script("setup.sh", PYTHON=shutil.which("false"))
    assert done.returncode == 1
    assert "make model-server PYTHON=" in done.stderr


# -- on graphics cards -------------------------------------------------------------------------------------------------


def shown(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Return the command that gpu/serve.sh would run."""
    return subprocess.run(
        ["bash", str(CPU.parent / "gpu" / "serve.sh"), *words],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "SHOW": "1", "MODEL_SERVER_VENV": "/venv", **variables},
    )


def flags_of(done: "subprocess.CompletedProcess[str]") -> list[str]:
    assert done.returncode == 0, done.stderr
    assert shlex.split(done.stdout)[:2] == ["/venv/bin/vllm", "serve"]
    return shlex.split(done.stdout)[2:]


COMPOSE = yaml.safe_load((CPU.parent / "gpu" / "compose.yaml").read_text())["services"]["model-server"]


@pytest.mark.parametrize("size", ["24g", "80g"])
def test_a_gpu_model_is_served_locally_under_one_name(size: str) -> None:
    flags = flags_of(shown(size))
    assert flags[flags.index("--host") + 1] == "127.0.0.1"
    assert flags[flags.index("--served-model-name") + 1] == "argot"
    assert "--enable-prefix-caching" in flags


def test_further_flags_are_passed_on_and_any_model_may_be_named() -> None:
    flags = flags_of(shown("somebody/model", "--tensor-parallel-size", "2", PORT="8000"))
    assert flags[0] == "somebody/model"
    assert flags[-4:] == ["--port", "8000", "--tensor-parallel-size", "2"]


def test_lora_adapters_are_enabled_by_their_rank() -> None:
    assert "--enable-lora" not in flags_of(shown("somebody/model"))
    flags = flags_of(shown("somebody/model", LORA="32"))
    at = flags.index("--enable-lora")
    assert flags[at : at + 3] == ["--enable-lora", "--max-lora-rank", "32"]


@pytest.mark.parametrize(
    ("words", "variables", "said"),
    [
        (("80g",), {"LORA": "yes"}, "vLLM takes 8, 16, 32"),
        ((), {}, "say which model"),
        (("--port", "80"), {}, "the model comes first"),
        (("80g",), {"SHOW": "", "HOST": "0.0.0.0", "VLLM_API_KEY": ""}, "set VLLM_API_KEY"),
    ],
)
def test_an_invalid_gpu_server_is_refused_with_a_reason(
    words: tuple[str, ...], variables: dict[str, str], said: str
) -> None:
    done = shown(*words, **variables)
    assert done.returncode == 1
    assert said in done.stderr


def test_the_container_serves_like_the_script_and_needs_a_key() -> None:
    flags = flags_of(shown("80g"))
    wanted = [f"--model={flags[0]}"]
    for flag in flags[1 : flags.index("--host")]:
        if flag.startswith("--"):
            wanted.append(flag)
        else:
            wanted[-1] += f"={flag}"
    assert sorted(COMPOSE["command"]) == sorted(wanted)
    assert COMPOSE["ports"] == ["127.0.0.1:8011:8000"]
    assert COMPOSE["environment"]["VLLM_API_KEY"].startswith("${VLLM_API_KEY:?")


@pytest.mark.vllm
def test_vllm_accepts_every_flag() -> None:
    python = CPU.parent.parent.parent / ".venv-vllm" / "bin" / "python"
    if not python.exists():
        pytest.skip("no vLLM here: make model-server-setup builds it (2 GB)")
    code = (
        "import json, sys\nfrom vllm.utils.argparse_utils import FlexibleArgumentParser\n"
        "from vllm.entrypoints.launchers.cli_args import make_arg_parser\n"
        "for flags in json.loads(sys.argv[1]):\n"
        "    print(make_arg_parser(FlexibleArgumentParser()).parse_args(flags).served_model_name)"
    )
    more = ("--tensor-parallel-size", "2", "--pipeline-parallel-size", "2", "--distributed-executor-backend", "ray")
    command = [python, "-c", code, json.dumps([flags_of(shown(size, *more)) for size in ("24g", "80g")])]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stdout.splitlines()[-2:] == ["['argot']"] * 2, done.stderr[-1000:]
