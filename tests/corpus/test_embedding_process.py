"""Embedding in a process beside the service: the same vectors, even if that process fails."""

import os
import signal
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from tiny_base import TinyBase

from argot.corpus.embedding.embedder import load_embedder
from argot.corpus.embedding.embedding_process import BATCH_TEXTS, NICE, BackgroundEmbedder
from argot.protocols import Embedder
from argot.settings import Settings

PASSAGES = [f"Valve {number} opens at {number} bar." for number in range(BATCH_TEXTS + 3)]


@cache
def here() -> Embedder:
    return load_embedder(Settings())


@pytest.fixture(scope="module")
def beside() -> Iterator[BackgroundEmbedder]:
    made = BackgroundEmbedder(here(), Settings())
    yield made
    made.close()


def test_the_embedding_process_gives_equal_vectors_at_low_priority(beside: BackgroundEmbedder) -> None:
    done: list[tuple[int, int]] = []
    found = beside.embed_passages(PASSAGES, lambda *progress: done.append(progress))
    assert found.shape == (len(PASSAGES), beside.dimensions)
    assert np.allclose(found, here().embed_passages(PASSAGES), atol=1e-5)
    assert done == [(BATCH_TEXTS, len(PASSAGES)), (len(PASSAGES), len(PASSAGES))]
    assert beside._child.process
    assert os.getpriority(os.PRIO_PROCESS, beside._child.process.pid) == NICE
    assert (beside.fingerprint, beside.windows("x")) == (here().fingerprint, ["x"])
    assert beside.embed_passages([]).shape == here().embed_passages([]).shape


def test_passages_are_embedded_although_the_process_is_killed(beside: BackgroundEmbedder) -> None:
    beside.embed_passages(PASSAGES[:1])
    assert beside._child.process
    os.kill(beside._child.process.pid, signal.SIGINT)  # Ctrl+C reaches it too, and does not end it
    before = beside._child.process
    beside.embed_passages(PASSAGES[:1])
    assert beside._child.process is before
    os.kill(before.pid, signal.SIGKILL)
    before.wait()
    assert np.allclose(beside.embed_passages(PASSAGES[:2]), here().embed_passages(PASSAGES[:2]), atol=1e-5)


def test_the_service_embeds_when_the_process_cannot_load_the_model() -> None:
    broken = BackgroundEmbedder(here(), Settings(embedder="/nowhere/at/all"))
    assert np.allclose(broken.embed_passages(PASSAGES[:1]), here().embed_passages(PASSAGES[:1]), atol=1e-5)
    broken.close()


def test_an_idle_embedding_process_ends_and_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("argot.corpus.embedding.embedding_process.IDLE_SECONDS", 0.05)
    made = BackgroundEmbedder(here(), Settings())
    made.embed_passages(PASSAGES[:1])
    idle = made._idle
    assert idle
    idle.join(300)
    assert made._child.process is None
    made.embed_passages(PASSAGES[:1])
    made.close()
    assert made._child.process is None and made._idle is None


def test_documents_are_embedded_by_the_process(empty_kb: TinyBase) -> None:
    empty_kb.corpus.embed_in_background()
    empty_kb.add("note.md", "# Valves\n\nThe red valve opens at 5 bar.\n")
    assert empty_kb.corpus.check() == []
    assert empty_kb.corpus._for_passages._child.process is not None
    empty_kb.corpus.close()
    assert empty_kb.corpus._for_passages._child.process is None
