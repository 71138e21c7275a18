"""The container files agree with the code and with each other; behaviour that needs an engine is not tested here."""

import http.server
import os
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from typing import Any

import containerfile
import pytest
import yaml
from pydantic import SecretStr
from repository import ROOT

from argot.settings import ENV_PREFIX, SETTING_FIELDS, list_valid_names

FOLDER = containerfile.PATH.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
SERVICE: dict[str, Any] = COMPOSE["services"]["argot"]
SERVER = (ROOT / "ui" / "server.py").read_text("utf-8")
STOP_SECONDS: float = SETTING_FIELDS["stop_seconds"].default


def settings_among(names: object) -> set[str]:
    assert isinstance(names, dict | list)
    return {str(name).removeprefix(ENV_PREFIX).lower() for name in names if str(name).startswith(ENV_PREFIX)}


def secret_settings() -> set[str]:
    return {name for name, field in SETTING_FIELDS.items() if field.annotation is SecretStr}


# -- Containerfile ----------------------------------------------------------------------------------------------------


def test_every_copied_path_exists_and_is_in_the_build_context() -> None:
    assert len(containerfile.copied()) > 12
    assert [path for path in containerfile.copied() if not (ROOT / path).exists()] == []
    assert [path for path in containerfile.copied() if not containerfile.is_sent(path)] == []
    assert containerfile.is_sent("argot/settings.py") and containerfile.is_sent("dist/wheelhouse/torch.whl")
    for own in (
        ".git/config",
        "kb/people.db",
        "deploy/secrets/model_key",
        ".env",
        "argot/__pycache__/a.pyc",
        ".venv/x",
    ):
        assert not containerfile.is_sent(own), own
    assert (ROOT / ".containerignore").read_bytes() == (ROOT / ".dockerignore").read_bytes()


def test_every_package_and_its_build_files_are_copied() -> None:
    folders = {path.partition("/")[0] for path in PROJECT["tool"]["setuptools"]["package-dir"].values()}
    project = PROJECT["project"]
    assert folders | {project["readme"], *project["license-files"], "pyproject.toml", "constraints.txt"} <= set(
        containerfile.copied()
    )


def test_the_container_does_not_run_as_root() -> None:
    user, group = containerfile.said("USER").split(":")
    assert user.isdecimal() and int(user) > 1000 and group == user
    names = [name for name, _ in containerfile.last_stage()]
    assert "RUN" not in names[names.index("USER") :]
    assert f"--uid {user} --gid {group}" in containerfile.said("RUN")


def test_the_container_serves_on_the_port_it_exposes() -> None:
    environment = containerfile.environment()
    assert settings_among(environment) <= set(list_valid_names())
    assert containerfile.said("EXPOSE") == environment["ARGOT_PORT"] == str(SETTING_FIELDS["port"].default)
    program, command = containerfile.words("CMD")
    assert program in PROJECT["project"]["scripts"] and command == "serve"
    copied = " ".join(rest for name, rest in containerfile.last_stage() if name == "COPY")
    assert f"/usr/local/bin/{containerfile.words('ENTRYPOINT')[0]}" in copied
    for place in (environment["ARGOT_HOME"], environment["ARGOT_CACHE"], containerfile.said("WORKDIR")):
        assert Path(place).is_relative_to(containerfile.said("VOLUME"))


def test_the_container_downloads_nothing_at_start() -> None:
    exporting = (ROOT / "corpus" / "embedding" / "exported_models.py").read_text("utf-8")
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        assert containerfile.environment()[name] == "1" and f'{name}="1"' in exporting


