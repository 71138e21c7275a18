"""Shows on the terminal how an answer is made: the current stage, then the answer's words as they come.

All of it disappears when the answer is complete; only the finished answer with its sources stays.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from argot.ui.cli.command_base import escape_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from argot.results import AskEvent


class AnswerDisplay:
    """A context manager that shows the events of a question on a console."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        from argot.ui.rendering.chat_markdown import label_stage

        self._label_stage = label_stage
        self._console = console
        self._stage = label_stage("stand_alone")
        self.written = ""
        self._live = Live(self.render(), console=console, transient=True, refresh_per_second=12)

    def show(self, event: AskEvent) -> None:
        match event.kind:
            case "stage":
                self._stage = self._label_stage(event.name)
            case "step":
                self._stage = f"{event.name}. {escape_text(event.data)}"
            case "token":
                # The model has read documents: a terminal would obey an escape sequence in its words.
                self.written += escape_text(event.data)
            case "retract":
                self.written = ""
        self._live.update(self.render())

    def render(self) -> RenderableType:
        """Render the last lines that fit: a terminal cannot take back lines that it has scrolled away."""
        from rich.console import Group
        from rich.spinner import Spinner
        from rich.text import Text

        spinner = Spinner("dots", Text(self._stage))
        if not self.written:
            return spinner
        lines = Text(self.written).wrap(self._console, self._console.width)
        # Fewer lines than the terminal has: the spinner needs one, and the cursor is below it.
        return Group(*lines[-max(1, self._console.height - 3) :], spinner)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._live.stop()
