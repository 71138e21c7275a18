"""Sessions of onnxruntime: models, opened for the processor.

Opening a model reads its graph, optimises it and copies its weights: a third of a second of processor time for 90 MB.
A model in the cache is therefore opened by a copy that onnxruntime writes when the model is opened for the first time:
the optimised graph, with the weights in a file that is mapped into memory. It takes a third of the time, and the
vectors are the same to the last bit.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from argot.corpus.embedding.onnx_export import MODEL_FILE, publish
from argot.corpus.embedding.word_vectors import WORD_VECTORS_FILE

if TYPE_CHECKING:
    import onnxruntime

logger = logging.getLogger(__name__)

OPENED_FOLDER = "opened"
"""Beside a model: the copies by which it is opened, each in a folder that names the model and its version."""
WEIGHTS_FILE = "weights.bin"
MIN_MAPPED_BYTES = 1024
"""Weights that are smaller stay in the graph."""


def open_onnx_session(model: Path, threads: int) -> onnxruntime.InferenceSession:
    """Open an ONNX file for the processor. `threads`: of one call; 0: as many as there are processors."""
    return _open(model, _build_options(threads))


def open_cached_model(model: Path, threads: int) -> onnxruntime.InferenceSession:
    """Do the same by the copy of a model in the cache, which is made if missing."""
    # Its table is mapped already, and a copy would have it once more.
    if (model.parent / WORD_VECTORS_FILE).is_file() or not model.is_file():
        return open_onnx_session(model, threads)
    copy = _locate_copy(model)
    try:
        if not (copy / MODEL_FILE).is_file():
            return _open_and_copy(model, threads, copy)
        options = _build_options(threads)
        options.graph_optimization_level = _get_levels().ORT_DISABLE_ALL
        return _open(copy / MODEL_FILE, options)
    # onnxruntime's errors have no common class. A model that is damaged itself fails again below.
    except Exception as error:
        logger.info("%s is opened without its copy in %s: %s", model, copy, error)
        shutil.rmtree(copy, ignore_errors=True)
        return open_onnx_session(model, threads)


def _open_and_copy(model: Path, threads: int, copy: Path) -> onnxruntime.InferenceSession:
    """Open a model and write its copy, completely or not at all. Several processes may do so at once."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=copy.parent, prefix=".draft-"))
    try:
        options = _build_options(threads)
        # Without what suits this processor alone: machines may share the cache.
        options.graph_optimization_level = _get_levels().ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = str(draft / MODEL_FILE)
        external = "session.optimized_model_external_initializers"
        options.add_session_config_entry(f"{external}_file_name", WEIGHTS_FILE)
        options.add_session_config_entry(f"{external}_min_size_in_bytes", str(MIN_MAPPED_BYTES))
        session = _open(model, options)
        publish(draft, copy)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    for other in copy.parent.iterdir():
        # A process that has one open keeps what it has mapped.
        if other != copy and not other.name.startswith("."):
            shutil.rmtree(other, ignore_errors=True)
    return session


def _locate_copy(model: Path) -> Path:
    """Return the folder of the copy; another version of the model or of onnxruntime has another."""
    import onnxruntime

    status = model.stat()
    version = f"{onnxruntime.__version__} {status.st_size} {int(status.st_mtime)}"
    return model.parent / OPENED_FOLDER / model.name / hashlib.blake2b(version.encode(), digest_size=8).hexdigest()


def _get_levels() -> Any:
    import onnxruntime

    return onnxruntime.GraphOptimizationLevel


def _build_options(threads: int) -> onnxruntime.SessionOptions:
    # The call below does not stop onnxruntime 1.31 from looking up its maker's telemetry host: this does.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    _keep_blas_from_spinning()
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Spinning threads gain a millisecond on an idle machine, and cost several for the work beside and after them: the
    # rest of the question, other questions, a model server.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return options


def _open(model: Path, options: onnxruntime.SessionOptions) -> onnxruntime.InferenceSession:
    import onnxruntime

    return onnxruntime.InferenceSession(
        str(model),
        options,
        providers=["CPUExecutionProvider"],
        # Its one operator takes twice the time of the two that it replaces.
        disabled_optimizers=["SkipLayerNormFusion"],
    )


@cache
def _keep_blas_from_spinning() -> None:
    """NumPy's own threads spin while waiting too, and nothing else turns that off: on two processors they took more
    than half of a question's cost. The products here are small; one thread is as fast.
    """
    if not os.environ.keys() & {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"}:
        threadpool_limits(1, "blas")
