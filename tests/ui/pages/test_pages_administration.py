"""Tests of the administration page and its result as JSON: what it shows to whom, and that no secret is in it."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from desk import at_desk
from pydantic import SecretStr

from argot.errors import ArgotError, InvalidSettings, NotAllowed, StoreUnavailable
from argot.languages.catalogues import speak
from argot.languages.written_texts import translate_written
from argot.results import ModelCall
from argot.service.audit.audit_sinks import parse_syslog
from argot.service.audit.audit_trail import mask_settings
from argot.service.knowledge_base import KnowledgeBase
from argot.service.mail import MailRefused, send_mail
from argot.service.maintenance import process_checks, recent_checks
from argot.service.maintenance.findings import make_good_finding
from argot.service.maintenance.licences import list_licences
from argot.service.maintenance.recent_checks import RecentChecks
from argot.service.maintenance.settings_in_force import list_settings
from argot.service.observability.metrics import Metrics
from argot.service.sign_in.page_tokens import load_key_file
from argot.service.sign_in.provider_claims import require_provider
from argot.service.usecases import catalogue
from argot.service.usecases.operations import administration as module
from argot.service.usecases.operations.administration import administration
from argot.service.usecases.operations.maintenance import backup
from argot.settings import SETTING_FIELDS, Settings, is_secret, load_settings
from argot.types import Principal
from argot.ui.api import usecase_routes
from argot.ui.api.http_client import RemoteClient
from argot.ui.pages.administration_pages import SOURCES, build_administration_pages, format_size
from argot.ui.pages.page_base import load_templates
from argot.work.job_kinds import KINDS, job_kind
from argot.work.job_types import JobRequest, JobRun

ADA = Principal("ada", sees_all=True)
MIA = Principal("mia", frozenset({"managers"}))
HOSTILE = "<script>alert(1)</script>"
CANARY = "canary"
SECRETS = {
    name: SecretStr(f"{CANARY}-{name}") for name in SETTING_FIELDS if SETTING_FIELDS[name].annotation is SecretStr
}
ADDRESSES = {
    "audit_url": f"https://user:{CANARY}@127.0.0.1:9/{CANARY}",
    "service_url": f"http://user:{CANARY}/x@{CANARY}@127.0.0.1:9",
    "model_url": f"http://user:{CANARY}@127.0.0.1:9/v1",
    "vision_url": f"user:{CANARY}@127.0.0.1:9?key={CANARY}",
}
MORE_ADDRESSES = {
    "store": f"postgresql://user:{CANARY}@127.0.0.1:9/argot?password={CANARY}",
    "blob_url": f"s3://user:{CANARY}/x-{CANARY}@bucket/kb",
    "chroma_url": f"http://user:{CANARY}@127.0.0.1:9",
    "trace_endpoint": f"http://user:{CANARY}@127.0.0.1:9/v1?token={CANARY}",
    "metric_endpoint": f"http://127.0.0.1:9/v1?k={CANARY}#{CANARY}",
    "oidc_issuer": f"https://user:{CANARY}@127.0.0.1:9#{CANARY}",
    "embed_token_key": f"https://127.0.0.1:9/keys?k={CANARY}",
    "mail_server": f"smtp://user:{CANARY}@127.0.0.1:9",
    "audit_syslog": f"tcp://user:{CANARY}@127.0.0.1:9",
}


@pytest.fixture
async def kb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[KnowledgeBase]:
    # Each would wait for the servers of the settings; they have tests of their own.
    monkeypatch.delitem(process_checks.PROCESS_CHECKS, "other servers")
    home = tmp_path / "kb"
    settings = Settings(home=home, job_retry_seconds=0.01, audit_file=tmp_path / "audit.jsonl")
    async with KnowledgeBase.open(home, settings, create=True) as opened:
        yield opened


@pytest.fixture
async def ada(kb: KnowledgeBase) -> AsyncIterator[httpx.AsyncClient]:
    async with at_desk(build_administration_pages(kb), ADA) as client:
        yield client


async def show(client: httpx.AsyncClient, query: str = "") -> str:
    answer = await client.get(f"/administration{query}")
    assert answer.status_code == 200, answer.text[-500:]
    return answer.text


async def test_no_secret_is_in_the_page_or_the_json(kb: KnowledgeBase, ada: httpx.AsyncClient, tmp_path: Path) -> None:
    kb.settings = kb.settings.replace(**SECRETS, **ADDRESSES, product=HOSTILE)
    html = await show(ada)
    sent = json.dumps(await catalogue.get_result(kb, ADA, "administration"))
    assert CANARY not in html and CANARY not in sent
    assert HOSTILE not in html and "&lt;script&gt;" in html and "127.0.0.1:9" in html
    shown = {one.name: one for one in (await administration(kb, ADA)).settings}
    assert {shown[name].value for name in (*SECRETS, "audit_url")} == {"set"}
    events = (tmp_path / "audit.jsonl").read_text("utf-8")
    assert CANARY not in events
    reads = [json.loads(line) for line in events.splitlines()]
    assert {(one["api"]["operation"], one["activity_name"], one["actor"]["user"]["name"]) for one in reads} == {
        ("administration", "Read", "ada")
    }
    assert shown["store"].value == "not set" and list(shown) == list(SETTING_FIELDS)


def test_no_password_of_an_address_is_shown() -> None:
    settings = Settings().replace(**SECRETS, **ADDRESSES, **MORE_ADDRESSES)
    shown = {one.name: one for one in list_settings(settings)}
    assert CANARY not in str(shown)
    assert shown["trace_endpoint"].value == "http://***@127.0.0.1:9/v1?***"
    assert all(shown[name].value == "set" for name in ("store", "blob_url", "chroma_url", *SECRETS))
    found = list(process_checks._check_settings(settings))
    assert CANARY not in str(found)
    assert any(one["detail"].startswith("postgresql://***@127.0.0.1:9/argot") for one in found)
    masked = mask_settings(settings)
    assert CANARY not in str(masked) and masked.keys() >= {*SECRETS, *ADDRESSES, *MORE_ADDRESSES}
    for name in ("mail_server", "audit_syslog", "oidc_issuer", "service_url"):
        with pytest.raises(InvalidSettings) as refused:
            load_settings(**{name: (ADDRESSES | MORE_ADDRESSES)[name]})
        assert CANARY not in str(refused.value) and "127.0.0.1:9" in str(refused.value)


@pytest.mark.parametrize(
    "key",
    [
        f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n",
        f"Bag Attributes\n-----BEGIN PRIVATE KEY-----\n{CANARY}\n",
        json.dumps({"kty": "EC", "d": CANARY, "x5u": "https://keys.example.com"}),
        json.dumps([{"kty": "EC", "d": CANARY}], indent=1),
        f"MC4CAQAwBQYDK2VwBCIEI{CANARY}+/=",
        f"https://keys.example.com/jwks;pw={CANARY}",
    ],
)
def test_a_private_key_in_place_of_a_public_one_is_not_shown(key: str) -> None:
    pasted = Settings(embed_token_key=key)
    with pytest.raises(InvalidSettings) as refused:
        load_key_file(key)
    shown = (list(list_settings(pasted)), mask_settings(pasted), refused.value)
    assert CANARY not in str(shown) and "embed_token_key" in str(refused.value)


def test_no_check_of_a_server_shows_a_secret_of_its_address() -> None:
    address = f"http://me:{CANARY}@127.0.0.1:9/?k={CANARY}#{CANARY}"
    settings = Settings().replace(metric_endpoint=address, trace_endpoint=address, oidc_issuer=address,
                                  oidc_client_id="a", oidc_client_secret=SecretStr("a"))  # fmt: skip
    found = process_checks.check_other_servers(settings)
    assert CANARY not in str(found) and "127.0.0.1:9" in str(found)
    with pytest.raises(InvalidSettings) as refused:
        require_provider(Settings().replace(oidc_issuer=address))
    with pytest.raises(InvalidSettings) as unread:
        parse_syslog(address)
    with pytest.raises(MailRefused) as unsent:
        send_mail(Settings().replace(mail_server=address.replace("http:", "smtp:")).mail, ["ann@example.com"], "", "")
    with pytest.raises(ArgotError) as unanswered:
        RemoteClient(address, "key").call("search", query="x")
    assert CANARY not in f"{refused.value} {unread.value} {unsent.value} {unanswered.value}"
    named = {name for name in SETTING_FIELDS if name.endswith(("key", "token", "password"))}
    assert {name for name in named if not is_secret(name)} == {"embed_token_key"}  # a public key


async def test_only_administrators_may_read_it(kb: KnowledgeBase) -> None:
    for who in (MIA, Principal("ann")):
        async with at_desk(build_administration_pages(kb), who) as client:
            refused = await client.get("/administration")
            assert refused.status_code == 403 and "Not allowed" in refused.text and "passage_chars" not in refused.text
        with pytest.raises(NotAllowed):
            await catalogue.get_result(kb, who, "administration")


async def test_the_api_gives_the_same_to_administrators_alone(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    (address,) = [one for one in usecase_routes.ADDRESSES if one.case == "administration"]
    monkeypatch.setattr(usecase_routes, "list_addresses", lambda: [address])
    routes = usecase_routes.build_usecase_routes(kb)
    async with at_desk(routes, MIA) as mia:
        assert (await mia.get("/api/administration")).status_code == 403
    async with at_desk(routes, ADA) as ada:
        sent = (await ada.get("/api/administration?search=passage_chars&changed=false")).json()
        assert [one["name"] for one in sent["settings"]] == ["passage_chars"]
        assert {"health", "models", "jobs", "storage", "licences"} <= set(sent)
        assert (await ada.get("/api/administration?sort=name")).status_code in (400, 422)


@pytest.mark.parametrize(("role", "is_linked"), [("admin", True), ("manager", False), ("asker", False)])
def test_only_administrators_see_its_link(role: str, is_linked: bool) -> None:
    who: Any = SimpleNamespace(display_name="x", csrf="x", role=role, principal=MIA)
    page = load_templates().get_template("base.html").render(who=who, path="/account", done="")
    assert ('href="/administration"' in page) == is_linked


async def test_settings_are_searched_and_limited_to_changed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARGOT_PASSAGE_CHARS", "900")
    monkeypatch.delitem(process_checks.PROCESS_CHECKS, "other servers")
    settings = Settings(home=tmp_path / "kb", share_conversations=False)
    async with KnowledgeBase.open(settings.home, settings, create=True) as kb:
        found = await administration(kb, ADA, changed=True)
        assert {"home", "passage_chars", "share_conversations"} <= {one.name for one in found.settings}
        (passage,) = [one for one in found.settings if one.name == "passage_chars"]
        assert (passage.value, passage.default, passage.source) == ("900", "1200", "from ARGOT_PASSAGE_CHARS")
        async with at_desk(build_administration_pages(kb), ADA) as ada:
            html = await show(ada, "?q=longest+passage")
            assert "passage_chars" in html and "<code>home</code>" not in html and '<details class="card" open>' in html
            assert "from ARGOT_PASSAGE_CHARS" in html
            assert "No setting is like that" in await show(ada, "?q=%3Cb%3E&changed=1")


async def test_jobs_stores_and_models_are_shown(kb: KnowledgeBase, ada: httpx.AsyncClient, tmp_path: Path) -> None:
    async def fail(run: JobRun) -> str:
        raise RuntimeError(HOSTILE)

    job_kind("test", busy="")(fail)
    try:
        job = await kb.jobs.submit(JobRequest("test", MIA, label=HOSTILE))
        _ = [one async for one in kb.jobs.follow(job.id)]
    finally:
        del KINDS["test"]
    kb.settings = kb.settings.replace(model_url="http://127.0.0.1:9/v1", model_key=SecretStr(CANARY))
    kb.metrics = Metrics()
    kb.metrics.model_called(ModelCall(prompt="write_answer", seconds=1, failed="was cancelled"))
    kb.metrics.model_called(ModelCall(prompt="write_answer", seconds=1, failed="did not answer in time"))
    assert "none is known of" in await show(ada)
    await backup(kb, ADA, path=str(tmp_path / "backup.tar"))
    html = await show(ada)
    assert "put aside" in html and HOSTILE not in html and CANARY not in html
    assert "none is known of" not in html and "did not answer in time" in html and "does not answer" in html
    found = await administration(kb, ADA)
    assert found.models.language.address == "127.0.0.1:9" and found.models.language.does_answer is False
    assert found.models.last_failure and found.models.last_failure.prompt == "write_answer"
    assert [one.id for one in found.jobs.failed] == [job.id] and not found.jobs.under_way
    assert {"corpus.db", "vectors/"} <= {one.name for one in found.storage.stores}
    assert (found.storage.documents, found.storage.passages, found.storage.removed) == (0, 0, 0)
    assert [one["ok"] for one in found.health.findings] == sorted(one["ok"] for one in found.health.findings)


async def test_a_store_that_fails_does_not_hide_the_rest(
    kb: KnowledgeBase, ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(home: Path) -> None:
        raise StoreUnavailable("The disk is gone.", "Mount it")

    monkeypatch.setattr(module, "measure_stores", refuse)
    html = await show(ada)
    assert "The disk is gone." in html and "passage_chars" in html


async def test_a_check_that_hangs_is_reported_and_not_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, going = [], threading.Event()

    def hang(settings: Settings) -> list[Any]:
        begun.append(settings)
        going.wait()
        return [make_good_finding("slow", "done")]

    def fail(settings: Settings) -> list[Any]:
        raise OSError("no route")

    monkeypatch.setattr(recent_checks, "PROCESS_CHECKS", {"slow": hang, "broken": fail})
    monkeypatch.setattr(recent_checks, "WAIT_SECONDS", 0.05)
    checks, settings = RecentChecks(), Settings()
    for _ in range(2):
        slow, broken = await checks.find(settings)
        assert not slow["ok"] and "no result" in slow["detail"]
        assert not broken["ok"] and "no route" in broken["detail"]
    going.set()
    await asyncio.to_thread(checks._runs["slow"].found.result)
    assert (await checks.find(settings))[0] == make_good_finding("slow", "done")
    assert len(begun) == 1


def test_licences_are_those_that_packages_state() -> None:
    found = {one.name.lower(): one.licence for one in list_licences()}
    assert next(iter(found)) == "argot" and found["argot"] == "Apache-2.0"
    assert found["pydantic"] == "MIT" and len(found) == len(list_licences()) > 30


@pytest.mark.parametrize(
    ("language", "sizes", "source"),
    [
        ("en", ["12.3 MB", "1.5 GB"], "from ARGOT_HOME"),
        ("de", ["12,3 MB", "1,5 GB"], "aus ARGOT_HOME"),
        ("fr", ["12,3 Mo", "1,5 Go"], "depuis ARGOT_HOME"),
        ("es", ["12,3 MB", "1,5 GB"], "de ARGOT_HOME"),
    ],
)
def test_sizes_and_sources_of_settings_are_in_the_language_of_the_page(
    language: str, sizes: list[str], source: str
) -> None:
    with speak(language):
        assert [format_size(12_345_678), format_size(1_500_000_000)] == sizes
        assert translate_written("from ARGOT_HOME", SOURCES) == source
