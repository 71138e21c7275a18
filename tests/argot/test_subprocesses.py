"""Child processes: when one fails, the caller gets an error and the next message starts another process."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from argot import subprocesses
from argot.subprocesses import Child, ChildFailed, run_module

FICKLE = """
import json, os, signal, sys, time
from argot.subprocesses import Parent, limit_resources

def obey(order, data):
    if order == "exit":
        os._exit(3)
    if order == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if order == "sleep":
        time.sleep(1000)
    if order == "compute":
        with limit_resources(0.2, 1 << 30):
            while True:
                pass
    if order == "gobble":
        try:
            with limit_resources(1000, 64 << 20):
                len(bytes(1 << 30))
        except MemoryError:
            return b"refused", b""
    if order == "garbage":
        os.write(parent._outgoing, b"Traceback (most recent call last): this is no message at all")
        time.sleep(1000)
    if order == "mute":
        os.close(parent._outgoing)
        time.sleep(1000)
    if order == "print":
        print("a library talks", flush=True)
    if order == "environment":
        return json.dumps(dict(os.environ)).encode(), b""
    return order.encode(), data

if len(sys.argv) > 1:
    print(sys.argv[1], "works")
    sys.exit(f"but {os.environ['EXTRA']}")
parent = Parent(nice=3)
for message, data in parent.messages():
    parent.send(*obey(message.decode(), data))
"""


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    (tmp_path / "fickle.py").write_text(FICKLE)
    (tmp_path / "stillborn.py").write_text("raise SystemExit(1)")
    (tmp_path / "chatty.py").write_text("print('x' * 100_000, flush=True); input()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Child("fickle") as made:
        yield made


def answer(child: Child, order: str, data: bytes = b"", *, seconds: float = 300, most: int | None = None) -> bytes:
    child.send(order.encode(), data, seconds=seconds)
    message, same = child.receive(most)
    assert same == data
    return message


def failure(child: Child, order: str, *, seconds: float = 300, most: int | None = None) -> ChildFailed:
    with pytest.raises(ChildFailed) as caught:
        answer(child, order, seconds=seconds, most=most)
    assert child.process is None
    return caught.value


def test_one_process_answers_several_messages(child: Child) -> None:
    assert answer(child, "hello") == b"hello"
    first = child.process
    assert first
    assert answer(child, "print", os.urandom(5_000_000)) == b"print"
    assert child.process is first
    assert os.getpriority(os.PRIO_PROCESS, first.pid) == os.getpriority(os.PRIO_PROCESS, 0) + 3


@pytest.mark.parametrize(
    ("order", "how", "code"),
    [("exit", "crash", 3), ("kill", "memory", -signal.SIGKILL), ("compute", "time", -signal.SIGPROF)],
)
def test_a_process_that_dies_is_reported_and_replaced(child: Child, order: str, how: str, code: int) -> None:
    found = failure(child, order)
    assert (found.how, found.code) == (how, code)
    assert answer(child, "hello") == b"hello"


def test_a_process_that_died_between_two_messages_is_replaced(child: Child) -> None:
    answer(child, "hello")
    before = child.process
    assert before
    before.kill()
    before.wait()
    assert answer(child, "hello") == b"hello"
    assert child.process is not before


def test_a_process_that_hangs_is_killed(child: Child) -> None:
    child.start()
    before = child.process
    assert failure(child, "sleep", seconds=0.2).how == "time"
    assert before and before.returncode == -signal.SIGKILL
    assert answer(child, "hello") == b"hello"


def test_a_process_that_reads_nothing_is_killed(child: Child) -> None:
    child.start()
    assert child.process
    os.kill(child.process.pid, signal.SIGSTOP)
    with pytest.raises(ChildFailed) as caught:
        child.send(b"hello", bytes(5_000_000), seconds=0.2)
    assert caught.value.how == "time"
    assert answer(child, "hello") == b"hello"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the bound is the kernel's")
def test_a_process_that_hits_its_memory_limit_can_report_it_and_go_on(child: Child) -> None:
    assert answer(child, "gobble") == b"refused"
    before = child.process
    assert answer(child, "hello") == b"hello"
    assert child.process is before
    assert child.memory() > 1 << 20


def test_a_garbled_answer_is_refused(child: Child) -> None:
    assert failure(child, "garbage", most=1000).how == "length"
    assert failure(child, "garbage", seconds=0.2).how == "time"
    assert answer(child, "hello") == b"hello"


def test_an_answer_longer_than_allowed_is_refused(child: Child) -> None:
    child.send(b"hello", bytes(2000))
    with pytest.raises(ChildFailed, match="2,005 bytes") as caught:
        child.receive(1000)
    assert caught.value.how == "length"
    with pytest.raises(ChildFailed, match="stopped"):
        child.receive()
    assert answer(child, "hello") == b"hello"


def test_a_process_that_closes_its_output_counts_as_crashed(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocesses, "_END_SECONDS", 0.1)
    found = failure(child, "mute")
    assert (found.how, found.code) == ("crash", None)


@pytest.mark.parametrize("module", ["stillborn", "chatty", "no_such_module_at_all"])
def test_a_process_that_does_not_start_is_reported(child: Child, module: str) -> None:
    assert failure(Child(module), "hello").how == "start"


def test_ctrl_c_while_waiting_ends_the_process(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    child.send(b"sleep")
    with monkeypatch.context() as patched:
        patched.setattr(Child, "_wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            child.receive()
    assert child.process is None
    assert answer(child, "hello") == b"hello"


def test_the_process_does_not_inherit_argot_settings(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOT_MODEL_KEY", "secret")
    assert not [name for name in json.loads(answer(child, "environment")) if name.startswith("ARGOT_")]


def test_a_library_in_the_working_folder_is_not_imported(
    child: Child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "json.py").write_text("raise SystemExit('not the library')")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert answer(child, "hello") == b"hello"


def test_the_process_ends_when_its_parent_closes_the_pipe(child: Child) -> None:
    child.start()
    process = child.process
    assert process and process.stdin
    process.stdin.close()
    assert process.wait(300) == 0


@pytest.mark.usefixtures("child")
def test_a_module_is_run_and_its_output_is_returned() -> None:
    done = run_module("fickle", "tracing", EXTRA="not for long")
    assert (done.returncode, done.stdout, done.stderr) == (1, "tracing works\n", "but not for long\n")
