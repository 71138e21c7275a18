"""Tests of the table of use cases, of roles, and of the local socket that a second command uses."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from argot import errors
from argot.errors import ArgotError, InvalidInput, KnowledgeBaseBusy, NotAllowed, NotFound
from argot.service.blocking_work import progress_events, stream
from argot.service.identity.people import role_of
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.storage.home_lock import read_owner
from argot.service.transport.knowledge_base_client import LocalClient, SocketClient, connect
from argot.service.transport.local_socket import serve_socket
from argot.service.transport.wire_format import decode, encode, make_error_event, restore_error
from argot.service.usecases import catalogue, usecase_registry
from argot.settings import Settings
from argot.slack.usecases.slack_channels import slack_channel_set
from argot.types import Principal

SETTINGS = Settings()
ASKER = Principal("ann")
MANAGER = Principal("mia", frozenset({"managers"}))
ADMIN = Principal("local", sees_all=True)


@pytest.fixture
async def kb(tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open(tmp_path / "kb", SETTINGS, create=True) as opened:
        yield opened


# -- the table ------------------------------------------------------------------------------------------------------


def test_every_use_case_has_a_help_text() -> None:
    assert {"add", "remove", "list_documents", "show", "reindex", "ask", "answer", "backup"} <= set(catalogue.CASES)
    for case in catalogue.CASES.values():
        assert case.help, case.name


@pytest.mark.parametrize("principal", [ASKER, MANAGER])
async def test_every_use_case_refuses_roles_below_its_own(kb: KnowledgeBase, principal: Principal) -> None:
    may = {"asker": {"asker"}, "manager": {"asker", "manager"}}[role_of(principal)]
    forbidden = [case for case in catalogue.CASES.values() if case.role not in may]
    assert forbidden
    for case in forbidden:
        with pytest.raises(NotAllowed, match=principal.name):
            await catalogue.get_result(kb, principal, case.name)


async def test_askers_may_use_only_the_listed_use_cases() -> None:
    harmless = {case.name for case in catalogue.CASES.values() if case.role == "asker"}
    assert harmless == {
        "answer", "ask", "ask_again", "ask_in_sense", "context_list", "converse", "document_contents", "document_find",
        "document_near", "document_page", "document_picture", "document_pictures", "document_text",
        "embed", "feedback", "glossary_export",
        "glossary_export_file", "glossary_list", "glossary_occurrences", "glossary_passage", "glossary_search",
        "glossary_sense", "glossary_similar", "glossary_term", "key_add", "key_list", "key_revoke", "list_documents",
        "meaning_report", "my_data", "other_senses", "page_picture", "passage_pictures", "profile_list",
        "profile_show", "rating_save",
        "rating_studies_mine", "rating_task", "read_original", "read_passage",
        "read_source", "report_term",
        "search", "shared_read", "show", "slack_continue", "term_comment", "term_confirm", "term_show",
        "term_suggest", "term_suggestions", "terms_check", "terms_list", "terms_mark", "thread_attach",
        "thread_delete", "thread_detach", "thread_export", "thread_files", "thread_follow_ups", "thread_link_add",
        "thread_link_list", "thread_link_withdraw", "thread_list", "thread_news", "thread_read", "thread_rename",
        "thread_settings", "thread_share",
    }  # fmt: skip


async def test_use_cases_that_access_local_files_are_local() -> None:
    assert {case.name for case in catalogue.CASES.values() if case.local} == {"add", "backup"}


async def test_parameters_are_checked_before_anything_runs(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidInput, match=r"no use case 'nonsense'.*glossary_list"):
        await catalogue.get_result(kb, ADMIN, "nonsense")
    with pytest.raises(InvalidInput, match=r"colour.*Its parameters: .*expansion"):
        await catalogue.get_result(kb, ADMIN, "glossary_add", term="A", context="B", expansion="C", colour="red")
    with pytest.raises(InvalidInput, match="expansion"):
        await catalogue.get_result(kb, ADMIN, "glossary_add", term="A", context="B")
    with pytest.raises(InvalidInput, match="not valid Unicode"):
        await catalogue.get_result(kb, ADMIN, "user_add", name="\ud800")
    assert await catalogue.get_result(kb, ADMIN, "glossary_list") == []
    # NUL, which no keyboard has and PostgreSQL stores in no text, is left out.
    added = await catalogue.get_result(kb, ADMIN, "glossary_add", term="A\0B", context="Tools", expansion="a \0b")
    assert (added["term"], added["expansion"]) == ("AB", "a b")


async def test_a_sense_with_an_audience_is_invisible_to_others(kb: KnowledgeBase) -> None:
    await catalogue.get_result(
        kb, ADMIN, "glossary_add", term="PUC", context="X", expansion="secret", audience=["board"]
    )

    board = Principal("bea", frozenset({"board"}))
    assert [one["expansion"] for one in await catalogue.get_result(kb, board, "glossary_list")] == ["secret"]
    assert await catalogue.get_result(kb, ASKER, "glossary_list") == []
    assert "secret" not in await catalogue.get_result(kb, ASKER, "glossary_export")


@pytest.mark.parametrize("audience", [["hr,legal"], [""], ["@"], ["@@ann"], [" hr"]])
async def test_invalid_audiences_are_refused(kb: KnowledgeBase, audience: list[str]) -> None:
    with pytest.raises(InvalidInput, match="cannot be the name of a group"):
        await catalogue.get_result(kb, ADMIN, "glossary_add", term="A", context="B", expansion="C", audience=audience)
    assert await catalogue.get_result(kb, ADMIN, "glossary_list") == []


# -- questions while documents are added ----------------------------------------------------------------------------


@pytest.fixture
async def tiny(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = await asyncio.to_thread(shutil.copytree, tiny_home, tmp_path / "tiny")
    async with KnowledgeBase.open(home, SETTINGS) as opened:
        yield opened


def folder_of_documents(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"note-{number}.md").write_text(
            f"# Note {number}\n\nThe valve of pump {number} opens at {number} bar.\n"
        )
    return folder


async def test_questions_are_answered_while_documents_are_added(tiny: KnowledgeBase, tmp_path: Path) -> None:
    folder = folder_of_documents(tmp_path / "in", 150)
    adding = asyncio.create_task(catalogue.get_result(tiny, ADMIN, "add", paths=[str(folder)]))
    answered = 0
    while not adding.done():
        result = await catalogue.get_result(tiny, ADMIN, "ask", question="What does a late tariff filing cost?")
        answered += "500 dollars" in result["answer"]
        await asyncio.sleep(0)
    assert (await adding)["added"] == 150
    assert answered > 1


async def test_an_interrupted_add_leaves_a_sound_base_and_can_be_repeated(tiny: KnowledgeBase, tmp_path: Path) -> None:
    folder = folder_of_documents(tmp_path / "in", 150)
    events = catalogue.dispatch(tiny, ADMIN, "add", {"paths": [str(folder)]})
    async for event in events:
        if event["kind"] == "added":
            break
    await events.aclose()
    assert not tiny.writing.locked()
    assert await catalogue.get_result(tiny, ADMIN, "check") == []
    there = len(await catalogue.get_result(tiny, ADMIN, "list_documents"))

    again = await catalogue.get_result(tiny, ADMIN, "add", paths=[str(folder)])

    assert 0 < again["unchanged"] < 150
    assert again["added"] + again["unchanged"] == 150
    assert there == 4 + again["unchanged"]
    assert await catalogue.get_result(tiny, ADMIN, "check") == []


async def test_an_interrupted_reindex_keeps_the_old_index(tiny: KnowledgeBase) -> None:
    events = catalogue.dispatch(tiny, ADMIN, "reindex", {})
    await anext(events)
    await events.aclose()
    result = await catalogue.get_result(tiny, ADMIN, "ask", question="What does a late tariff filing cost?")
    assert "500 dollars" in result["answer"]
    assert await catalogue.get_result(tiny, ADMIN, "check") == []


async def test_turns_of_one_thread_run_one_after_another(tiny: KnowledgeBase) -> None:
    first = await catalogue.get_result(tiny, ADMIN, "ask", question="What does a late tariff filing cost?")
    questions = ["When must a tariff be filed?", "How long does trimming a drive take?", "What is the read voltage?"]
    await asyncio.gather(
        *(catalogue.get_result(tiny, ADMIN, "ask", question=question, thread=first["thread"]) for question in questions)
    )
    thread = await catalogue.get_result(tiny, ADMIN, "thread_read", thread=first["thread"])
    assert sorted(turn["question"] for turn in thread["turns"][1:]) == sorted(questions)


async def test_passages_closed_to_the_asker_meanwhile_vanish_from_their_threads(tiny: KnowledgeBase) -> None:
    insider = Principal("vic", frozenset({"vault"}))
    asked = await catalogue.get_result(tiny, insider, "ask", question="How often is the vault combination rotated?")
    assert "14 days" in asked["answer"]

    outside = await catalogue.get_result(tiny, Principal("vic"), "thread_read", thread=asked["thread"])

    assert "14 days" not in json.dumps(outside)
    passage = asked["passages"][0]["passage_id"]
    assert "14 days" in (await catalogue.get_result(tiny, insider, "read_passage", passage_id=passage))["text"]
    for name, parameters in (
        ("read_passage", {"passage_id": passage}),
        ("show", {"document": "vault-handbook.md"}),
        ("read_source", {"document": "vault-handbook.md"}),
        ("read_original", {"document": "vault-handbook.md"}),
    ):
        with pytest.raises(NotFound):
            await catalogue.get_result(tiny, Principal("vic"), name, **parameters)


async def test_an_empty_thread_name_does_not_start_a_thread(tiny: KnowledgeBase) -> None:
    with pytest.raises(NotFound):
        await catalogue.get_result(tiny, ADMIN, "ask", question="What does a late tariff filing cost?", thread="")


# -- long work ------------------------------------------------------------------------------------------------------


async def test_work_stops_when_its_reader_leaves() -> None:
    made: list[int] = []
    closed = threading.Event()

    def work() -> Any:
        try:
            for number in range(1_000_000):
                made.append(number)
                yield number
        finally:
            closed.set()

    items = stream(work)
    assert await anext(items) == 0
    await items.aclose()
    assert closed.is_set()
    count = len(made)
    await asyncio.sleep(0.05)
    assert len(made) == count < 1_000_000


async def test_errors_of_the_work_reach_its_reader() -> None:
    def work() -> Any:
        yield 1
        raise NotFound("gone")

    got = []
    with pytest.raises(NotFound, match="gone"):
        async for item in stream(work):
            got.append(item)
    assert got == [1]


async def test_asynchronous_work_is_streamed_too() -> None:
    async def work() -> AsyncIterator[int]:
        for number in range(3):
            await asyncio.sleep(0)
            yield number

    assert [item async for item in stream(work)] == [0, 1, 2]


async def test_work_with_progress_stops_at_its_next_report() -> None:
    stopped = threading.Event()

    def work(tell: Any) -> None:
        try:
            for number in range(1_000_000):
                tell(number)
        except BaseException:
            stopped.set()
            raise

    progress = progress_events(work)
    assert await anext(progress) == 0
    await progress.aclose()
    assert stopped.is_set()


async def test_cancelled_work_is_awaited_even_after_several_cancellations() -> None:
    """Check it because a second cancellation once released the surrounding lock while the thread still wrote."""
    may_end = threading.Event()

    async def read() -> None:
        async with aclosing(progress_events(lambda tell: (tell(0), may_end.wait()))) as items:
            async for _ in items:
                begun.set()

    begun = asyncio.Event()
    reading = asyncio.create_task(read())
    await begun.wait()
    try:
        for _ in range(3):
            reading.cancel()
            await asyncio.wait([reading], timeout=0.01)
        assert not reading.done()
    finally:
        may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await reading


# -- encoding of errors ---------------------------------------------------------------------------------------------


def every_error() -> list[type[ArgotError]]:
    found = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, ArgotError)]
    assert len(found) > 8
    return found


@pytest.mark.parametrize("kind", every_error())
def test_every_error_keeps_its_class_and_message_when_sent(kind: type[ArgotError]) -> None:
    error = kind.__new__(kind)
    Exception.__init__(error, "what was wrong: 'ä\n'. What to do.")

    again = restore_error(decode(encode(make_error_event(error))))

    assert type(again) is kind
    assert str(again) == str(error)


def test_an_error_with_an_unknown_class_becomes_a_general_error() -> None:
    assert type(restore_error({"kind": "error", "type": "system", "message": "x"})) is ArgotError
    assert type(restore_error({"kind": "error", "type": "dataclass", "message": "x"})) is ArgotError


# -- the socket -----------------------------------------------------------------------------------------------------


async def through_socket(kb: KnowledgeBase, name: str, as_user: str | None = None, **parameters: Any) -> Any:
    """Make a call as another process does."""

    def call() -> Any:
        with connect(kb.home, SETTINGS) as client:
            assert isinstance(client, SocketClient)
            if case := catalogue.CASES.get(name):
                return convert_to_json(client.as_user(as_user).call(case, **parameters))
            return asyncio.run(client.acall(name, as_user=as_user, **parameters))

    return await asyncio.to_thread(call)


async def test_a_second_command_uses_the_running_service(kb: KnowledgeBase) -> None:
    async with serve_socket(kb):
        await through_socket(kb, "glossary_add", term="PUC", context="NAND", expansion="peripheral under cell ✓")
        assert [one["expansion"] for one in await through_socket(kb, "glossary_list")] == ["peripheral under cell ✓"]
        with pytest.raises(NotFound, match="argot user add bob"):
            await through_socket(kb, "glossary_list", as_user="bob")
        with pytest.raises(InvalidInput, match="no use case"):
            await through_socket(kb, "nonsense")
        kb.people.add("ann")
        with pytest.raises(NotAllowed):
            await through_socket(kb, "user_list", as_user="ann")


async def test_results_keep_their_types_through_the_socket(kb: KnowledgeBase) -> None:
    glossary, me = kb.glossary, kb.principal(None)
    readers = frozenset({"hr", "lab"})
    puc = glossary.senses.add("PUC", "NAND", "peripheral under cell", aliases=("P.U.C.",), audience=readers, by=me)
    other = glossary.senses.add("PUC", "NAND", "power unit control", by=me)
    glossary.senses.add("PUC", "Legal", "peripheral under cell", by=me)
    glossary.conflicts.accept(me, "conflicting_expansion", [(puc.id, puc.version), (other.id, other.version)], "both")
    glossary.misses.record("FTLX", "ann", "What is FTLX?", "t1")
    proposal = glossary.proposals.add("mined", "FTLX", "flash layer", evidence=[("gone", "FTLX is a layer")], score=0.9)
    kb.people.add("ann", ("hr",))
    asked: list[tuple[Any, dict[str, Any]]] = [
        (catalogue.contexts.context_list, {}),
        (catalogue.senses.glossary_term, {"term": "PUC"}),
        (catalogue.senses.glossary_conflicts, {}),
        (catalogue.senses.glossary_conflicts, {"accepted": True}),
        (catalogue.history.glossary_history, {"term": "PUC"}),
        (catalogue.history.glossary_since, {"sense_id": puc.id, "version": puc.version}),
        (catalogue.history.glossary_use, {}),
        (catalogue.proposals.glossary_queue, {}),
        (catalogue.proposals.glossary_proposal, {"proposal_id": proposal.id}),
        (catalogue.proposals.glossary_offers, {}),
        (catalogue.users.user_list, {}),
        (slack_channel_set, {"channel": "C0123", "groups": ["hr"]}),
    ]
    async with serve_socket(kb):
        for case, given in asked:
            here = await case(kb, me, **given)

            def through(case: Any = case, given: Any = given) -> Any:
                with connect(kb.home, SETTINGS) as client:
                    assert isinstance(client, SocketClient)
                    return client.call(case, **given)

            assert await asyncio.to_thread(through) == here, case.name
            assert getattr(here, "conflicts", here), case.name


async def test_an_owner_without_a_socket_is_reported_as_busy(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("argot.service.knowledge_base.PATIENCE_SECONDS", 0.0)
    with pytest.raises(KnowledgeBaseBusy, match=f"process {os.getpid()}"):
        await asyncio.to_thread(connect, kb.home, SETTINGS)


async def test_the_socket_is_open_to_its_owner_only_and_removed_at_the_end(kb: KnowledgeBase) -> None:
    async with serve_socket(kb) as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert read_owner(kb.home).socket == str(path)
    assert not path.exists()


async def test_a_home_with_a_long_path_gets_its_socket_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = Path(tempfile.mkdtemp(prefix="run-"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    home = tmp_path / ("long" * 30)
    async with KnowledgeBase.open(home, SETTINGS, create=True) as kb:
        async with serve_socket(kb) as path:
            assert path.is_relative_to(runtime)
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            assert await through_socket(kb, "user_list") == []
        assert not path.parent.exists()
    await asyncio.to_thread(runtime.rmdir)


async def test_an_invalid_request_gets_an_error_and_the_service_continues(kb: KnowledgeBase) -> None:
    async with serve_socket(kb) as path:
        for request in (b"", b"hello\n", b"[]\n", b'{"case": 1}\n', b'{"case": "ask", "parameters": 3}\n', b"\xff\n"):
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(request)
            writer.write_eof()
            answer = await reader.read()
            writer.close()
            assert not answer or json.loads(answer)["type"] == "InvalidInput"
        assert await through_socket(kb, "user_list") == []


class Endless(threading.Event):
    """An event that is set when the work is stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.began = threading.Event()


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> Endless:
    """Provide a use case that never ends by itself, with an event that says that it was stopped."""
    stopped = Endless()

    async def endless(kb: KnowledgeBase, principal: Principal) -> AsyncIterator[dict[str, Any]]:
        """Go on endlessly."""
        try:
            while True:
                stopped.began.set()
                yield {"kind": "progress"}
                await asyncio.sleep(0.01)
        finally:
            stopped.set()

    monkeypatch.setitem(usecase_registry.CASES, "endless", None)  # so that it is removed at the end
    usecase_registry.usecase("asker")(endless)
    return stopped


