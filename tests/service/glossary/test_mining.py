"""Tests of mining terms from text: pairs, tables, lists and sentences; and of the proposals made from them."""

import asyncio
import json
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import aclosing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from argot.jargon_db.mining import MinedText, Miner, find_definitions, find_definitions_of, find_forms
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.catalogue import dispatch, get_result
from argot.settings import Settings
from argot.types import Principal
from argot.ui.cli.main import app

ADMIN = Principal("admin", sees_all=True)


def pairs(text: str) -> list[tuple[str, str]]:
    return [(pair.short.of(text), pair.long.of(text)) for pair in find_forms(text).pairs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We raise the word line (WL) first.", [("WL", "word line")]),
        ("We raise the WL (word line) first.", [("WL", "word line")]),
        ("All word lines (WLs) are raised.", [("WLs", "word lines")]),
        ("Uses convolutional neural networks (CNN, see below).", [("CNN", "convolutional neural networks")]),
        ("A network (e.g., a Convolutional Neural Network (CNN)) is used.", [("CNN", "Convolutional Neural Network")]),
        ("The word line, abbreviated XQN, is long.", []),
        ("The word line, abbreviated WL, is long.", [("WL", "word line")]),
        ("The flash translation layer, or FTL, maps pages.", [("FTL", "flash translation layer")]),
        ("FTL stands for flash translation layer.", [("FTL", "flash translation layer")]),
        ("FTL = flash translation layer", [("FTL", "flash translation layer")]),
        ("FTL, the flash translation layer, maps pages.", [("FTL", "flash translation layer")]),
        ("The FTL is slow because its flash translation layer is old.", [("FTL", "flash translation layer")]),
        ("The device-to-device (D2D) link", [("D2D", "device-to-device")]),
        ("three-dimensional (3D) printing", [("3D", "three-dimensional")]),
        ("Non-negative Matrix Factorization (NMF)", [("NMF", "Non-negative Matrix Factorization")]),
        ("Quality of Service (QoS) and Internet of Things (IoT)",
         [("QoS", "Quality of Service"), ("IoT", "Internet of Things")]),
        ("Research and Development (R&D) costs", [("R&D", "Research and Development")]),
        ("Koşullu Çekişmeli Ağ (KÇA)", [("KÇA", "Koşullu Çekişmeli Ağ")]),
        ("Peripheral Under Cell (**PUC**) and the **bit line** (`BL`)",
         [("PUC", "Peripheral Under Cell"), ("BL", "bit line")]),
        ("TP, FP are true positive and false positive rates of Xyz.", []),
    ],
)  # fmt: skip
def test_terms_and_expansions_are_paired_in_running_text(text: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The results (see Table 2) were good.",
        "We saw it (as shown in Fig. 3) twice.",
        "The value (AB) is unrelated to its neighbours.",
        "It ended. The line (WL) is unrelated to the word before the stop.",
        "A word\n\nline (WL)",
        "| word | line (WL) |",
        "",
        "(((((",
        "()",
        "(WL",
    ],
)
def test_unrelated_words_are_not_paired(text: str) -> None:
    assert pairs(text) == []


def test_names_units_and_numerals_are_not_taken_for_short_forms() -> None:
    text = "GitHub hosts SINR at 5 GHz in World War II BY the V-NIR and LTE-A teams, IoT, VGGNet, DNNs and D2D."
    assert [span.of(text) for span in find_forms(text).short] == [
        "SINR", "V-NIR", "LTE-A", "IoT", "VGGNet", "DNNs", "D2D",
    ]  # fmt: skip


def test_spans_are_correct_in_text_with_markup() -> None:
    text = (
        "See [the guide](https://example.org/a_(b)) for the **flash translation layer** (FTL).\n\n```\nABC (a b c)\n```"
    )
    (pair,) = find_forms(text).pairs
    assert text[pair.short.start : pair.short.end] == "FTL"
    assert text[pair.long.start : pair.long.end] == "flash translation layer"


@pytest.mark.parametrize(
    "piece", ["(A", "a ", "AB ", "**", "| a ", "ab-", "[", "<a", ". ", "a.b", "\n", "AB = a b, ", "(a b (AB "]
)
def test_a_hostile_text_is_mined_in_limited_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    assert all(one.end <= len(text) for one in find_definitions(text))


