"""Tests of the command line: help, docs, exit codes, output, and no traceback ever."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pty
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main
from repository import ROOT

from argot.corpus.connectors.source_store import SourceRecord
from argot.errors import InvalidInput
from argot.evaluate.store.evaluation_store import EvaluationStore
from argot.results import AskResult
from argot.service.observability.logs import JsonLines, Lines
from argot.service.storage import home_folder as layout
from argot.service.usecases import usecase_registry
from argot.service.usecases.documents.sources import SyncUnderWay
from argot.settings import Settings
from argot.sqlite_database import SqliteStores
from argot.ui.cli.main import app, main
from argot.ui.cli.source_commands import describe_last_sync

DOCS = ROOT / "docs" / "command-line.md"


def commands() -> Iterator[tuple[str, Any]]:
    """Return every command with its full name."""

    def below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
        # A group that can be called without a subcommand (`argot jobs`) is a command, too.
        if not hasattr(command, "commands") or (command.invoke_without_command and command.callback):
            yield name, command
        for part, sub in getattr(command, "commands", {}).items():
            yield from below(f"{name} {part}", sub)

    return below("argot", typer.main.get_command(app))


@dataclass
class Done:
    code: int
    out: str
    err: str


Argot = Callable[..., Done]


@pytest.fixture
def argot(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Argot:
    """Provide a function that runs a command in this process, with the test's own home, and allows no traceback."""
    monkeypatch.setenv("ARGOT_HOME", str(tmp_path / "kb"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Done(int(ended.value.code or 0), out, err)

    return run


@pytest.fixture
def tiny(tiny_home: Path, tmp_path: Path) -> Path:
    """Provide a copy of the small knowledge base for one test."""
    return shutil.copytree(tiny_home, tmp_path / "kb")


def test_a_check_of_texts_fails_by_level_and_names_each_place(argot: Argot, tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThe ZQV of the PUC.\n")
    (tmp_path / "empty.md").write_text("")
    found = argot("terms", "check", "a.md")
    assert found.code == 1 and found.out.startswith("a.md:3:5: warning: “ZQV” is explained neither")
    assert argot("terms", "check", "a.md", "--fail-on", "error").code == 0
    log = argot("terms", "check", "a.md", "empty.md", "--format", "sarif", "--fail-on", "never")
    assert log.code == 1 and "empty.md: empty" in log.err
    assert [one["ruleId"] for one in json.loads(log.out)["runs"][0]["results"]] == ["undefined-abbreviation"]
    assert argot("terms", "check", "a.md", "--context", "Moon").code == 1


# -- help and docs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_command_has_help_examples_and_a_line_in_the_docs(name: str, command: Any) -> None:
    assert command.help, f"{name} has no help text"
    assert "Examples:" in (command.epilog or ""), f"{name} has no examples"
    assert f"  {name}" in command.epilog
    assert f"| `{name}" in DOCS.read_text(encoding="utf-8"), f"{name} is not in {DOCS.name}"
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{name}: {parameter.name} has no help text"


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_command_accepts_a_knowledge_base(name: str, command: Any) -> None:
    if not name.startswith("argot evaluate"):
        assert "--home" in [option for parameter in command.params for option in parameter.opts]


def test_the_docs_name_existing_commands_only() -> None:
    lines = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| `argot")]
    assert len(lines) == len(list(commands()))


def test_version_help_and_wrong_commands_are_handled(argot: Argot) -> None:
    assert argot("--version").out.startswith("argot ")
    assert "ask" in argot("--help").out
    assert argot("frobnicate").code == 2
    assert argot("ask").code == 2
    assert "Did you mean ARGOT_HOME?" in in_process("list", env={"ARGOT_HOMER": "x"}).stderr


# -- modules that are not loaded ------------------------------------------------------------------------------------


def in_process(
    *arguments: object, env: dict[str, str] | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "argot.ui.cli.main", *map(str, arguments)]
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **(env or {})},
        input=stdin,
        timeout=600,
    )


def modules_after(*arguments: object) -> set[str]:
    code = (
        "import sys\nfrom argot.ui.cli.main import main\ntry:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print('\\n' + ' '.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], check=False, capture_output=True, text=True, timeout=600
    )
    return set(done.stdout.splitlines()[-1].split())


def test_a_question_loads_neither_torch_nor_the_readers(tiny: Path) -> None:
    modules = modules_after("ask", "What does a late tariff filing cost?", "--home", tiny)
    assert "chromadb_rust_bindings" in modules
    assert not modules & {
        "chromadb",
        "fastapi",
        "numpy.ma",
        "torch",
        "transformers",
        "sentence_transformers",
        "docutils",
        "pdfplumber",
        "openpyxl",
        "chainlit",
    }


def test_the_glossary_loads_neither_index_nor_embedder_nor_graph(tiny: Path) -> None:
    modules = modules_after("glossary", "list", "--home", tiny)
    assert "argot.jargon_db.glossary" in modules
    assert not modules & {"chromadb_rust_bindings", "onnxruntime", "tokenizers", "langgraph", "numpy"}


def test_a_missing_knowledge_base_is_reported_before_what_opens_one_is_loaded(tmp_path: Path) -> None:
    modules = modules_after("ask", "What does a late tariff filing cost?", "--home", tmp_path / "none")
    assert "argot.service.storage.home_folder" in modules
    assert not modules & {"asyncio", "argot.service.knowledge_base", "numpy"}


def test_the_list_of_documents_loads_neither_embedder_nor_graph(tiny: Path) -> None:
    modules = modules_after("list", "--home", tiny)
    assert "argot.service.knowledge_base" in modules
    assert not modules & {
        "chromadb_rust_bindings",
        "onnxruntime",
        "tokenizers",
        "langgraph",
        "langchain_core",
        "pysbd",
        "torch",
    }


def test_help_loads_only_the_command_line(tiny: Path) -> None:
    modules = modules_after("--help")
    assert not modules & {"pydantic", "sqlite_utils", "argot.service", "argot.settings"}


# -- a new knowledge base -------------------------------------------------------------------------------------------


def test_a_new_base_gives_a_cited_answer(argot: Argot, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "filing.md").write_text("# Filing\n\nA late tariff filing costs 500 dollars a day.\n")
    (tmp_path / "terms.csv").write_text(
        "term,context,expansion,description,notes,aliases,owner\nLTF,Legal,late tariff filing,,,,\n"
    )

    added = argot("add", "docs")
    assert (added.code, added.out) == (0, "1 added\n")
    assert "Made a knowledge base" in added.err
    assert argot("add", "docs").out == "1 unchanged\n"
    assert argot("glossary", "import", "terms.csv").out == "1 added, 0 updated, 0 unchanged, new contexts: Legal\n"

    asked = argot("ask", "What does an LTF cost a day?")

    assert asked.code == 0
    assert "500 dollars a day. [1]" in asked.out
    assert "LTF = late tariff filing (Legal)" in asked.out
    assert "[1] filing.md, Filing" in asked.out
    assert argot("remove", "docs/filing.md").code == 0
    assert argot("list").out == ""


def test_every_command_without_a_knowledge_base_names_the_remedy(argot: Argot, tmp_path: Path) -> None:
    for arguments in (
        ["list"], ["show", "x"], ["remove", "x"], ["reindex"], ["ask", "q"], ["answer", "t", "1"], ["glossary", "list"],
        ["glossary", "export"], ["glossary", "misses"], ["glossary", "add", "A", "B", "C"], ["context", "list"],
        ["user", "add", "ann"], ["user", "list"], ["threads", "list"], ["backup", "b.tar"],
    ):  # fmt: skip
        done = argot(*arguments)
        assert done.code == 1
        assert f"argot init --home {tmp_path / 'kb'}" in done.err
        assert done.out == ""
    assert not (tmp_path / "kb").exists()


def test_a_second_init_changes_nothing(argot: Argot, tmp_path: Path) -> None:
    assert argot("init").code == 0
    marker = (tmp_path / "kb" / layout.MARKER).read_text()
    assert "already" in argot("init").out
    assert (tmp_path / "kb" / layout.MARKER).read_text() == marker


# -- invalid input --------------------------------------------------------------------------------------------------


def test_unreadable_files_are_named_with_the_reason_and_others_added(argot: Argot, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nThis one is fine.\n")
    (folder / "empty.md").write_bytes(b"")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 and then nothing")
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 no zip")
    (folder / "picture.jpg").write_bytes(b"\xff\xd8")

    done = argot("add", folder)

    assert done.code == 1
    assert "1 added" in done.out
    assert "4 failed" in done.out
    for name in ("empty.md", "broken.pdf", "broken.docx", "picture.jpg"):
        assert f"failed: {name}: " in done.err
    assert [one["name"] for one in json.loads(argot("list", "--json").out)] == ["good.md"]
    assert argot("add", tmp_path / "absent").code == 1


def test_an_empty_path_does_not_mean_the_current_folder(argot: Argot, tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("# Mine\n\nNot to be added.\n")
    done = argot("add", "")
    assert done.code == 1
    assert "argot add ." in done.err
    assert not (tmp_path / "kb").exists()


def test_an_oversized_file_is_refused(argot: Argot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOT_MAX_FILE_MB", "0.001")
    (tmp_path / "big.md").write_text("word " * 1000)
    done = argot("add", tmp_path / "big.md")
    assert done.code == 1
    assert "failed: big.md" in done.err


def test_the_error_for_an_invalid_glossary_names_row_and_column(argot: Argot, tiny: Path, tmp_path: Path) -> None:
    before = argot("glossary", "export").out
    (tmp_path / "bad.csv").write_text(
        "term,context,expansion,description,notes,aliases,owner\nNEW,Legal,new thing,,,,\nBAD,Legal,,,,,\n"
    )
    done = argot("glossary", "import", "bad.csv", "--dry-run")
    assert "+ NEW (Legal): new thing" in done.out
    assert "row 3: 'BAD' has neither an expansion nor a description" in done.out + done.err
    (tmp_path / "latin.csv").write_bytes("term,context,expansion\nÜ,X,Y\n".encode("latin-1"))
    assert "+ Ü (X): Y" in argot("glossary", "import", "latin.csv", "--dry-run").out
    for column in ("context", "expansion", "owner"):
        cells = {"term": "A", "expansion": "B", column: "x" * 10_001}
        (tmp_path / "long.csv").write_text(",".join(cells) + "\n" + ",".join(cells.values()) + "\n")
        assert f"row 2, column {column}: it has 10,001" in argot("glossary", "import", "long.csv").err
    assert argot("glossary", "export").out == before


def test_an_import_lists_the_everyday_words_that_became_drafts(argot: Argot, tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "words.csv").write_text("term,context,expansion\nit,Desk,information terminal\nam,Desk,arrival list\n")
    done = argot("glossary", "import", "words.csv")
    assert done.out.startswith("2 added")
    assert "2 everyday words among the new names: it, am." in done.err
    assert "argot glossary list --status draft" in done.err
    (tmp_path / "more.csv").write_text("term,context,expansion\nor,Desk,operating room\n")
    told = json.loads(argot("glossary", "import", "more.csv", "--json").out)
    assert (told["everyday"], told["everyday_count"]) == (["or"], 1)
    assert "argot glossary approve" in told["notices"][0]["message"]


def test_a_glossary_is_exported_as_tsv_and_imported_unchanged(argot: Argot, tiny: Path, tmp_path: Path) -> None:
    assert argot("glossary", "export", "all.tsv").code == 0
    first = (tmp_path / "all.tsv").read_text().splitlines()[0]
    assert first.split("\t")[:3] == ["term", "context", "expansion"]
    assert argot("glossary", "import", "all.tsv").out.startswith("0 added, 0 updated")


def test_a_mapping_of_a_missing_column_names_it(argot: Argot, tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "words.csv").write_text("x,y\nQ1,quay wall\n")
    done = argot("glossary", "import", "words.csv", "--map", "Abbrev=term")
    assert done.code == 1
    assert "no column 'Abbrev'. Columns: 'x', 'y'." in done.err
    assert "--map 'x=term,y=expansion'" in done.err


def test_a_glossary_is_not_written_to_a_file_of_another_format(argot: Argot, tiny: Path, tmp_path: Path) -> None:
    for name, known in (("x.foo", ".csv, .txt"), ("x.md", ".csv, .txt")):
        done = argot("glossary", "export", name)
        assert done.code == 1
        assert known in done.err and ".ttl" in done.err
        assert not (tmp_path / name).exists()
    assert argot("glossary", "export", "x.foo", "--format", "csv").code == 0
    before = argot("glossary", "export").out
    done = argot("glossary", "import", "x.foo")
    assert done.code == 1
    assert "'.foo'" in done.err and ".csv, .txt" in done.err
    (tmp_path / "twice.csv").write_text("term,expansion,notes\nA,alpha,one\nA,alpha,two\n")
    assert argot("glossary", "export").out == before
    assert argot("glossary", "import", "twice.csv").out.startswith("1 added")
    assert "one\n\ntwo" in argot("glossary", "export").out


def test_a_glossary_saved_by_a_spreadsheet_is_read(argot: Argot, tiny: Path, tmp_path: Path) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        (tmp_path / "u.csv").write_bytes(f"term\texpansion\nÜ\t{encoding}\n".encode(encoding))
        assert argot("glossary", "import", "u.csv").out.startswith("1 added")
        assert encoding in argot("glossary", "list", "Ü").out


@pytest.mark.parametrize("question", ["", "   \n", "🙂🙂🙂", "x" * 1_000_000, "\x00", "?!"])
def test_invalid_questions_get_a_clear_error(argot: Argot, tiny: Path, question: str) -> None:
    done = argot("ask", question)
    assert done.code == 1
    assert done.err.startswith("argot: ")
    assert len(done.err) < 500
    assert argot("threads", "list").out == ""


def test_the_error_for_a_wrong_profile_context_or_thread_names_valid_ones(argot: Argot, tiny: Path) -> None:
    assert "strict" in argot("ask", "q", "--profile", "nope").err
    assert "NAND" in argot("ask", "q", "--context", "nope").err
    for done in (argot("ask", "q", "--thread", "t0"), argot("answer", "t0", "1"), argot("threads", "show", "t0")):
        assert done.code == 1
        assert "argot threads list" in done.err


def test_text_of_documents_cannot_control_the_terminal(argot: Argot, tmp_path: Path) -> None:
    (tmp_path / "evil.md").write_text(
        "# Red \x1b[31m title\n\nThe \x1b]0;owned\x07 valve opens at 7 bar. [bold]x[/bold]\n"
    )
    argot("add", "evil.md")
    for arguments in (["list"], ["show", "evil.md"], ["ask", "When does the valve open?"]):
        done = argot(*arguments)
        assert done.code == 0
        assert "\x1b" not in done.out
        assert "\x07" not in done.out


def test_an_abstention_shows_the_nearest_passages_with_excerpts(argot: Argot, tmp_path: Path) -> None:
    (tmp_path / "evil.md").write_text("# Pipes\n\nA pipe is grey. The \x1b]0;owned\x07 **valve** opens at 7 bar.\n")
    argot("add", "evil.md")
    done = argot("ask", "Who sold the valve?")
    assert "\n[1] evil.md: Pipes\n    “The  ]0;owned  valve opens at 7 bar.”\n" in done.out


# -- questions ------------------------------------------------------------------------------------------------------


def test_json_output_is_exactly_the_result(argot: Argot, tiny: Path) -> None:
    result = json.loads(argot("ask", "What does a late TFL cost a day?", "--json").out)

    assert set(result) == set(AskResult.model_fields)
    assert AskResult.model_validate(result).status == "answered"
    assert "500 dollars" in result["answer"]
    assert [term["expansion"] for term in result["jargon"]] == ["tariff filing"]


def test_a_question_back_shows_the_commands_that_answer_it(argot: Argot, tiny: Path) -> None:
    asked = argot("ask", "What is a PUC?")
    lines = [line.strip() for line in asked.out.splitlines() if line.startswith("  argot answer")]
    assert "Peripheral Under Cell (NAND)" in asked.out
    assert len(lines) == 3

    answered = argot(*lines[0].split()[1:])

    assert answered.code == 0
    assert "PUC = " in answered.out
    assert argot(*lines[0].split()[1:]).code == 1  # the choice is no longer open


def test_an_ambiguous_document_is_asked_about_chosen_and_remembered(argot: Argot, tiny: Path, tmp_path: Path) -> None:
    for name, seconds in (("R1", 10), ("R7", 30)):
        text = f"# Router {name}\n\nTo reset the router, hold its button for {seconds} seconds.\n"
        (tmp_path / f"{name}.md").write_text(text)
        assert argot("add", tmp_path / f"{name}.md").code == 0

    asked = argot("ask", "How do I reset the router?")

    shown = asked.out.splitlines()
    assert shown[0] == "“the router” fits several documents. Which one do you mean?"
    assert sorted(shown[1:3], key=lambda line: line[-1]) == [
        next(line for line in shown if line.endswith(". Router R1")),
        next(line for line in shown if line.endswith(". Router R7")),
    ]
    assert shown[3] == "  3. answer anyway"
    commands = [line.split() for line in shown if line.startswith("  argot answer")]
    assert len(commands) == 3
    seventh = next(line for line in shown if line.endswith(". Router R7")).strip()[0]
    answered = argot(*commands[int(seventh) - 1][1:])
    assert answered.code == 0 and "30 seconds" in answered.out and "10 seconds" not in answered.out
    thread = commands[0][2]
    again = argot("ask", "And how do I reset the router?", "--thread", thread)
    assert "30 seconds" in again.out and "Note: “router” was taken to mean Router R7, as before." in again.out
    off = argot("ask", "How do I reset the router?", "--set", "choose_document=off")
    assert off.code == 0 and "seconds" in off.out and "Which one" not in off.out


def test_at_a_terminal_the_choice_is_asked_immediately(tiny: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "argot.ui.cli.main", "ask", "What is a PUC?", "--home", str(tiny)]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown, replied = "", False
    with contextlib.suppress(OSError):  # reading at the end of a terminal is an error on Linux
        while data := os.read(ours, 4096):
            shown += data.decode(errors="replace")
            if "or in words" in shown and not replied:
                os.write(ours, b"the legal one\n")
                replied = True
    os.close(ours)
    assert process.wait(timeout=300) == 0
    assert replied
    assert "PUC = Public Utilities Commission (Legal)" in shown.split("the legal one")[-1]


def test_a_thread_is_shown_renamed_and_deleted(argot: Argot, tiny: Path) -> None:
    thread = json.loads(argot("ask", "What does a late tariff filing cost?", "--json").out)["thread"]
    argot("ask", "When must a tariff be filed?", "--thread", thread)

    shown = argot("threads", "show", thread).out
    assert "> What does a late tariff filing cost?" in shown
    assert "> When must a tariff be filed?" in shown
    assert "500 dollars a day" in shown
    assert argot("threads", "rename", thread, "Tariffs").out == f"{thread}: Tariffs\n"
    assert "Tariffs" in argot("threads", "list").out
    assert argot("threads", "delete", thread).code == 0
    assert argot("threads", "show", thread).code == 1


# -- who may see what -----------------------------------------------------------------------------------------------


def test_documents_with_an_audience_are_shown_to_its_readers_only(argot: Argot, tiny: Path) -> None:
    argot("user", "add", "ann")
    argot("user", "add", "vic", "--group", "vault")
    secret = ("vault-handbook", "14 days", "combination", "Vault Liaison")

    for arguments in (
        ["list"], ["list", "--json"], ["show", "vault-handbook.md"], ["glossary", "list"], ["glossary", "export", "-"],
        ["glossary", "list", "VLT"], ["ask", "How often is the vault combination rotated?", "--json"],
        ["ask", "What does VLT stand for?", "--json"],
    ):  # fmt: skip
        mine = argot(*arguments, "--as", "ann")
        asked = {"question": "", "stand_alone_question": "", "search_queries": [], "augmented_question": ""}
        shown = mine.out
        if mine.out.startswith("{"):
            shown = json.dumps({**json.loads(mine.out), **asked})
        assert not [word for word in secret if word in shown], arguments
    assert "vault-handbook.md" in argot("list", "--as", "vic").out
    assert "14 days" in argot("ask", "How often is the vault combination rotated?", "--as", "vic").out


def test_a_user_who_is_not_a_manager_can_change_nothing(argot: Argot, tiny: Path) -> None:
    argot("user", "add", "ann")
    assert "the role 'manager'" in argot("glossary", "misses", "--as", "ann").err
    assert argot("list", "--as", "nobody").code == 1


def test_a_thread_of_another_user_is_not_found(argot: Argot, tiny: Path) -> None:
    argot("user", "add", "ann")
    argot("user", "add", "vic", "--group", "vault")
    asked = argot("ask", "How often is the vault combination rotated?", "--json", "--as", "vic")
    thread = json.loads(asked.out)["thread"]

    for arguments in (
        ["threads", "show", thread], ["threads", "rename", thread, "x"], ["threads", "delete", thread],
        ["ask", "And now?", "--thread", thread], ["answer", thread, "1"],
    ):  # fmt: skip
        for user in (["--as", "ann"], []):
            done = argot(*arguments, *user)
            assert done.code == 1
            assert done.err == f"argot: There is no thread '{thread}' of yours. See them with: argot threads list\n"
    assert argot("threads", "list", "--as", "ann").out == ""
    assert "14 days" in argot("threads", "show", thread, "--as", "vic").out


# -- beside a running service ---------------------------------------------------------------------------------------

SERVE = """
import asyncio, sys
from pathlib import Path
from argot.service.transport.local_socket import serve_socket
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.sqlite_database import SqliteStores
async def main():
    async with KnowledgeBase.open(Path(sys.argv[1]), Settings()) as kb, serve_socket(kb):
        print("serving", flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.fixture
def service(tiny: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", SERVE, str(tiny)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "serving\n"
    yield process
    process.kill()
    process.wait()


@pytest.mark.usefixtures("service")
def test_a_command_beside_a_service_loads_neither_all_use_cases_nor_the_graph(tiny: Path) -> None:
    modules = modules_after("list", "--home", tiny)
    assert "argot.service.transport.socket_peer" in modules
    assert not modules & {"argot.service.usecases.catalogue", "argot.graph.build", "langgraph", "langchain_core"}


def test_commands_beside_a_service_use_it(
    argot: Argot, service: subprocess.Popen[str], tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "pump.md").write_text("# Pump\n\nThe valve of the blue pump opens at 7 bar.\n")

    assert argot("add", "docs").out == "1 added\n"
    assert "7 bar. [1]" in argot("ask", "When does the valve of the blue pump open?").out
    with monkeypatch.context() as shell:
        # Nobody listens there: the service answers without it, and says so.
        shell.setenv("ARGOT_MODEL_URL", "http://127.0.0.1:9/v1")
        asked = argot("ask", "When does the valve of the blue pump open?")
    assert "7 bar. [1]" in asked.out
    assert "Not used: ARGOT_MODEL_URL of this shell." in asked.err
    assert "pump.md" in argot("list").out
    assert argot("doctor").code == 0
    assert argot("backup", "b.tar").code == 0
    assert argot("reindex").code == 0
    assert argot("glossary", "import", "absent.csv").code == 1
    assert argot("remove", "docs/pump.md").code == 0
    assert f"process {service.pid}" in argot("restore", "b.tar", "--force").err

    service.kill()
    service.wait()
    assert "pump.md" not in argot("list").out
    assert argot("restore", "b.tar", "--force").code == 0
    assert "pump.md" in argot("list").out


def test_a_nested_list_of_tasks_is_printed_as_a_list(argot: Argot, tmp_path: Path) -> None:
    items = "- [ ] The guard is closed.\n- [ ] The oil level:\n  - above the red mark\n- [x] The key is in.\n"
    (tmp_path / "press.md").write_text(f"# Press\n\nCheck these before you start the press:\n\n{items}")
    argot("add", tmp_path / "press.md")
    printed = argot("ask", "What do I check before I start the press?").out
    assert "- ☐ The oil level:\n    - above the red mark\n- ☑ The key is in. [1]\n" in printed


# -- damage, backup, doctor -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [layout.CORPUS, layout.GLOSSARY, layout.PEOPLE, layout.THREADS])
def test_every_command_reports_a_damaged_store_with_the_repair_command(argot: Argot, tiny: Path, name: str) -> None:
    argot("user", "add", "ann")
    argot("ask", "What does a late tariff filing cost?")
    argot("backup", tiny.parent / "b.tar")
    whole = (tiny / name).read_bytes()
    for length in (10, 4096, len(whole) // 2, len(whole) - 100):
        (tiny / name).write_bytes(whole[:length])
        for arguments in (
            ["list"],
            ["ask", "q"],
            ["glossary", "list"],
            ["user", "list"],
            ["threads", "list"],
            ["reindex"],
        ):
            done = argot(*arguments)
            assert done.code == 1
            assert name in done.err
            assert "argot restore --force" in done.err
        done = argot("doctor")
        assert done.code == 1
        assert f"PROBLEM  {name}" in done.out

    assert argot("restore", tiny.parent / "b.tar", "--force").code == 0
    assert "500 dollars" in argot("ask", "What does a late tariff filing cost?").out


@pytest.mark.parametrize(
    ("name", "length"), [(name, length) for name in layout.DATABASES for length in (0, 5000, None)]
)
def test_the_suggested_commands_repair_a_store_without_a_backup(
    argot: Argot, tiny_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, length: int | None
) -> None:
    home = shutil.copytree(tiny_home, tmp_path / "our kb")
    monkeypatch.setenv("ARGOT_HOME", str(home))
    given = {"PATHS": tmp_path / "say.md", "FILE.csv": tmp_path / "terms.csv", "NAME": "ann"}
    (tmp_path / "say.md").write_text("# Say\n\nThe sentinel valve opens at 7 bar.\n")
    (tmp_path / "terms.csv").write_text("term,expansion\nSV,sentinel valve\n")
    argot("user", "add", "ann")
    for words in (["ratings", "list"], ["learn", "data", "list"]):
        argot(*words)  # creates the store
    EvaluationStore(SqliteStores(home)).close()  # its pages create it
    argot("ask", "What does a late tariff filing cost?")
    if length is None:
        (home / name).unlink()
    else:
        (home / name).write_bytes((home / name).read_bytes()[:length])

    message = argot("ask", "When does the sentinel valve open?").err
    for step in message.partition("without one, with: ")[2].strip().split(" && "):
        program, *words = (given.get(word, word) for word in shlex.split(step))
        if program == "argot":
            assert argot(*words).code == 0
        else:
            subprocess.run([str(program), *map(str, words)], check=True)

    assert argot("ask", "When does the sentinel valve open?").code == 0
    assert argot("doctor").code == 0


def test_lost_vectors_are_reported_and_rebuilt(argot: Argot, tiny: Path) -> None:
    shutil.rmtree(tiny / layout.VECTORS)
    done = argot("ask", "What does a late tariff filing cost?")
    assert done.code == 1
    assert "argot reindex" in done.err
    assert "argot reindex" in argot("doctor").out
    assert argot("list").code == 0

    assert argot("reindex").code == 0

    assert "500 dollars" in argot("ask", "What does a late tariff filing cost?").out
    assert argot("doctor").code == 0


def test_backup_and_restore_recover_everything(argot: Argot, tiny: Path, tmp_path: Path) -> None:
    argot("user", "add", "ann", "--group", "hr")
    argot("ask", "What does a late tariff filing cost?")
    assert argot("backup", "b.tar").code == 0

    assert "--force" in argot("restore", "b.tar").err
    assert argot("restore", "b.tar", "--home", "copy").code == 0

    for arguments in (
        ["list", "--json"], ["glossary", "export"], ["user", "list", "--json"], ["context", "list", "--json"],
        ["threads", "list", "--json"], ["show", "tariff-filing.md", "--json"],
    ):  # fmt: skip
        assert argot(*arguments, "--home", "copy").out == argot(*arguments).out
    question = ["ask", "What does a late TFL cost a day?", "--json"]
    one, two = (json.loads(argot(*question, *more).out) for more in ([], ["--home", "copy"]))
    assert one["answer"] == two["answer"]
    assert [passage["passage_id"] for passage in one["passages"]] == [
        passage["passage_id"] for passage in two["passages"]
    ]


def test_doctor_says_where_settings_come_from(argot: Argot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOT_PORT", "8123")
    monkeypatch.delenv("ARGOT_THREADS", raising=False)
    (tmp_path / "argot.toml").write_text("threads = 2\n")
    argot("init")
    done = argot("doctor", "--json")
    details = {finding["name"]: finding["detail"] for finding in json.loads(done.out)}
    assert done.code == 0
    assert details["setting port"] == "8123 (from ARGOT_PORT)"
    assert details["setting threads"] == f"2 (from {tmp_path / 'argot.toml'})"


# -- the wheel ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_wheel_contains_every_package_and_data_file(tmp_path: Path) -> None:
    import tomllib
    import zipfile

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {project["package-dir"].get(name, name.replace(".", "/")): name for name in project["package-dir"]}
    found = {
        ".".join([package, *init.parent.relative_to(ROOT / folder).parts])
        for folder, package in folders.items()
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert set(project["packages"]) == found

    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    source = tmp_path / "source"
    for name in filter(None, tracked.split("\0")):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(tmp_path),
        str(source),
    ]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("argot-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, package in folders.items():
        for path in (source / folder).rglob("*"):
            if path.is_file() and "office" not in path.parts and path.name != "make_office.py":
                inside = "/".join([*package.split("."), *path.relative_to(source / folder).parts])
                assert inside in names, f"{inside} is not in the wheel"
    assert [name for name in names if re.search(r"(^|/)(tests|bench|__pycache__|kb)/|\.pyc$", name)] == []


# -- control characters in files do not reach the terminal ------------------------------------------------------------

ACTS = "\x1b]0;pwned\x07 \x1b[31mred \x9b2J \u202egpj \u200bhidden [red]x[/blue]"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def acting(argot: Argot, tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / f"a {ACTS.replace('/', '')}.md").write_text(
        f"# T {ACTS}\n\nThe frobnitz takes {ACTS} 42 days.\n", "utf-8"
    )
    (folder / f"b {ACTS.replace('/', '')}.pdf").write_bytes(b"no pdf")
    assert argot("add", folder).code == 1
    argot("glossary", "add", "FRB", "Tools", f"frobnitz {ACTS}", "--description", ACTS, "--alias", f"F {ACTS}")
    argot("context", "add", f"C {ACTS}", "--contact", ACTS)


@pytest.mark.usefixtures("acting")
def test_no_command_prints_terminal_control_characters(argot: Argot) -> None:
    question = "How many days does the frobnitz take?"
    for arguments in (
        ["add", "in"], ["list"], ["list", "--json"], ["show", "nand-layout.md"], ["glossary", "list"],
        ["glossary", "list", "--json"], ["context", "list"], ["context", "list", "--json"], ["threads", "list"],
        ["ask", question], ["ask", question, "--json"], ["ask", "What is FRB?"], ["ask", f"WL {ACTS}"],
        ["ask", "x", "--context", ACTS], ["ask", "x", "--profile", ACTS], ["answer", f"t {ACTS}", ACTS],
        ["show", f"no {ACTS}"], ["add", f"no {ACTS}"], ["glossary", "import", f"no {ACTS}"], ["user", "add", ACTS],
        ["restore", f"no {ACTS}"],
    ):  # fmt: skip
        done = argot(*arguments)
        assert done.out + done.err
        assert OBEYED.findall(done.out + done.err) == [], arguments


@pytest.mark.usefixtures("acting")
def test_escaped_json_reads_the_same(argot: Argot) -> None:
    documents = json.loads(argot("list", "--json").out)
    # In a document's text, a control character of this range means the character that windows-1252 has there.
    title = f"T {ACTS}".replace("\x9b", "›")
    assert title.split() == next(one["title"] for one in documents if "pwned" in one["name"]).split()


@pytest.mark.usefixtures("acting")
def test_an_export_is_verbatim_in_a_file_and_harmless_on_a_terminal(argot: Argot, tmp_path: Path) -> None:
    piped = argot("glossary", "export", "-").out
    assert f"frobnitz {ACTS}" in piped
    shown = on_a_terminal("glossary", "export", "-", home=tmp_path / "kb")
    assert "[red]x[/blue]" in shown
    assert OBEYED.findall(shown.replace("\r", "")) == []


def test_adding_a_sense_reports_its_conflicts(argot: Argot) -> None:
    argot("init")
    assert "Note" not in argot("glossary", "add", "PUC", "NAND", "peripheral under cell").err
    assert "Note" not in argot("glossary", "add", "PUC", "NAND", "peripheral under cell", "--notes", "n").err
    assert "'PUC' means several things in 'NAND'" in argot("glossary", "add", "PUC", "NAND", "power up control").err


def test_conflicts_are_listed_accepted_and_reopened(argot: Argot) -> None:
    argot("init")
    for expansion in ("peripheral under cell", "power up control"):
        argot("glossary", "add", "PUC", "NAND", expansion)
    listed = argot("glossary", "conflicts")
    assert listed.out.startswith("1 2\tconflicting expansion\t'PUC' means several things in 'NAND'")
    assert "1 item to review, 0 accepted" in listed.err
    assert argot("glossary", "conflicts", "2").out == listed.out
    assert "no conflict with each other" in argot("glossary", "conflicts", "2", "--accept").err
    done = argot("glossary", "conflicts", "2", "1", "--let-stand", "--why", "two teams")
    assert (done.code, done.out.startswith("Accepted: 'PUC'")) == (0, True)
    change = re.search(r"change (\d+)", done.out)
    assert change
    assert argot("glossary", "conflicts").err == "0 items to review, 1 accepted\n"
    assert argot("glossary", "conflicts", "--accepted").out.endswith(f"\t{change[1]}\tlocal\ttwo teams\n")
    assert "PUC" in argot("glossary", "conflicts", "--reopen", change[1]).out
    assert argot("glossary", "conflicts").out == listed.out
    assert "accepted no conflict" in argot("glossary", "conflicts", "--take-up", change[1]).err
    for wrong in (["--let-stand"], ["1", "--take-up", "3"], ["--accepted", "--let-stand", "1"]):
        assert argot("glossary", "conflicts", *wrong).code == 1


def test_a_list_of_terms_shows_the_numbers_other_commands_take(argot: Argot) -> None:
    argot("init")
    argot("glossary", "add", "PUC", "NAND", "peripheral under cell")
    listed = argot("glossary", "list")
    assert listed.out == "PUC\tNAND\tperipheral under cell\t\tapproved\t1\n"
    headings, count = listed.err.splitlines()
    assert len(headings.split("\t")) == len(listed.out.split("\t"))
    assert headings.startswith("term\tcontext\t") and count == "1 sense"
    assert "[retired, 1]" in argot("glossary", "retire", "1", "--why", "gone").out
    assert "retired\t1" in argot("glossary", "list", "--status", "retired").out
    assert argot("glossary", "list", "--status", "draft").out == ""
    assert "draft, approved, retired" in argot("glossary", "list", "--status", "lost").err
    assert "[approved, 1]" in argot("glossary", "approve", "1").out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["glossary", "add", "", "NAND", "x"], "term is empty."),
        (["glossary", "add", "x" * 300, "NAND", "x"], "term has 300 characters, and may have 200."),
        (["context", "add", ""], "name is empty."),
        (["glossary", "approve", "9" * 20], "sense id (99999999999999999999)"),
    ],
)
def test_the_error_for_an_invalid_argument_names_the_value(argot: Argot, arguments: list[str], told: str) -> None:
    argot("init")
    done = argot(*arguments)
    assert done.code == 1
    assert told in done.err
    assert "items after validation" not in done.err


def test_a_password_appears_in_no_error_message(argot: Argot) -> None:
    assert argot("init").code == 0
    with pytest.raises(InvalidInput) as refused:
        usecase_registry.CASES["user_add"].check_parameters({"name": "ann", "password": 31337})
    assert "31337" not in str(refused.value)


def test_formulas_in_a_glossary_are_exported_harmless_and_imported_verbatim(argot: Argot, tmp_path: Path) -> None:
    """Check the apostrophe that keeps a spreadsheet from running them, and that an import removes it."""
    text = "term,context,expansion\r\n=1+1,@SUM,+cmd|' /C calc'!A0\r\n"
    (tmp_path / "g.csv").write_text(text, "utf-8")
    argot("glossary", "import", tmp_path / "g.csv")
    exported = argot("glossary", "export", "-").out
    assert "'=1+1,'@SUM,'+cmd|' /C calc'!A0" in exported
    (tmp_path / "again.csv").write_text(exported, "utf-8")
    argot("glossary", "import", tmp_path / "again.csv")
    assert argot("glossary", "export", "-").out == exported
    [sense] = json.loads(argot("glossary", "list", "--json").out)
    assert (sense["term"], sense["context"], sense["expansion"]) == ("=1+1", "@SUM", "+cmd|' /C calc'!A0")


def test_log_lines_contain_no_terminal_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    record = logging.LogRecord("argot", logging.WARNING, "", 0, "reading %s failed", (ACTS,), None)
    for form in (Lines, JsonLines):
        assert OBEYED.findall(form(Settings()).format(record)) == []


def on_a_terminal(*arguments: str, home: Path) -> str:
    command = [sys.executable, "-c", "from argot.ui.cli.main import main; main()", *arguments, "--home", str(home)]
    theirs, ours = pty.openpty()
    with subprocess.Popen(command, stdout=ours, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as process:
        os.close(ours)
        shown = b""
        with contextlib.suppress(OSError):  # the other end was closed
            while piece := os.read(theirs, 65536):
                shown += piece
        os.close(theirs)
    assert process.returncode == 0
    return shown.decode()


# -- profiles ---------------------------------------------------------------------------------------------------------


def test_a_profile_is_shown_edited_saved_listed_and_used(argot: Argot, tiny: Path, tmp_path: Path) -> None:
    shown = argot("profile", "show", "strict").out
    edited = tmp_path / "mine.toml"
    edited.write_text(shown.replace("#match_references = true", "#match_references = true\npassages = 2"))
    assert argot("profile", "save", "lab", "--from", edited, "--set", "misses=ask", "--about", "For the lab").code == 0
    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in argot("profile", "list").out.splitlines()}
    assert rows["lab"] == ["saved", "For the lab", "withhold_unsupported=on passages=2"]
    assert rows["default"][0] == "built in" and rows["default"][2] == ""
    for options in (("--profile", "lab"), ("--profile", edited), ("--profile", "strict", "--set", "passages=2")):
        result = json.loads(argot("ask", "How do I trim a drive?", *options, "--json").out)
        assert (result["status"], len(result["passages"])) == ("answered", 2)
    refused = argot("profile", "save", "lab", "--from", "lab", "--set", "rerank=off")
    assert refused.code == 1 and "'lab'" in refused.err and "--force" in refused.err
    assert argot("profile", "save", "lab", "--from", "lab", "--set", "rerank=off", "--force").code == 0
    assert "passages=2" in argot("profile", "list").out


def test_the_error_for_an_invalid_profile_names_the_possible_values(argot: Argot, tiny: Path) -> None:
    for arguments, told in (
        (("profile", "show", "../lab"), "default, extractive"),
        (("profile", "save", "strict"), "built-in"),
        (("profile", "save", "lab", "--set", "rerak=off"), "Did you mean rerank?"),
        (("profile", "save", "lab", "--from", "absent.toml"), "absent.toml"),
        (("ask", "What?", "--set", "rerank"), "rerank=off"),
        (("ask", "What?", "--profile", "fast"), "'fast'"),
    ):
        done = argot(*arguments)
        assert done.code == 1 and told in done.err, arguments


def test_the_commands_for_a_choice_repeat_the_options_of_the_question(argot: Argot, tiny: Path) -> None:
    done = argot("ask", "What is PUC?", "--profile", "strict", "--set", "passages=2", "--set", "rerank=on")
    assert re.search(r"argot answer \S+ \S+ --profile strict --set passages=2 --set rerank=on$", done.out, re.MULTILINE)


# -- sources --------------------------------------------------------------------------------------------------------


def test_a_source_is_added_synced_and_removed(argot: Argot, tmp_path: Path) -> None:
    for name in ("anvil", "bolt", "clamp"):
        (tmp_path / "docs" / name).mkdir(parents=True)
        (tmp_path / "docs" / name / f"{name}.md").write_text(f"# About {name}\n\nThe {name} is here.\n")
    made = argot("source", "add", "docs", "--every", "90m", "--with", "base-uri=https://wiki.example.org", "--tag", "x")
    assert (made.code, made.out.splitlines()[-1]) == (0, "Read it with: argot source sync docs")
    synced = argot("source", "sync")
    assert (synced.code, synced.out, synced.err) == (0, "docs: 3 added\n", "")
    assert "https://wiki.example.org/bolt/bolt.md" in argot("list", "--json").out
    (tmp_path / "docs" / "bolt").rename(tmp_path / "docs" / "nut")
    (tmp_path / "docs" / "broken.pdf").write_bytes(b"%PDF-1.7")
    synced = argot("source", "sync", "docs")
    assert (synced.code, synced.out) == (1, "docs: 1 renamed, 2 unchanged, 1 failed\n")
    assert synced.err.startswith("failed: broken.pdf: ")
    (row,) = argot("source", "list").out.splitlines()
    name, kind, address, every, documents, state, *_ = row.split("\t")
    assert (name, kind, every, documents, state) == ("docs", "folder", "90m", "3", "synced, 1 failed")
    assert address == str(tmp_path / "docs")
    shutil.rmtree(tmp_path / "docs")
    (tmp_path / "docs").mkdir()
    held = argot("source", "sync", "--json")
    assert held.code == 1
    (report,) = json.loads(held.out)
    assert (report["state"], report["removed"], report["waiting"], len(report["gone"])) == ("held", 0, 3, 3)
    assert f"deleted there: {', '.join(report['gone'])}" in argot("source", "list").err
    assert argot("source", "sync", "docs", "--confirm").out == "docs: 3 removed\n"
    assert argot("source", "remove", "docs").out == "Removed the source docs; 0 documents removed, 0 kept.\n"
    assert argot("source", "list").err.startswith("No sources yet.")


def test_the_list_of_sources_shows_the_progress_of_a_running_sync() -> None:
    record = SourceRecord("docs", "folder", "/srv/docs", {}, synced_at="2026-03-05T10:12:30", counts={"added": 3})
    assert describe_last_sync(record, None) == ("new", "2026-03-05T10:12", "3 added")
    assert describe_last_sync(record, SyncUnderWay("docs")) == ("syncing", "2026-03-05T10:12", "")
    assert describe_last_sync(record, SyncUnderWay("docs", 4, 20)) == ("syncing, 4 of 20", "2026-03-05T10:12", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["add"], "Give an address or --loader"),
        (["add", ""], "Give an address or --loader"),
        (["add", "docs", "--loader", "WikipediaLoader"], "Give an address or --loader"),
        (["add", "docs"], "There is no folder"),
        (["add", "git@example.org:a/b.git"], "'git@example.org:a/b.git'"),
        (["add", "https://wiki.example.org", "--kind", "wiki"], "--kind"),
        (["add", "https://wiki.example.org", "--with", "password=x"], "--with-env password=VARIABLE"),
        (["sync", "--confirm"], "Name it"),
        (["sync", "nothing"], "There is no source 'nothing'"),
        (["remove", "nothing"], "There is no source 'nothing'"),
    ],
)
def test_the_error_for_a_wrong_source_says_what_is_wrong(argot: Argot, arguments: list[str], said: str) -> None:
    argot("init")
    done = argot("source", *arguments)
    assert done.code and said in done.err


def test_a_file_url_is_refused_with_the_path_to_give(argot: Argot) -> None:
    done = argot("add", "file:///srv/a%20b")
    assert done.code and "Give the path itself: argot add /srv/a b" in done.err


def test_a_question_is_limited_by_fields_and_near_duplicates_are_listed(argot: Argot, tmp_path: Path) -> None:
    rules = " ".join(f"word{n * n % 97}" for n in range(200))
    for region, days in (("EU", 30), ("US", 15)):
        head = f"---\nregion: {region}\ndate: 20{days}-01-01\n---\n# Leave in the {region}\n\n"
        text = f"{head}## Days\n\nAnnual leave is {days} days.\n\n## Rules\n\n{rules}\n"
        (tmp_path / f"leave-{region}.md").write_text(text)
    added = argot("add", "leave-EU.md", "leave-US.md")
    assert (added.code, added.out) == (0, "2 added\n")
    assert added.err.splitlines()[1:] == ["leave-US.md is nearly the same as leave-EU.md (88% alike)"]
    assert "leave-US.md" in argot("documents", "near", "leave-EU.md").out
    assert "Nearly the same as leave-US.md" in (shown := argot("show", "leave-EU.md").out) and "region: EU" in shown
    asked = argot("ask", "How many days is annual leave?", "--field", "region=US", "--since", "2015")
    assert "15 days" in asked.out and "30 days" not in asked.out and "leave-US.md, rev. 2015-01-01" in asked.out
    none = argot("ask", "How many days is annual leave?", "--since", "2031-01-01", "--tag", "hr")
    assert "You may read no document tagged “hr” and dated 2031-01-01 or later" in none.out
    assert "is not a date" in argot("ask", "x?", "--since", "soon").err
    assert "needs a language model" in argot("ask", "How many days is annual leave?", "--effort", "thorough").out
    assert "is not a field with a value" in argot("ask", "x?", "--field", "region").err
    assert "Fields: language, region." in argot("ask", "x?", "--field", "regoin=EU").err
    labelled = argot("documents", "label", "leave-US.md", "--field", "region=Americas")
    assert labelled.out == "leave-US.md: tags none, for everyone, language English, region Americas.\n"
    assert "15 days" in argot("ask", "How many days is annual leave?", "--field", "region=americas").out


def test_a_search_strategy_is_chosen_on_a_set_of_pairs(argot: Argot, tiny: Path, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tiny / "corpus.db")) as connection:
        passages = connection.execute("SELECT id, text FROM passages WHERE text LIKE '%drive%'").fetchall()
    given = {"question": "How long does trimming take?", "document": "", "kind": "asked", "part": "validation"}
    rows = [{**given, "passage_id": id_, "passage": text} for id_, text in passages]
    (tmp_path / "ours.jsonl").write_text("\n".join(map(json.dumps, rows)))
    argot("user", "add", "mia", "--group", "managers")
    assert argot("learn", "data", "import", "ours", tmp_path / "ours.jsonl", "--as", "mia").code == 0
    done = argot("evaluate", "strategy", "--data", "ours", "--measure", "mrr", "--save", "found")
    assert done.code == 0 and "(present)" in done.out and "Not saved: no strategy is clearly better." in done.out
    # The error comes before anything is searched.
    taken = argot("evaluate", "strategy", "--data", "ours", "--save", "strict")
    assert taken.code == 1 and "'strict' is a built-in profile" in taken.err and "(present)" not in taken.out
    report = json.loads(argot("evaluate", "strategy", "--data", "ours", "--json").out)
    assert (report["data"], report["part"], report["questions"]) == ("ours", "validation", len(rows))
    done = argot("evaluate", "strategy", "--data", "ours", "--split", "test")
    assert done.code == 1 and "The test part of 'ours' has no question" in done.err
    assert argot("evaluate", "strategy", "--data", "ours", "--beir", tmp_path).code == 2
    argot("user", "add", "ann")
    assert argot("learn", "data", "list", "--as", "ann").code == 1