async def test_closing_the_connection_stops_the_work(kb: KnowledgeBase, endless: threading.Event) -> None:
    async with serve_socket(kb) as path:
        connection = socket.socket(socket.AF_UNIX)
        await asyncio.to_thread(connection.connect, str(path))
        connection.sendall(encode({"case": "endless", "parameters": {}}))
        assert await asyncio.to_thread(connection.recv, 1)
        assert not endless.is_set()
        connection.close()
        assert await asyncio.to_thread(endless.wait, 120)


async def test_long_work_does_not_delay_short_requests(kb: KnowledgeBase, endless: threading.Event) -> None:
    async with serve_socket(kb) as path:
        connection = socket.socket(socket.AF_UNIX)
        await asyncio.to_thread(connection.connect, str(path))
        connection.sendall(encode({"case": "endless", "parameters": {}}))
        assert await through_socket(kb, "user_list") == []
        assert not endless.is_set()
        connection.close()


async def test_stopping_the_service_ends_its_running_calls(kb: KnowledgeBase, endless: Endless) -> None:
    async with serve_socket(kb):
        call = asyncio.create_task(through_socket(kb, "endless"))
        assert await asyncio.to_thread(endless.began.wait, 120)
    with pytest.raises(ArgotError, match="stopped before it was done"):
        await call
    assert endless.is_set()