TABLE = """# Abbreviations

| Term | Owner | Meaning |
|------|-------|---------|
| WL   | NAND  | word line |
| cold spare | Firmware | never-written reserve block |
| PUC | NAND | peripheral under cell. Sits below the array. |
| 2 | x | 17 |
"""


def test_a_table_of_terms_is_read_by_its_columns() -> None:
    found = {one.term: (one.expansion, one.description, one.kind) for one in find_definitions(TABLE)}
    assert found["WL"] == ("word line", "", "table")
    assert found["cold spare"] == ("never-written reserve block", "", "table")
    assert found["PUC"] == ("peripheral under cell", "peripheral under cell. Sits below the array.", "table")
    assert "2" not in found


def test_a_table_of_other_things_gives_no_definition() -> None:
    table = "| Step | Machine | Time |\n|---|---|---|\n| Back grinding | G-12 | 35 min |\n| Dicing | D-2 | 9 min |\n"
    assert find_definitions(table) == []


def test_terms_are_read_from_lists() -> None:
    text = "**FTL**: flash translation layer, a map of pages.\n\n- WL: word line\n- Note: read this first\n\n"
    text += "AMU\n: Activity Monitor Unit"
    found = {one.term: one.expansion for one in find_definitions(text)}
    assert found == {"FTL": "flash translation layer", "WL": "word line", "AMU": "Activity Monitor Unit"}
    under_glossary = find_definitions("**golden die**: correlation reference die", heading="Handbook > Glossary")
    assert [(one.term, one.expansion) for one in under_glossary] == [("golden die", "correlation reference die")]
    assert find_definitions("**golden die**: correlation reference die", heading="Handbook > Steps") == []


def test_definitions_of_a_term_are_ordered_by_quality() -> None:
    passages = [
        MinedText("p1", "The FTL is a layer that maps logical to physical pages."),
        MinedText("p2", "The FTL was slow. An old flash translation layer is the reason."),
        MinedText("p3", "Ask the flash translation layer (FTL) team. Unrelated sentence."),
        MinedText("p4", "Nothing here."),
    ]
    found = find_definitions_of("FTL", passages)
    assert [(one.passage_id, one.kind) for one in found] == [("p3", "brackets"), ("p1", "sentence")]
    assert found[0].expansion == "flash translation layer"
    assert found[0].quote == "Ask the flash translation layer (FTL) team."
    assert found[1].quote == "The FTL is a layer that maps logical to physical pages."
    assert find_definitions_of("cold spare", [MinedText("p", "A cold spare is a block that was never written to.")])[
        0
    ].quote


def test_mining_counts_passages_and_merges_plurals_and_fragments() -> None:
    miner = Miner()
    miner.read(MinedText("p1", "All word lines (WLs) are raised."))
    miner.read(MinedText("p2", "The word line (WL) is raised."))
    miner.read(MinedText("p3", "WL, a selected word line, is raised. A wafer lot (WL) moves."))
    mined = {(one.term, one.expansion): one for one in miner.collect()}
    assert mined["WL", "word line"].count == 2
    assert {passage for passage, _ in mined["WL", "word line"].evidence} == {"p1", "p2"}
    assert mined["WL", "wafer lot"].count == 1


# -- over a knowledge base --------------------------------------------------------------------------------------------


@pytest.fixture
def home(tiny_kb: Any) -> Iterator[Path]:
    tiny_kb.add("layers.md", "# Layers\n\nThe flash translation layer (FTL) maps pages.\n\nRaise the word line (WL).")
    tiny_kb.add("secret.md", "# Secret\n\nThe hidden vault key (HVK) is kept safe.", frozenset({"vault"}))
    tiny_kb.glossary.contexts.add("Mining")
    tiny_kb.glossary.senses.add("WL", "Mining", "word line")
    folder: Path = tiny_kb.folder
    tiny_kb.corpus.close()
    tiny_kb.glossary.close()
    yield folder


async def mine(home: Path, principal: Principal = ADMIN, **parameters: Any) -> tuple[dict[str, Any], list[Any]]:
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        found = await get_result(kb, principal, "glossary_mine", **parameters)
        return found, kb.glossary.proposals.find(ADMIN, status=None)


