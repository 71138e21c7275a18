"""The threads of questions: as many as processors, with the asker's context, and more only where they wait."""

import asyncio
import threading
from contextvars import ContextVar

import pytest

from argot import question_threads
from argot.question_threads import MIN_THREADS, QuestionThreads

ASKER: ContextVar[str] = ContextVar("asker", default="nobody")


async def require_at_once(threads: QuestionThreads, count: int) -> None:
    """Require that this many calls run at the same time, and no more."""
    running, most = 0, 0
    guard, together = threading.Lock(), threading.Barrier(count)

    def meet_others() -> None:
        nonlocal running, most
        with guard:
            running += 1
            most = max(most, running)
        together.wait(timeout=60)
        with guard:
            running -= 1

    await asyncio.gather(*(threads.call(meet_others) for _ in range(3 * count)))
    assert most == count


@pytest.mark.parametrize(("processors", "expected"), [(1, MIN_THREADS), (3, 3)])
async def test_as_many_calls_run_at_once_as_there_are_processors(
    monkeypatch: pytest.MonkeyPatch, processors: int, expected: int
) -> None:
    monkeypatch.setattr(question_threads, "count_processors", lambda: processors)
    await require_at_once(QuestionThreads(), expected)


async def test_calls_that_wait_get_further_threads_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_threads, "count_processors", lambda: 2)
    threads = QuestionThreads()
    threads.allow_waiting(2)
    threads.allow_waiting(1)
    threads.allow_waiting(2)
    await require_at_once(threads, 4)


async def test_a_call_has_the_context_of_its_caller_and_passes_on_its_error() -> None:
    threads = QuestionThreads()
    ASKER.set("ann")
    assert await threads.call(ASKER.get) == "ann"
    with pytest.raises(ZeroDivisionError):
        await threads.call(divmod, 1, 0)


async def test_work_that_nobody_waits_for_is_done() -> None:
    done = threading.Event()
    QuestionThreads().begin(done.set)
    assert await asyncio.to_thread(done.wait, 60)