def test_ctrl_c_stops_the_work_of_a_command_that_owns_the_base(tmp_path: Path, endless: threading.Event) -> None:
    def interrupt(event: dict[str, Any]) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with LocalClient(KnowledgeBase.open(tmp_path / "kb", SETTINGS, create=True)) as client:
        with pytest.raises(KeyboardInterrupt):
            client.watch(interrupt).call(catalogue.CASES["endless"])
        assert endless.is_set()
        assert client.call(catalogue.users.user_list) == []


SERVE = """
    import asyncio, sys
    from pathlib import Path
    from argot.service.transport.local_socket import serve_socket
    from argot.service.knowledge_base import KnowledgeBase
    from argot.settings import Settings
    async def main():
        async with KnowledgeBase.open(Path(sys.argv[1]), Settings(), create=True) as kb, serve_socket(kb):
            print("serving", flush=True)
            await asyncio.sleep(600)
    asyncio.run(main())
"""


def test_the_remains_of_a_killed_service_are_in_nobodys_way(tmp_path: Path) -> None:
    for _ in range(2):
        service = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SERVE), str(tmp_path / "kb")], stdout=subprocess.PIPE, text=True
        )
        assert service.stdout
        assert service.stdout.readline() == "serving\n"
        with connect(tmp_path / "kb", SETTINGS) as client:
            assert isinstance(client, SocketClient)
            client.call(catalogue.users.user_add, name="ann")
        service.send_signal(signal.SIGKILL)
        service.wait()
        assert (tmp_path / "kb" / "socket").exists()
        with connect(tmp_path / "kb", SETTINGS) as client:
            assert isinstance(client, LocalClient)
            assert [user.name for user in client.call(catalogue.users.user_list)] == ["ann"]