def terms(found: dict[str, Any]) -> set[str]:
    return {one["term"] for one in found["proposals"]}


async def test_mining_proposes_unknown_terms_and_adds_no_sense(home: Path) -> None:
    found, proposals = await mine(home)
    assert {"FTL", "HVK"} <= terms(found) and "WL" not in terms(found)
    assert found["known"] >= 1
    (ftl,) = [one for one in proposals if one.term == "FTL"]
    assert ftl.expansion == "flash translation layer" and ftl.origin == "mined" and ftl.status == "open"
    assert "flash translation layer (FTL)" in ftl.evidence[0][1]
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        assert not kb.glossary.senses.find(ADMIN, query="FTL")


async def test_mining_again_reads_only_new_documents_and_keeps_dismissals(home: Path) -> None:
    first, before = await mine(home)
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        number = next(one.id for one in before if one.term == "FTL")
        kb.glossary.proposals.dismiss(ADMIN, number, "known by all")
    found, after = await mine(home)
    assert (found["documents"], found["skipped"], found["offered"]) == (0, first["documents"], 0)
    found, after = await mine(home, again=True)
    assert [one.id for one in after] == [one.id for one in before]
    assert "FTL" not in terms(found) and found["decided"] == 1
    assert next(one.status for one in after if one.term == "FTL") == "dismissed"


@pytest.fixture
def many(tiny_kb: Any) -> Iterator[Path]:
    """Provide twenty documents, each with its own term; the last two spell one term more fully than the first two."""
    for number in range(20):
        name = chr(ord("A") + number)
        more = {0: "A word line (WDL) is raised.", 19: "A selected word line (WDL) is raised."}.get(number, "")
        tiny_kb.add(f"d{number:02}.md", f"# Part {name}\n\nThe quick {name.lower()}x layer (Q{name}XL) maps. {more}\n")
    tiny_kb.corpus.close()
    tiny_kb.glossary.close()
    yield tiny_kb.folder


def offered(kb: KnowledgeBase) -> set[tuple[str, str]]:
    return {(one.term, one.expansion) for one in kb.glossary.proposals.find(ADMIN)}


