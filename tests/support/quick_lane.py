"""The quick lane of tests (`pytest --quick`, `make quick`): those that need no process, server, browser or model.

A test is left out before its file is imported where its source shows a heavy need (`heavy_needs.py`). A guard stops
needs that the source does not show: the test is then skipped, with its need as the reason. The guard also bounds
processor time. `--why` lists each test that was left out, and its reason.
"""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis
import pytest
from heavy_needs import COSTLY_PACKAGES, HEAVY_MARKS, PROCESS, SERVER, find_fixture_needs, find_test_needs
from repository import ROOT

MAX_CPU_SECONDS = 2.0
MAX_WALL_SECONDS = 60.0
"""Only ends a test that waits for what the guard refused to a thread of it."""
MAX_EXAMPLES = 8
HEAVY_EVENTS = {
    "subprocess.Popen": PROCESS,
    "os.fork": PROCESS,
    "os.forkpty": PROCESS,
    "os.posix_spawn": PROCESS,
    "os.system": PROCESS,
    "socket.bind": SERVER,
}
"""Audit events of Python by which a heavy need is noticed, whatever code has it."""


class QuickLane:
    """The plugin: what it left out, and the guard of the tests that run."""

    def __init__(self, says_why: bool) -> None:
        self.left_out: dict[str, str] = {}
        self._says_why = says_why
        self._is_guarding = False
        self._stopped_by = ""
        hypothesis.settings.register_profile("quick", hypothesis.settings(), max_examples=MAX_EXAMPLES, database=None)
        hypothesis.settings.load_profile("quick")
        sys.addaudithook(self._notice)
        signal.signal(signal.SIGPROF, self._end_long_test)
        signal.signal(signal.SIGALRM, self._end_long_test)

    # -- before a test runs -------------------------------------------------------------------------------------------

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        """Leave out a file whose every test is heavy: its imports are what collecting costs."""
        chosen = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
        is_chosen = any(
            collection_path.is_relative_to(one) for one in chosen
        )  # pytest asks about the files beside it, too
        if not is_chosen or collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
            return None
        needs = find_test_needs(collection_path)
        if not needs or not all(needs.values()):
            return None
        where = _shorten(collection_path)
        self.left_out |= {f"{where}::{name.replace('.', '::')}": need for name, need in needs.items()}
        return True

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        left_out = {item.nodeid: need for item in items if (need := find_need(item))}
        self.left_out |= left_out
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
        items[:] = [item for item in items if item.nodeid not in left_out]

    # -- while it runs ------------------------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        self._stopped_by = ""
        self._is_guarding = True
        signal.setitimer(signal.ITIMER_PROF, MAX_CPU_SECONDS)
        signal.setitimer(signal.ITIMER_REAL, MAX_WALL_SECONDS)
        try:
            return (yield)
        finally:
            self._is_guarding = False
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Report a test that the guard stopped as skipped, also where its code made another error of that."""
        report: Any = yield
        if self._stopped_by and report.outcome != "passed" and call.excinfo is not None:
            report.outcome = "skipped"
            report.longrepr = (str(item.path), item.reportinfo()[1] or 0, f"Skipped: {self._stopped_by}")
        return report

    def _notice(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._is_guarding:
            return
        if event == "import":
            package = arguments[0].partition(".")[0]
            if package in COSTLY_PACKAGES:
                self._stop(f"{COSTLY_PACKAGES[package]} (imports {package})")
        elif event in HEAVY_EVENTS:
            self._stop(f"{HEAVY_EVENTS[event]} ({event})")

    def _stop(self, need: str) -> None:
        self._stopped_by = need
        pytest.skip(need)

    def _end_long_test(self, number: int, frame: FrameType | None) -> None:
        is_busy = number == signal.SIGPROF
        if is_busy and _is_importing(frame):  # ended half-way, some modules could not be imported again
            signal.setitimer(signal.ITIMER_PROF, MAX_CPU_SECONDS)
        elif self._is_guarding:
            bound = f"{MAX_CPU_SECONDS:g} s of processor time" if is_busy else f"{MAX_WALL_SECONDS:g} s"
            self._stop(f"takes more than {bound}")

    # -- what is said of it -------------------------------------------------------------------------------------------

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output["left_out"] = self.left_out

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.left_out |= getattr(node, "workeroutput", {}).get("left_out", {})

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for need, times in Counter(need.partition(" (")[0] for need in self.left_out.values()).most_common():
            terminalreporter.write_line(f"left out of the quick lane: {times} that the source shows: {need}")
        if self._says_why:
            for test, need in sorted(self.left_out.items()):
                terminalreporter.write_line(f"{test}: {need}")


def find_need(item: pytest.Item) -> str:
    """Return what keeps a collected test from the quick lane; empty: nothing."""
    for mark, need in HEAVY_MARKS.items():
        if item.get_closest_marker(mark):
            return need
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    if "postgresql" in [value for value in parameters.values() if isinstance(value, str)]:
        return f"{PROCESS} (PostgreSQL)"
    name = getattr(item, "originalname", item.name)
    outer = getattr(item, "cls", None)
    if need := find_test_needs(item.path).get(f"{outer.__name__}.{name}" if outer else name, ""):
        return need
    fixtures = find_fixture_needs(item.path)
    return next((f"{fixtures[one]} ({one})" for one in getattr(item, "fixturenames", ()) if one in fixtures), "")


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _shorten(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