# -- askers who disconnect --------------------------------------------------------------------------------------------


async def test_a_transaction_left_open_by_a_cancellation_is_rolled_back(kb: KnowledgeBase) -> None:
    """Check a cancellation between a statement and its commit, which leaves a transaction on the shared connection."""
    threads = await kb.threads()
    kept = await threads.start("ann", "first")
    await threads.saver.conn.execute("BEGIN")
    await threads.saver.conn.execute("DELETE FROM threads")  # cancelled here, before the commit

    again = await threads.start("ann", "second")

    assert {thread.id for thread in await threads.of("ann")} == {kept.id, again.id}


async def test_askers_who_disconnect_at_any_moment_do_not_affect_others(tiny: KnowledgeBase) -> None:
    question = "What does a late tariff filing cost?"
    for events in range(0, 40, 4):

        async def some(events: int = events) -> None:
            async with aclosing(catalogue.dispatch(tiny, ADMIN, "ask", {"question": question})) as asked:  # type: ignore
                for _ in range(events):
                    await anext(asked, None)
                await anext(asked, None)

        asking = asyncio.create_task(some())
        await asyncio.wait([asking], timeout=0.004 * events)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        result = await catalogue.get_result(tiny, ADMIN, "ask", question=question)
        assert "500 dollars" in result["answer"]