async def test_an_interrupted_mining_keeps_its_results_and_is_continued(
    many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / "whole"
    await asyncio.to_thread(shutil.copytree, many, whole)
    async with KnowledgeBase.open(whole, Settings(home=whole)) as kb:
        await get_result(kb, ADMIN, "glossary_mine")
        expected = offered(kb)
    async with KnowledgeBase.open(many, Settings(home=many)) as kb:
        gate, passages_of, read = threading.Event(), kb.document_store.passages_of, count()

        def wait_at_the_fifteenth(*given: Any) -> Any:
            # The thread that mines may be far ahead of the events that tell of it.
            _ = next(read) < 14 or gate.wait(60)
            return passages_of(*given)

        monkeypatch.setattr(kb.document_store, "passages_of", wait_at_the_fifteenth)
        async with aclosing(dispatch(kb, ADMIN, "glossary_mine", {})) as events:
            async for event in events:
                if event["done"] == 12:  # eight are stored; the others are read but not stored yet
                    break
            gate.set()
        part = offered(kb)
        assert part and part < expected
        mined = await get_result(kb, ADMIN, "glossary_mined")
        assert 0 < mined["unread"] < mined["documents"]
    async with KnowledgeBase.open(many, Settings(home=many)) as kb:
        rest = await get_result(kb, ADMIN, "glossary_mine")
        assert rest["documents"] == mined["unread"] and rest["skipped"] == mined["documents"] - mined["unread"]
        assert offered(kb) == expected
        again = await get_result(kb, ADMIN, "glossary_mine", again=True)
        assert again["offered"] == len(again["proposals"]) and offered(kb) == expected  # nothing is stored twice


async def test_a_fragment_of_a_more_certain_meaning_is_not_proposed(many: Path) -> None:
    async with KnowledgeBase.open(many, Settings(home=many)) as kb:
        await get_result(kb, ADMIN, "glossary_mine")
        assert len([one for one in offered(kb) if one[0] == "WDL"]) == 1


async def work_ended(kb: KnowledgeBase) -> None:
    for job in await kb.jobs.list_jobs():
        _ = [one async for one in kb.jobs.follow(job.id)]


async def test_background_mining_can_be_stopped_and_ends_with_the_service(many: Path) -> None:
    async with KnowledgeBase.open(many, Settings(home=many)) as kb:
        assert (await get_result(kb, ADMIN, "glossary_mined"))["state"] == "idle"
        begun = await get_result(kb, ADMIN, "glossary_mine_start")
        assert begun["state"] == "running"
        assert (await get_result(kb, ADMIN, "glossary_mine_start"))["state"] in ("running", "done")  # the same run
        other = Principal("mia", manages=frozenset({"NAND"}))
        assert (await get_result(kb, other, "glossary_mined"))["state"] == "idle"  # each person sees their own run
        await work_ended(kb)
        done = await get_result(kb, ADMIN, "glossary_mined")
        assert (done["state"], done["done"], done["unread"]) == ("done", done["total"], 0)
        assert done["offered"] == len(offered(kb))
        await get_result(kb, ADMIN, "glossary_mine_start", again=True)
        stopped = await get_result(kb, ADMIN, "glossary_mine_stop")
        assert stopped["state"] in ("stopped", "done")
        await get_result(kb, ADMIN, "glossary_mine_start", again=True)  # closing waits until the run has ended properly


async def test_a_failure_of_background_mining_is_reported(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with KnowledgeBase.open(many, Settings(home=many)) as kb:
        monkeypatch.setattr(kb.document_store, "passages_of", lambda *_: 1 / 0)
        await get_result(kb, ADMIN, "glossary_mine_start")
        await work_ended(kb)
        told = await get_result(kb, ADMIN, "glossary_mined")
        assert told["state"] == "failed" and "log" in told["error"]


async def test_a_proposal_is_visible_to_those_who_may_read_its_evidence(home: Path) -> None:
    manager = Principal("mia", groups=frozenset({"managers"}), manages=frozenset({"*"}))
    found, _ = await mine(home, manager)
    assert "HVK" not in json.dumps(found)
    await mine(home)
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        assert not [one for one in kb.glossary.proposals.find(manager) if one.term == "HVK"]
        insider = Principal("ira", groups=frozenset({"managers", "vault"}), manages=frozenset({"*"}))
        assert [one.term for one in kb.glossary.proposals.find(insider) if one.term == "HVK"] == ["HVK"]


def test_the_command_shows_term_meaning_and_evidence(home: Path) -> None:
    shown = CliRunner().invoke(app, ["glossary", "mine", "--home", str(home), "--dry-run"])
    assert shown.exit_code == 0, shown.output
    assert re.search(r"FTL\tflash translation layer\t0\.9\t1\t.*\(FTL\)", shown.output)
    limited = CliRunner().invoke(app, ["glossary", "mine", "--home", str(home), "--limit", "1", "--json"])
    data = json.loads(limited.stdout)
    assert len(data["proposals"]) == 1 and data["stored"] is True and data["offered"] > 1
    many = CliRunner().invoke(app, ["glossary", "accept", "--least", "0.8", "--context", "Mining", "--home", str(home)])
    assert many.exit_code == 0 and "[draft" in many.stdout, many.output
    listed = CliRunner().invoke(app, ["glossary", "history", "--home", str(home), "--json"])
    (change, *_) = json.loads(listed.stdout)
    assert change["kind"] == "accept" and "FTL (Mining): flash translation layer" in many.stdout
    undone = CliRunner().invoke(app, ["glossary", "roll-back", str(change["id"]), "--home", str(home)])
    assert undone.exit_code == 0 and f"rolled back {change['rows']} entries" in undone.stdout
    of_term = CliRunner().invoke(app, ["glossary", "history", "FTL", "--home", str(home)])
    assert [row.split("\t")[3] for row in of_term.stdout.splitlines()] == ["roll back", "accept"]
    unclear = CliRunner().invoke(app, ["glossary", "accept", "1", "2", "--expansion", "x", "--home", str(home)])
    assert unclear.exit_code != 0
    wrong = CliRunner().invoke(app, ["glossary", "mine", "--home", str(home), "--context", "Nowhere"])
    assert wrong.exit_code != 0
