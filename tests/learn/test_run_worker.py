"""Tests of runs trained one after another, each in its own process: stopped, interrupted, failing and resumed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from argot.learn.run_folder import RunFolder, RunRequest, RunState, list_damaged_runs, list_run_folders
from argot.learn.run_worker import RunWorker, find_next_run
from argot.learn.training_pairs import PoolPassage, TrainingPair, make_pair_id

PATIENCE = 300
PASSAGES = [PoolPassage("p1", "The pump runs at 40 bar.", "pumps.md")]
PAIRS = [TrainingPair(make_pair_id("What?", "p1"), "What?", "p1", PASSAGES[0].text, "pumps.md", "h", "train")]
SUPPORT = str(Path(__file__).parent.parent / "support")


def made(runs: Path, **recipe: object) -> RunFolder:
    request = RunRequest(kind="embedder", name="first", base="tiny", data="pairs", recipe=recipe)
    return RunFolder.create(runs, request, PAIRS, PASSAGES)


def worker(runs: Path) -> RunWorker:
    return RunWorker(runs, module="scripted_training", environment={"PYTHONPATH": SUPPORT})


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_oldest_run_is_trained_first_and_a_failed_run_stays_failed(tmp_path: Path) -> None:
    fails, works = made(tmp_path, does="fail"), made(tmp_path, steps=2)
    at_work = worker(tmp_path)
    first, second = at_work.train_next(), at_work.train_next()
    assert (first and first.id, second and second.id) == (fails.id, works.id)
    assert fails.state.status == "failed" and "no room" in fails.state.error
    assert works.state.status == "done" and len(works.curve()) == 2
    assert at_work.train_next() is None


def test_a_run_whose_process_is_killed_is_failed(tmp_path: Path) -> None:
    run = made(tmp_path, does="die")
    worker(tmp_path).train_next()
    assert run.state.status == "failed" and "too little memory" in run.state.error
    assert find_next_run(tmp_path) is None
    run.resume()
    assert (found := find_next_run(tmp_path)) and found.id == run.id


@pytest.mark.slow
def test_a_run_waits_when_its_worker_ends_and_stops_when_a_person_stops_it(tmp_path: Path) -> None:
    run = made(tmp_path, does="wait")
    for ended_by_person in (False, True):
        at_work = worker(tmp_path)
        thread = threading.Thread(target=at_work.train_next)
        thread.start()
        until(lambda: run.state.status == "running" and bool(run.curve()))
        run.stop() if ended_by_person else at_work.end()
        thread.join(PATIENCE)
        assert run.state.status == ("stopped" if ended_by_person else "waiting")
    assert find_next_run(tmp_path) is None  # a run that a person stopped waits until that person resumes it


def test_a_run_interrupted_by_a_crash_is_continued(tmp_path: Path) -> None:
    run = made(tmp_path, steps=1)
    run.note(RunState("running", "training", 3, 9))
    assert run.is_cut_off and run.state.status == "stopped"
    assert (found := worker(tmp_path).train_next()) and found.state.status == "done"

    stopped = made(tmp_path)
    stopped.note(RunState("running", "training", 3, 9))
    stopped.stop()
    assert not stopped.is_cut_off and find_next_run(tmp_path) is None


def test_a_training_ends_when_its_parent_process_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from argot.learn.run_process import Reporter

    report = Reporter(made(tmp_path))
    assert not report.stop_asked()
    monkeypatch.setattr(os, "getppid", lambda: 1)
    assert report.is_orphan and report.stop_asked()


def test_a_damaged_run_folder_does_not_hold_up_the_others(tmp_path: Path) -> None:
    runs = [made(tmp_path, steps=1) for _ in range(4)]
    (runs[0].path / "request.json").write_text("{")
    (runs[1].path / "state.json").write_text('{"of a later version": 1}')
    (runs[2].path / "state.json").unlink()
    assert [one.id for one in list_run_folders(tmp_path)] == [runs[3].id]
    assert [bool(one.fault) for one in list_damaged_runs(tmp_path)] == [True] * 3
    assert (found := worker(tmp_path).train_next()) and found.id == runs[3].id and find_next_run(tmp_path) is None