async def test_fields_of_shared_parameter_groups_are_given_singly(kb: KnowledgeBase) -> None:
    await catalogue.get_result(kb, ADMIN, "context_add", name="Zoo")
    given = {"term": "ZQ", "context": "Zoo", "expansion": "zebra quarter", "why": "heard"}
    draft = await catalogue.get_result(kb, ADMIN, "glossary_draft", **given)
    seen = {"sense_id": draft["id"], "version": draft["version"]}
    saved = await catalogue.get_result(kb, ADMIN, "glossary_save", **seen, notes="behind the lake", aliases=["Z.Q."])
    assert (saved["expansion"], saved["notes"], saved["aliases"]) == ("zebra quarter", "behind the lake", ["Z.Q."])
    with pytest.raises(InvalidInput, match="context: Field required"):
        await catalogue.get_result(kb, ADMIN, "glossary_draft", term="ZQ", expansion="zebra quarter")


@pytest.mark.parametrize("case", catalogue.CASES.values(), ids=lambda case: case.name)
def test_the_result_of_every_use_case_can_be_read_from_its_json(case: usecase_registry.Declared) -> None:
    if not isinstance(case, usecase_registry.AskingUseCase):
        assert usecase_registry._make_adapter(case.function).json_schema(mode="validation") is not None


async def test_grouped_parameters_are_checked_as_single_ones_are(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidInput, match="term has 20,001 characters") as together:
        sense = catalogue.senses.NewSense(term="x" * 20_001, context="c", expansion="e")
        await catalogue.senses.glossary_draft(kb, ADMIN, sense=sense)
    with pytest.raises(InvalidInput) as apart:
        await catalogue.get_result(kb, ADMIN, "glossary_draft", term="x" * 20_001, context="c", expansion="e")
    assert str(together.value) == str(apart.value)
