"""Tests of `argot evaluate set`: evaluations on a set of pairs by the command line, kept for the workbench's page."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from argot.errors import ArgotError
from argot.learn.usecases.learning_data import data_import
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.ui.cli.main import app


@pytest.fixture
def home(tiny_home: Path, tmp_path: Path) -> Path:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))

    async def import_pairs() -> None:
        async with KnowledgeBase.open(home, Settings(home=home)) as kb:
            rows = (
                kb.document_store.database.connection().execute("SELECT id, text FROM passages ORDER BY id").fetchall()
            )
            pairs = [
                {"question": f"What about {row[1].split('.')[0][-60:]}?", "answer": row[1], "document": ""}
                | {"passage_id": row[0], "passage": row[1], "kind": "heading", "part": "test"}
                for row in rows
            ]
            text = "\n".join(map(json.dumps, pairs))
            await data_import(kb, make_local_principal(), name="ours", text=text)

    asyncio.run(import_pairs())
    return home


def test_evaluations_are_run_listed_compared_and_removed(home: Path) -> None:
    def call(*arguments: str) -> Any:
        return CliRunner().invoke(app, ["evaluate", "set", *arguments, "--home", str(home)])

    first = call("run", "ours", "--limit", "3")
    assert "e0001: retrieval on ours, test part" in first.stdout and "ndcg@10\t" in first.stdout
    second = json.loads(call("run", "ours", "--limit", "3", "--profile", "strict", "--json").stdout)
    assert (second["id"], second["profile"], second["questions"]) == ("e0002", "strict", 3)
    assert "e0001\tretrieval\tours\ttest" in call("list").stdout
    compared = call("compare", "e0001", "e0002").stdout
    assert "e0002: retrieval" in compared and "ndcg@10\t" in compared
    assert "Removed e0002" in call("remove", "e0002").stdout
    for wrong, said in ((("--judge",), "retrieval gives none"), (("--part", "validation"), "has no question")):
        refused = call("run", "ours", *wrong)
        assert isinstance(refused.exception, ArgotError) and said in str(refused.exception)
