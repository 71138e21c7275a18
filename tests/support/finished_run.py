"""A finished training run with a real model and a matching card, made without training."""

import shutil
from pathlib import Path
from typing import Any

from argot.learn.preparation import compute_weights_fingerprint
from argot.learn.run_data import build_run_data
from argot.learn.run_folder import RunFolder, RunKind, RunRequest, RunState
from argot.learn.training_pairs import Part, PoolPassage, TrainingPair, make_pair_id

BETTER, NOT_SURELY = (0.02, 0.08), (-0.01, 0.11)


def finished_run(
    home: Path,
    passages: list[tuple[str, str]],
    model: Path,
    *,
    kind: RunKind = "embedder",
    interval: tuple[float, float] = BETTER,
    readers: tuple[tuple[str, ...], ...] = (),
) -> RunFolder:
    """Write a finished run. `passages`: ids and texts."""
    pool = [PoolPassage(id_, text, "a document") for id_, text in passages]
    parts: tuple[Part, ...] = ("train", "validation", "test")
    pairs = [
        TrainingPair(make_pair_id(one.id, one.id), f"what is {one.id}", one.id, one.text, one.document, "heading", part)
        for one, part in zip(pool, parts, strict=False)
    ]
    request = RunRequest(
        kind=kind, name="tuned", base=str(model), data="manuals", readers=readers, recipe={"epochs": 2}, asked_by="mia"
    )
    run = RunFolder.create(home / "learning" / "runs", request, pairs, pool)
    shutil.copytree(model, run.model)
    for step in range(1, 41):
        run.log(step, {"ranking": 2.0 / step, "pairing": 1.0 / step})
    figures = _figures(interval)
    card = {
        "kind": kind,
        "data_fingerprint": build_run_data(run.pairs(), run.passages()).fingerprint,
        "fingerprint": compute_weights_fingerprint(run.model),
        "seconds": 300.4,
        "peak_megabytes": 1234.5,
        "figures": figures if kind == "embedder" else {"top10": figures},
    }
    run.keep_card(card)
    run.note(RunState("done", "", 40, 40))
    return run


def waiting_run(runs: Path, **recipe: Any) -> RunFolder:
    """Write a waiting run of a single pair, for `scripted_training`."""
    pool = [PoolPassage("p1", "The pump runs at 40 bar.", "pumps.md")]
    pair = TrainingPair(make_pair_id("What?", "p1"), "What?", "p1", pool[0].text, "pumps.md", "h", "train")
    return RunFolder.create(runs, RunRequest("embedder", "first", "tiny", "pairs", recipe=recipe), [pair], pool)


def _figures(interval: tuple[float, float]) -> dict[str, Any]:
    change = sum(interval) / 2
    one = {"difference": change, "interval95": list(interval), "questions": 40, "clusters": 30}
    before = {"map@10": 0.6, "ndcg@10": 0.65}
    means = {"before": before, "after": {name: value + change for name, value in before.items()}}
    of_part = {
        "questions": 40,
        "means": means,
        "differences": {"after against before": {"map@10": one, "ndcg@10": one}},
    }
    return {"validation": of_part, "test": of_part}
