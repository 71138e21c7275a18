"""Tests of Argot without the `learn` wing, even where a knowledge base holds data of that wing."""

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from argot.learn.store.pair_store import PairSet, PairStore
from argot.service.storage.adopted_models import AdoptedModel, AdoptedModels, find_model_path, keep_adopted, make_step
from argot.sqlite_database import SqliteStores

WITHOUT = """
import asyncio, json, sys
from pathlib import Path
sys.modules["argot.learn"] = None
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.catalogue import CASES, get_result
from argot.settings import Settings
from argot.ui.api.usecase_routes import list_addresses
from argot.ui.cli.main import app
from argot.ui.pages.page_routes import build_pages
from argot.wings import wings

home, backup = Path(sys.argv[1]), sys.argv[2]

async def look():
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        documents = await get_result(kb, make_local_principal(), "list_documents")
        await get_result(kb, make_local_principal(), "backup", path=backup)
        assert build_pages(kb).routes
        return kb.settings.search.reranker, len(documents)

reranker, documents = asyncio.run(look())
learnt = [name for name in CASES if name.startswith(("data_", "training_", "model_"))]
# The choice of a strategy and evaluations are measuring's, whatever their addresses.
others = ("/learn/strategy", "/learn/evaluation")
addresses = [one.path for one in list_addresses() if one.path.startswith("/learn") and not one.path.startswith(others)]
links = [link for wing in wings() for link in wing.links if link[0] == "/workbench"]
loaded = [name for name in sys.modules if name.startswith("argot.learn.")]
print(json.dumps([reranker, documents, learnt + addresses + links + loaded]))
"""


def test_models_and_pairs_are_kept_where_learning_is_not_installed(tiny_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    store = PairStore(SqliteStores(home))
    store.create(PairSet("ours", "2026-01-01T00:00:00Z", "mia", 7, {}, ()))
    store.close()
    model = AdoptedModel("reranker", "r0001", "tuned", "r0001-a", "map@10", 0.1, 0.05, 0.15, "mia")
    keep_adopted(home, AdoptedModels().after([model], make_step("reranker", "adopted", "r0001", "mia")))
    kept = tmp_path / "kept.tar.gz"
    done = subprocess.run([sys.executable, "-c", WITHOUT, home, kept], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    reranker, documents, left = json.loads(done.stdout)
    assert reranker == str(find_model_path(home, model)) and documents and left == []
    with tarfile.open(kept) as archive:
        assert {"learning.db", "learning/adopted.json"} <= {name.removeprefix("./") for name in archive.getnames()}