class _Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_the_health_check_requests_an_address_that_exists() -> None:
    check = containerfile.said("HEALTHCHECK")
    _, _, listed = check.partition("CMD ")
    _, option, program = yaml.safe_load(listed)
    assert '"/health"' in SERVER
    with http.server.HTTPServer(("127.0.0.1", 0), _Healthy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        environment = {**os.environ, "ARGOT_PORT": str(server.server_port)}
        command = [sys.executable, option, program]
        assert subprocess.run(command, env=environment, check=False).returncode == 0
        server.shutdown()
    assert subprocess.run(command, env=environment, check=False, stderr=subprocess.DEVNULL).returncode != 0


def test_the_image_installs_the_requirements_of_pyproject() -> None:
    def run(extras: str) -> "subprocess.CompletedProcess[str]":
        program = (FOLDER / "requirements.py").read_text("utf-8")
        # In the image it is beside pyproject.toml.
        place = program.replace("Path(__file__).parent", f"Path({str(ROOT)!r})")
        return subprocess.run([sys.executable, "-c", place, extras], check=False, capture_output=True, text=True)

    optional = PROJECT["project"]["optional-dependencies"]
    wanted = [*PROJECT["build-system"]["requires"], *PROJECT["project"]["dependencies"], *optional["chat"]]
    assert run("chat").stdout.splitlines() == wanted
    assert run("chat, slack").stdout.splitlines() == [*wanted, *optional["slack"]]
    wrong = run("chat,speech")
    assert wrong.returncode and "no extra speech" in wrong.stderr and "slack" in wrong.stderr


# -- what runs in it before Argot --------------------------------------------------------------------------------------


def script(name: str, secrets: Path) -> str:
    return (FOLDER / name).read_text("utf-8").replace("/run/secrets", str(secrets))


def test_secrets_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "argot_model_key").write_text("two words\n")
    (tmp_path / "first_password").write_text("not for the service")
    command = ["sh", "-c", script("entrypoint.sh", tmp_path), "sh", "env"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "ARGOT_MODEL_KEY=two words\n" in shown
    assert "not for the service" not in shown


@pytest.mark.parametrize(
    ("there", "people", "password", "done"),
    [
        (False, "[]", "long enough it is", ["init", "user list --json", "user add ann --password --role admin"]),
        (True, "[]", "long enough it is", ["user list --json", "user add ann --password --role admin"]),
        (True, '[{"name": "bob"}]', "", ["user list --json"]),
        (False, "[]", "", ["init", "user list --json"]),
    ],
    ids=["new", "nobody yet", "in use", "no password"],
)
def test_the_first_start_creates_only_what_is_missing(
    tmp_path: Path, there: bool, people: str, password: str, done: list[str]
) -> None:
    home = tmp_path / "kb"
    home.mkdir()
    if there:
        (home / "knowledge_base.json").touch()
    (tmp_path / "first_password").write_text(password)
    stub = tmp_path / "argot"
    stub.write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/done\n[ "$2" != list ] || echo \'{people}\'\n')
    stub.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "ARGOT_HOME": str(home), "FIRST_ADMINISTRATOR": "ann"}
    code = subprocess.run(["sh", "-c", script("begin.sh", tmp_path)], check=False, env=environment).returncode
    assert (tmp_path / "done").read_text().splitlines() == done
    assert bool(code) == (people == "[]" and not password)


# -- compose.yaml -----------------------------------------------------------------------------------------------------


def test_compose_names_settings_that_exist() -> None:
    assert settings_among(SERVICE["environment"]) <= set(list_valid_names())
    assert settings_among(SERVICE["environment"]) & secret_settings() == set()
    targets = [secret["target"] for secret in SERVICE["secrets"]]
    assert {target.removeprefix("argot_") for target in targets} <= secret_settings()
    named = {secret if isinstance(secret, str) else secret["source"] for one in COMPOSE["services"].values()
             for secret in one.get("secrets", [])}  # fmt: skip
    assert named == set(COMPOSE["secrets"])
    for secret in COMPOSE["secrets"].values():
        assert secret["file"].startswith("secrets/")
    assert "/deploy/secrets/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", ["begin", "argot"])
def test_compose_gives_each_service_minimal_rights(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["user"] == containerfile.said("USER")
    assert service["read_only"] and service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert [one.partition(":")[0] for one in service["tmpfs"]] == ["/tmp"]
    assert [one.split(":") for one in service["volumes"]] == [["knowledge_base", containerfile.said("VOLUME")]]


def test_compose_serves_the_local_machine_and_allows_time_to_stop() -> None:
    port = containerfile.said("EXPOSE")
    assert SERVICE["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert f":{port}/ready" in SERVICE["healthcheck"]["test"][-1] and '"/ready"' in SERVER
    assert int(SERVICE["stop_grace_period"].removesuffix("s")) > STOP_SECONDS
    build = SERVICE["build"]
    assert (ROOT / "deploy" / build["context"] / build["dockerfile"]).resolve() == containerfile.PATH
    arguments = {rest.partition("=")[0] for name, rest in containerfile.instructions() if name == "ARG"}
    assert set(build["args"]) <= arguments


def test_the_model_server_in_compose_is_the_documented_one() -> None:
    alone = yaml.safe_load((ROOT / "deploy" / "vllm" / "gpu" / "compose.yaml").read_text("utf-8"))
    wanted, ours = alone["services"]["model-server"], COMPOSE["services"]["model-server"]
    assert ours["profiles"] == ["gpu"] and "ports" not in ours
    assert ours["image"] == wanted["image"]
    assert [f"--model={ours['command'][0]}", *ours["command"][1:]] == wanted["command"]
    assert {**ours["environment"], "VLLM_API_KEY": wanted["environment"]["VLLM_API_KEY"]} == wanted["environment"]


def test_the_systemd_unit_has_the_stop_timeout_of_the_container() -> None:
    unit = (ROOT / "deploy" / "systemd" / "argot.service").read_text("utf-8")
    assert f"TimeoutStopSec={SERVICE['stop_grace_period'].removesuffix('s')}\n" in unit
