"""Test of asking a tuned language model on its page, beside the one in use."""

import shutil
from html import unescape
from pathlib import Path
from typing import Any

from desk import at_desk
from finished_run import finished_run
from tiny_reader import tiny_embedder

from argot.service.knowledge_base import KnowledgeBase
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages

MIA = Principal("mia", frozenset({"managers"}))


async def test_a_tuned_generator_answers_where_its_adapter_is_served(
    tiny_home: Path, tmp_path: Path, scripted_model: Any
) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    model = tiny_embedder(tmp_path / "tiny")
    (model / "adapter_config.json").write_text('{"r": 32}')
    settings = scripted_model.settings(model_seconds=60, threads=1, model="scripted").replace(home=home)
    async with KnowledgeBase.open(home, settings) as kb, at_desk(build_pages(kb), MIA) as client:
        rows = kb.document_store.database.connection().execute("SELECT id, text FROM passages ORDER BY id")
        run = finished_run(home, [(row[0], row[1]) for row in rows], model, kind="generator")
        page = f"/workbench/ask?run={run.id}&q=How+do+I+trim+a+drive"
        refused = unescape((await client.get(page)).text)
        assert f"does not serve {run.id}; it serves scripted" in refused
        assert f"--max-lora-rank 32 --lora-modules {run.id}=" in refused and 'class="side"' not in refused
        scripted_model.models = ("scripted", run.id)
        asked = unescape((await client.get(page)).text)
        assert asked.count('class="side"') == 2, asked
        assert f"{run.id} tuned" in asked and "In use: scripted" in asked
        assert {one.body.get("model") for one in scripted_model.asked() if one.body} >= {"scripted", run.id}
        assert "Ask with it" in (await client.get(f"/workbench/runs/{run.id}")).text
