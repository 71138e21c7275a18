"""Tests of the audit trail: the events of real use cases, what never gets into one, and its three destinations."""

import asyncio
import base64
import json
import shutil
import socket
import threading
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from api_site import URL, Site
from otlp_receiver import receiving
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import Response

from argot.errors import Conflict, InvalidSettings, NotAllowed, NotFound, StoreUnavailable
from argot.service.audit.audit_actions import ACTIONS, API, CLASS_NAMES, READS, RESOURCES
from argot.service.audit.audit_events import MAX_VALUE_CHARS, STOPPED, Deed, Outcome, describe_failure
from argot.service.audit.audit_sinks import QueueSink, parse_syslog
from argot.service.audit.audit_trail import REFUSALS_PER_MINUTE, AuditTrail, make_trail
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.backup import record_restore
from argot.service.observability.instrumentation import credential, request_id, surface
from argot.service.sign_in.account import end_sessions
from argot.service.sign_in.password_sign_in import SignIn, SignInRefused
from argot.service.sign_in.provisioning import Provisioning
from argot.service.usecases import catalogue
from argot.service.usecases.audited_cases import note_sync
from argot.service.usecases.glossary.files import glossary_export
from argot.service.usecases.glossary.senses import SenseFields, glossary_add, glossary_approve, glossary_save
from argot.service.usecases.operations.administration import administration
from argot.service.usecases.usecase_registry import get_answer, get_outcome
from argot.settings import Settings
from argot.types import Principal
from argot.ui.server import _require_usable
from argot.ui.web.authentication import Authenticator
from argot.ui.web.authorization import Addresses
from argot.ui.web.host_names import HostNames
from argot.ui.web.observability import RequestObserver
from argot.ui.web.security import Guard

ADMIN = make_local_principal()
ANN = Principal("ann")
PASSWORD = "plum-orbit-velvet-93"
WRONG_PASSWORD = "canary-wrong-password"
TEXT = "# Ferry rules\n\nThe canaryparagraph about ferries says that they wait.\n"
QUESTION = "What does canaryquestion mean for the canaryparagraph?"
DEFINITION = "canarydefinition of the moor"

# Use cases without an event: they read, answer, or change only what is the asker's own, a draft or a measurement.
_UNRECORDED = """
answer ask ask_again ask_in_sense candidate_search check context_list context_since converse data_correct data_list
data_make data_restore data_show data_start data_stop data_strike derivation_status derive derived_list derived_remove
doctor_findings document_find document_near document_revisions document_use embed evaluation_compare evaluation_list
evaluation_measure evaluation_remove evaluation_run evaluation_start evaluation_stop feedback feedback_list
generator_ask
glossary_changes glossary_conflicts glossary_digest glossary_edit_effects glossary_effects glossary_effects_together
glossary_history glossary_likely_context glossary_list glossary_mine glossary_mine_start glossary_mine_stop
glossary_mined glossary_misses glossary_occurrences glossary_offers glossary_passage glossary_preview
glossary_proposal glossary_proposals glossary_propose glossary_queue glossary_search glossary_sense glossary_similar
glossary_since glossary_term glossary_to_do glossary_use glossary_warnings insight job_cancel job_list job_retry
job_show key_list language_advice list_documents meaning_report metrics model_change model_verdict models_in_force
other_senses profile_list profile_show rating_ask rating_close rating_create rating_create_asked
rating_create_from_thumbs rating_invite rating_list rating_reopen rating_save rating_show rating_studies_mine
rating_task rating_uninvite reader_groups removed_list report_term search shared_read slack_channel_list
slack_continue slack_people_list source_list source_progress strategy_choose strategy_run strategy_start term_comment
term_show term_suggestions terms_check terms_list terms_mark thread_attach thread_detach thread_files
thread_follow_ups thread_link_list thread_list thread_news thread_read thread_rename thread_settings thread_share
training_compare training_list training_recipe training_remove training_resume training_sets training_show
training_start training_stop tuning_list tuning_prepare tuning_remove tuning_resume tuning_show tuning_start tuning_stop
user_list user_sessions verified_draft verified_list
"""
UNRECORDED = set(_UNRECORDED.split())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path, file: Path) -> AsyncIterator[KnowledgeBase]:
    folder = await asyncio.to_thread(shutil.copytree, tiny_home, tmp_path / "kb")
    settings = Settings(home=folder, audit_file=file, audit_reads=True, model_key=SecretStr("canary-model-key"))
    async with KnowledgeBase.open(folder, settings) as opened:
        yield opened


