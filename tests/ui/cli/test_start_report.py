"""Tests of the report of what a starting service is doing."""

import io
import threading

from argot.languages.catalogues import speak, translate
from argot.ui.start_report import STAGES, StartReport


class WatchedStream(io.StringIO):
    """A stream that tells when it has received a number of lines."""

    def __init__(self, lines: int) -> None:
        super().__init__()
        self.full = threading.Event()
        self._lines = lines

    def write(self, text: str) -> int:
        count = super().write(text)
        if self.getvalue().count("\n") >= self._lines:
            self.full.set()
        return count


def test_the_first_stage_is_printed_at_once_and_the_current_one_again_and_again() -> None:
    stream = WatchedStream(3)
    with StartReport(stream, interval=0.01) as report:
        report.show("loading the program")
        assert stream.getvalue() == "Starting Argot: loading the program.\n"
        report.show("opening the knowledge base")
        assert stream.full.wait(60)
    assert stream.getvalue().splitlines()[1].endswith(" s: opening the knowledge base")


def test_the_stages_are_in_the_language_of_the_terminal() -> None:
    stream = WatchedStream(2)
    with speak("de"), StartReport(stream, interval=0.01) as report:
        report.show("loading the program")
        assert stream.full.wait(60)
    first, second = stream.getvalue().splitlines()[:2]
    assert first == "Argot startet: das Programm wird geladen." and second.endswith(" s: das Programm wird geladen")
    with speak("de"):
        assert [stage for stage in STAGES if translate(stage) == stage] == []


def test_nothing_is_printed_once_the_service_is_open() -> None:
    stream = WatchedStream(3)
    report = StartReport(stream, interval=0.01)
    report.show("loading the program")
    report.end()
    report._thread.join(60)
    before = stream.getvalue()
    assert not stream.full.wait(0.1) and stream.getvalue() == before


def test_a_terminal_that_is_gone_does_not_keep_the_service_from_starting() -> None:
    stream = io.StringIO()
    stream.close()
    with StartReport(stream) as report:
        report.show("loading the program")