def read_events(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def stat_mode(file: Path) -> int:
    return file.stat().st_mode


def rotate(file: Path) -> Path:
    return file.rename(file.with_suffix(".1"))


def summarize(event: dict[str, Any]) -> tuple[str, ...]:
    """Return operation, class, activity, outcome, actor, and what the event is about."""
    about = [one.get("name") or one.get("uid") or one["type"] for one in event.get("resources", [])]
    concerned = event.get("user", {}).get("name", "") or ", ".join(about)
    actor = event["actor"].get("user", {}).get("name", "")
    outcome = event.get("status_code", "done")
    return (event["api"]["operation"], event["class_name"], event["activity_name"], outcome, actor, concerned)


async def spend_day(kb: KnowledgeBase) -> None:
    """Do through real use cases what people do in a day."""
    sign_in = SignIn(kb)
    await catalogue.users.user_add(kb, ADMIN, name="mia", groups=["harbour"], password=SecretStr(PASSWORD))
    for name, password in (("mia", WRONG_PASSWORD), (WRONG_PASSWORD, "x"), ("mia", PASSWORD)):
        with suppress(SignInRefused):
            await sign_in.with_password(name, password, "192.0.2.7")
    await catalogue.users.user_set(kb, ADMIN, name="mia", role="manager", manages=["*"], groups=["harbour"])
    mia = kb.principal("mia")
    with pytest.raises(NotAllowed):
        await catalogue.users.user_suspend(kb, mia, name="ann")
    data = base64.b64encode(TEXT.encode()).decode()
    await catalogue.uploads.upload(kb, mia, name="ferry.md", data=data, audience=["harbour"])
    await catalogue.revisions.document_label(kb, mia, document="ferry.md", audience=["@mia"])
    with pytest.raises(NotFound):
        await catalogue.documents.read_source(kb, ANN, document="ferry.md")
    await catalogue.documents.read_source(kb, mia, document="ferry.md")
    await catalogue.documents.read_source(kb, mia, document="drive-tool.md")
    made = await glossary_add(kb, mia, term="MOOR", context="Tools", expansion="a moor", description=DEFINITION)
    saved = await glossary_save(kb, mia, sense_id=made.id, version=made.version, sense=SenseFields(notes=DEFINITION))
    await glossary_approve(kb, mia, sense_id=made.id, version=saved.version)
    await get_answer(catalogue.questions.ask(kb, mia, question=QUESTION))
    await glossary_export(kb, mia)
    key = await catalogue.api_keys.key_add(kb, mia, name="script", days=3)
    assert key.key
    await catalogue.api_keys.key_revoke(kb, mia, key=key.id)
    await catalogue.documents.remove(kb, mia, document="ferry.md")
    await end_sessions(kb, "mia")


async def test_the_events_of_a_day_are_exactly_what_was_done(kb: KnowledgeBase, file: Path) -> None:
    await spend_day(kb)
    events = read_events(file)
    iam, web, entity = "Account Change", "Web Resources Activity", "Entity Management"
    (ferry,) = {one["resources"][0]["name"] for one in events if one["api"]["operation"] == "upload"}
    assert ferry.endswith("ferry.md")
    assert [summarize(event) for event in events] == [
        ("user_add", iam, "Create", "done", "local", "mia"),
        ("sign_in_with_password", "Authentication", "Logon", "401", "", "mia"),
        ("sign_in_with_password", "Authentication", "Logon", "401", "", ""),
        ("sign_in_with_password", "Authentication", "Logon", "done", "", "mia"),
        ("user_set", "User Access Management", "Assign privileges", "done", "local", "mia"),
        ("user_suspend", iam, "Disable", "NotAllowed", "mia", "ann"),
        ("upload", web, "Create", "done", "mia", ferry),
        ("document_label", web, "Update", "done", "mia", ferry),
        ("read_source", web, "Read", "NotFound", "ann", ferry),
        ("read_source", web, "Read", "done", "mia", ferry),
        ("glossary_add", entity, "Create", "done", "mia", "MOOR"),
        ("glossary_save", entity, "Update", "done", "mia", "MOOR"),
        ("glossary_approve", entity, "Approve", "done", "mia", "MOOR"),
        ("glossary_export", web, "Export", "done", "mia", "glossary"),
        ("key_add", entity, "Create", "done", "mia", "script"),
        ("key_revoke", entity, "Delete", "done", "mia", "script"),
        ("remove", web, "Delete", "done", "mia", ferry),
        ("sign_out_everywhere", "Authentication", "Logoff", "done", "mia", "mia"),
    ]
    assert events[0]["unmapped"] == {"groups": ["harbour"]}
    assert events[4]["unmapped"] == {"groups": ["harbour"], "role": "manager", "manages": ["*"]}
    assert events[7]["unmapped"] == {"audience": ["@mia"]}
    assert events[1]["src_endpoint"] == {"ip": "192.0.2.7"}
    for event in events:
        assert event["type_uid"] == event["class_uid"] * 100 + event["activity_id"]
        assert event["class_uid"] // 1000 == event["category_uid"]
        assert event["time_dt"].endswith("+00:00") and abs(event["time"] / 1000 - time.time()) < 60
    assert len({event["metadata"]["uid"] for event in events}) == len(events)


async def test_no_words_and_no_secrets_get_into_an_event(kb: KnowledgeBase, file: Path) -> None:
    await spend_day(kb)
    assert kb.audit is not None
    kb.audit.record_service("start")
    written = json.dumps(read_events(file))
    for canary in ("canaryquestion", "canaryparagraph", "canarydefinition", PASSWORD, WRONG_PASSWORD, "argot_"):
        assert canary not in written, canary
    start = read_events(file)[-1]
    assert "canary-model-key" not in written and start["unmapped"]["model_key"] == "***"
    assert (start["class_uid"], start["activity_id"], start["unmapped"]["audit_reads"]) == (6002, 3, True)
    assert stat_mode(file) & 0o077 == 0


async def test_a_change_of_what_exists_is_no_creation(kb: KnowledgeBase, file: Path) -> None:
    users, secret = catalogue.users, SecretStr(PASSWORD)
    await users.user_add(kb, ADMIN, name="bob", password=secret)
    await users.user_add(kb, ADMIN, name="bob", role="admin", password=secret)
    await users.user_add(kb, ADMIN, name="bob", display_name="Bob")
    with pytest.raises(Conflict):
        await users.user_add(kb, ADMIN, name="bob", new=True)
    await users.user_roles(kb, ADMIN, name="bob")
    await users.user_add(kb, ADMIN, name="bob", groups=["harbour"])
    await users.user_roles(kb, ADMIN, name="bob", leave=["harbour"])
    for about in ("Ferries.", "Ferries and quays."):
        await catalogue.contexts.context_add(kb, ADMIN, name="Harbour", description=about)
        data = base64.b64encode(f"# Quay\n\n{about}".encode()).decode()
        await catalogue.uploads.upload(kb, ADMIN, name="quay.md", data=data)
        await glossary_add(kb, ADMIN, term="QUAY", context="Harbour", expansion="a wharf", description=about)
    iam, access, entity, web = "Account Change", "User Access Management", "Entity Management", "Web Resources Activity"
    quay = summarize(read_events(file)[8])[5]
    assert [summarize(one)[:3] + summarize(one)[5:] for one in read_events(file)] == [
        ("user_add", iam, "Create", "bob"),
        ("user_add", access, "Assign privileges", "bob"),
        ("user_add", iam, "Password reset", "bob"),
        ("user_add", iam, "Update", "bob"),
        ("user_add", iam, "Create", "bob"),
        ("user_add", access, "Assign privileges", "bob"),
        ("user_roles", access, "Revoke privileges", "bob"),
        ("context_add", entity, "Create", "Harbour"),
        ("upload", web, "Create", quay),
        ("glossary_add", entity, "Create", "QUAY"),
        ("context_add", entity, "Update", "Harbour"),
        ("upload", web, "Update", quay),
        ("glossary_add", entity, "Update", "QUAY"),
    ]


async def test_a_withdrawn_link_is_the_one_that_was_made(kb: KnowledgeBase, file: Path) -> None:
    asked = await get_answer(catalogue.questions.ask(kb, ADMIN, question="How long does trimming a drive take?"))
    shares = catalogue.shared_conversations
    link = await shares.thread_link_add(kb, ADMIN, thread=asked.thread)
    await shares.thread_link_withdraw(kb, ADMIN, link=link.id)
    made, withdrawn = read_events(file)
    both = [{"type": "link", "uid": link.id}, {"type": "conversation", "uid": asked.thread}]
    assert made["resources"] == withdrawn["resources"] == both
    secret = link.address.rpartition("/")[2]
    with pytest.raises(NotFound):
        await shares.thread_link_withdraw(kb, ADMIN, link=secret)
    assert secret not in json.dumps(read_events(file))


async def test_an_event_names_the_road_the_key_and_the_request(kb: KnowledgeBase, file: Path) -> None:
    surface.set("mcp")
    credential.set(("key", "k0123"))
    request_id.set("abcdef")
    await glossary_export(kb, ANN)
    (event,) = read_events(file)
    assert event["actor"] == {
        "app_name": "mcp",
        "user": {"name": "ann", "type": "asker"},
        "session": {"issuer": "key", "credential_uid": "k0123"},
    }
    assert event["metadata"]["correlation_uid"] == "abcdef"


async def test_a_synchronised_source_leaves_its_numbers(kb: KnowledgeBase, file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    await asyncio.to_thread(folder.mkdir)
    await asyncio.to_thread((folder / "ferry.md").write_text, TEXT, "utf-8")
    await catalogue.sources.source_add(kb, ADMIN, name="rules", address=str(folder))
    report = await get_outcome(catalogue.sources.source_sync(kb, ADMIN, name="rules"))
    note_sync(kb, ADMIN, "rules", report)
    added, synced, job = read_events(file)
    assert summarize(added)[0::5] == ("source_add", "rules")
    assert synced["unmapped"] == {"confirm": False, "added": 1} and job["unmapped"] == {"added": 1}
    assert synced["resources"] == [{"type": "source", "name": "rules"}]
    assert (job["actor"]["app_name"], job["api"]["operation"]) == ("job", "sync_job")


async def test_an_invalid_key_is_recorded_without_the_key(kb: KnowledgeBase, file: Path) -> None:
    no_ticket: dict[str, Any] = {"ticket": str, "read_ticket": lambda _: None}
    authenticator = Authenticator(kb, port=1, secluded=True, key=b"k", **no_ticket)
    names, addresses = HostNames("127.0.0.1", 1), Addresses([])
    parts: dict[str, Any] = {"inner": str, "refused": lambda *_: Response()}
    guard = Guard(Starlette(), names=names, page="", authenticator=authenticator, addresses=addresses, **parts)
    scope: dict[str, Any] = {"type": "http", "path": "/api/terms", "client": ("192.0.2.9", 1), "headers": []}
    _, _, refusal = await guard.visitors.identify(scope, Headers({"authorization": "Bearer argot_canarykeycanarykey"}))
    assert refusal and refusal[0] == 401
    (event,) = read_events(file)
    assert (event["src_endpoint"], event["status"]) == ({"ip": "192.0.2.9"}, "Failure")
    assert "canarykey" not in json.dumps(event)


async def test_a_refused_role_is_recorded_for_other_use_cases_too(kb: KnowledgeBase, file: Path) -> None:
    with pytest.raises(NotAllowed):
        await catalogue.users.user_list(kb, ANN)
    (event,) = read_events(file)
    assert summarize(event) == ("user_list", "API Activity", "Other", "NotAllowed", "ann", "user_list")
    assert event["status_detail"] == "the actor may not do this"


REFUSED_ADDRESSES = (
    ("POST", "/api/documents", "upload", "Web Resources Activity", "document"),
    ("DELETE", "/api/documents/drive-tool.md", "remove", "Web Resources Activity", "drive-tool.md"),
    ("POST", "/api/documents/drive-tool.md/file", "document_replace", "Web Resources Activity", "drive-tool.md"),
    ("POST", "/api/glossary/import", "glossary_import_file", "Web Resources Activity", "glossary"),
    ("POST", "/api/glossary/senses/3/approve", "glossary_approve", "Entity Management", "3"),
    ("GET", "/api/administration", "administration", "Entity Management", "settings"),
    ("GET", "/scim/v2/Users/7", "GET /scim/v2/Users/{id_}", "API Activity", "GET /scim/v2/Users/{id_}"),
    ("GET", "/metrics", "GET /metrics", "API Activity", "GET /metrics"),
    ("GET", "/people", "GET /people", "API Activity", "GET /people"),
)


async def test_an_address_that_a_role_does_not_allow_is_recorded_once(kb: KnowledgeBase, file: Path) -> None:
    kb.people.add("ann")
    async with Site(kb).program("ann") as ann:
        for method, path, *_ in REFUSED_ADDRESSES:
            answer = await ann.request(method, path, params={"question": QUESTION}, json={"why": QUESTION})
            assert answer.status_code == 403, path
    events = read_events(file)
    assert [(summarize(one)[0], summarize(one)[1], summarize(one)[5]) for one in events] == [
        (operation, kind, about) for _, _, operation, kind, about in REFUSED_ADDRESSES
    ]
    assert {(summarize(one)[3], summarize(one)[4]) for one in events} == {("NotAllowed", "ann")}
    assert events[-1]["resources"] == [{"type": "address", "name": "GET /people"}]
    assert "canary" not in json.dumps(events)


async def test_a_right_that_a_use_case_without_events_wants_is_recorded(kb: KnowledgeBase, file: Path) -> None:
    with pytest.raises(NotAllowed):
        await catalogue.api_keys.key_list(kb, ANN, user="mia")
    assert await catalogue.api_keys.key_list(kb, ANN) == []
    (event,) = read_events(file)
    assert summarize(event) == ("key_list", "API Activity", "Other", "NotAllowed", "ann", "key_list")


@pytest.mark.parametrize(
    ("path", "road"), [("/mcp", "mcp"), ("/scim/v2/Users", "scim"), ("/api/terms", "api"), ("/people", "pages")]
)
async def test_a_refused_request_names_the_surface_that_it_came_to(
    kb: KnowledgeBase, file: Path, path: str, road: str
) -> None:
    site = Site(kb)
    transport = httpx.ASGITransport(RequestObserver(site.guard, kb, site.authenticator))
    async with httpx.AsyncClient(transport=transport, base_url=URL) as stranger:
        await stranger.get(path, headers={"Authorization": "Bearer argot_canarykeycanarykey"})
    assert [one["actor"]["app_name"] for one in read_events(file)] == [road]


async def test_what_an_identity_provider_sends_is_recorded(kb: KnowledgeBase, file: Path) -> None:
    scim = Provisioning(kb, ADMIN)
    person = scim.make_person("nina", None, "", active=True)
    group = scim.put_group(None, "harbour", None, [person.id])
    scim.remove_group(group.id)
    scim.remove_person(person.id)
    events = read_events(file)
    assert [(one["class_name"], one["activity_name"], one["actor"]["app_name"]) for one in events] == [
        ("Account Change", "Create", "scim"),
        ("Entity Management", "Create", "scim"),
        ("Entity Management", "Delete", "scim"),
        ("Account Change", "Disable", "scim"),
    ]
    assert events[1]["unmapped"] == {"members": ["nina"]}
    assert events[2]["resources"] == [{"type": "group", "uid": group.id, "name": "harbour"}]


async def test_a_change_is_refused_while_the_file_cannot_be_written(
    kb: KnowledgeBase, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await asyncio.to_thread(file.mkdir)
    with pytest.raises(StoreUnavailable, match="ARGOT_AUDIT_FILE"):
        await catalogue.users.user_add(kb, ADMIN, name="mia")
    assert kb.people.find("mia") is None
    # Signing in stays possible, so that somebody can repair it; its event waits.
    with pytest.raises(SignInRefused):
        await SignIn(kb).with_password("ann", "x", "192.0.2.7")
    assert "could not be written" in caplog.text
    # Nor is reading refused: the page of administrators is where the fault is looked for.
    assert (await administration(kb, ADMIN)).settings
    with pytest.raises(StoreUnavailable, match="ARGOT_AUDIT_FILE"):
        _require_usable(kb)
    await asyncio.to_thread(file.rmdir)
    _require_usable(kb)
    await catalogue.users.user_add(kb, ADMIN, name="mia")
    assert [one["api"]["operation"] for one in read_events(file)][-1] == "user_add"


async def test_a_profile_that_is_not_there_is_refused_at_the_start(kb: KnowledgeBase) -> None:
    kb.settings = kb.settings.replace(profile="nonexist")
    with pytest.raises(InvalidSettings, match="nonexist"):
        _require_usable(kb)


async def test_the_file_may_be_rotated_at_any_time(kb: KnowledgeBase, file: Path) -> None:
    await glossary_export(kb, ANN)
    old = rotate(file)
    await glossary_export(kb, ANN)
    assert len(read_events(file)) == len(read_events(old)) == 1


def test_every_use_case_is_either_recorded_or_known_not_to_be() -> None:
    assert set(catalogue.CASES) == set(ACTIONS) | set(READS) | UNRECORDED
    assert not UNRECORDED & (set(ACTIONS) | set(READS))


def test_what_an_action_names_are_parameters_of_its_use_case() -> None:
    for name, action in (ACTIONS | READS).items():
        parameters = catalogue.CASES[name].parameters.model_fields
        named = {one for one in (action.uid, action.name, *action.details) if one}
        assert named <= set(parameters), name
        assert action.class_uid in CLASS_NAMES


def test_a_command_without_an_open_knowledge_base_is_recorded(file: Path) -> None:
    record_restore(Settings(audit_file=file), Path("/backups/monday.tar"))
    (event,) = read_events(file)
    assert summarize(event) == ("restore", "Web Resources Activity", "Import", "done", "local", "/backups/monday.tar")


def test_without_a_destination_there_is_no_trail() -> None:
    assert make_trail(Settings()) is None


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def refuse_people(trail: AuditTrail, principal: Principal, times: int = 1) -> None:
    for _ in range(times):
        trail.record(Deed(API, "read", "GET /people", describe_failure(NotAllowed)), principal)


def test_refusals_of_one_person_are_bounded_and_the_rest_is_counted(file: Path) -> None:
    clock = Clock()
    trail = AuditTrail(Settings(audit_file=file), clock=clock)
    refuse_people(trail, ANN, REFUSALS_PER_MINUTE + 7)
    assert len(read_events(file)) == REFUSALS_PER_MINUTE
    clock.now += 61
    refuse_people(trail, ANN)
    assert read_events(file)[-1]["unmapped"] == {"refusals_not_recorded": 7}


def test_refusals_of_one_person_hide_nothing_of_others(file: Path) -> None:
    trail = AuditTrail(Settings(audit_file=file), clock=Clock())
    refuse_people(trail, ANN, 10 * REFUSALS_PER_MINUTE)
    recorded = len(read_events(file))
    refuse_people(trail, Principal("mia"))
    trail.record_sign_in("sign_in_with_password", "ann", "192.0.2.1", Outcome("429", ""))
    trail.record_sign_in("key", "", "192.0.2.1", Outcome("401", ""))
    assert len(read_events(file)) == recorded + 3


def test_actions_that_were_stopped_are_always_recorded(file: Path) -> None:
    trail = AuditTrail(Settings(audit_file=file), clock=Clock())
    refuse_people(trail, ANN, REFUSALS_PER_MINUTE + 1)
    trail.record(Deed(RESOURCES, "delete", "remove", Outcome(STOPPED, "")), ANN)
    last = read_events(file)[-1]
    assert (last["api"]["operation"], last["unmapped"]) == ("remove", {"refusals_not_recorded": 1})


def test_sign_ins_with_a_wrong_password_of_somebody_known_are_always_recorded(file: Path) -> None:
    trail = AuditTrail(Settings(audit_file=file), clock=Clock())
    for name in ("", "x" * 1000):
        for _ in range(REFUSALS_PER_MINUTE + 7):
            trail.record_sign_in("sign_in_with_password", name, "192.0.2.1", Outcome("401", ""))
    events = read_events(file)
    assert len(events) == 2 * REFUSALS_PER_MINUTE + 7
    assert len(events[-1]["user"]["name"]) == MAX_VALUE_CHARS + 3


@pytest.mark.parametrize(("operation", "name", "code"), [("key", "", "401"), ("sign_in_with_password", "ann", "429")])
def test_refusals_without_a_sign_in_are_bounded_by_address_and_together(
    file: Path, operation: str, name: str, code: str
) -> None:
    trail = AuditTrail(Settings(audit_file=file), clock=Clock())
    for network in range(20):
        for host in range(REFUSALS_PER_MINUTE + 7):
            # The last half of an address of IPv6 is a household's own choice.
            trail.record_sign_in(operation, name, f"2001:db8:0:{network:x}::{host:x}", Outcome(code, ""))
        assert len(read_events(file)) == min(network + 1, 10) * REFUSALS_PER_MINUTE
    refuse_people(trail, ANN)
    assert read_events(file)[-1]["actor"]["user"]["name"] == "ann"


def test_a_syslog_server_gets_the_event_over_udp() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        trail = AuditTrail(Settings(audit_syslog=f"udp://127.0.0.1:{server.getsockname()[1]}"))
        trail.record_service("stop")
        priority, _, rest = server.recv(65536).decode().partition(">")
        trail.close()
    assert priority == f"<{10 * 8 + 6}"
    assert json.loads(rest.removeprefix("argot: "))["activity_name"] == "Stop"
    assert trail.count_lost() == 0


def test_a_syslog_server_over_tcp_may_go_and_come_back() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        trail = AuditTrail(Settings(audit_syslog=f"tcp://127.0.0.1:{server.getsockname()[1]}"))
        trail.record_service("start")
        trail.record_service("stop")
        connection, _ = server.accept()
        with connection, connection.makefile("r", encoding="utf-8") as lines:
            found = [json.loads(lines.readline().split("argot: ", 1)[1])["activity_name"] for _ in range(2)]
        trail.close()
    assert found == ["Start", "Stop"]


def test_an_address_gets_each_event_by_post() -> None:
    with receiving() as receiver:
        trail = AuditTrail(Settings(audit_url=f"{receiver.url}/events", audit_token=SecretStr("canary-token")))
        trail.record_service("start")
        trail.record_service("stop")
        trail.close()
    assert [json.loads(body)["activity_name"] for body in receiver.bodies] == ["Start", "Stop"]
    assert b"canary-token" not in b"".join(receiver.bodies) and trail.count_lost() == 0


def test_what_a_destination_refuses_is_sent_again_and_at_the_end_counted(caplog: pytest.LogCaptureFixture) -> None:
    sent: list[str] = []
    down = threading.Event()
    tried = threading.Event()

    def send(line: str) -> None:
        tried.set()
        if down.is_set():
            raise OSError("connection refused")
        sent.append(line)

    down.set()
    sink = QueueSink("the test", send, waits=(0.01,))
    sink.write("one")
    assert tried.wait(10)
    down.clear()
    sink.write("two")
    sink.close()
    assert (sent, sink.lost) == (["one", "two"], 0)
    assert "does not take audit events: connection refused" in caplog.text


def test_events_beyond_the_queue_are_counted_as_lost(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("argot.service.audit.audit_sinks.MAX_WAITING_EVENTS", 3)
    monkeypatch.setattr("argot.service.audit.audit_sinks.CLOSE_SECONDS", 0.05)

    def send(line: str) -> None:
        raise OSError("connection refused")

    sink = QueueSink("the test", send, waits=(0.01,))
    for number in range(10):
        sink.write(str(number))
    sink.close()
    assert sink.lost == 10
    assert "10 audit events for the test are lost" in caplog.text


@pytest.mark.parametrize("address", ["udp://:514", "tcp://host:99999999", "http://host"])
def test_an_invalid_syslog_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidSettings, match="audit_syslog"):
        parse_syslog(address)
