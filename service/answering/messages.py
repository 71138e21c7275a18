"""Messages between the service and its answer workers: one JSON object each, preceded by its length.

`number` identifies one running question, in both directions. At most `WINDOW` of its events are in transit: a worker
waits for `EventsTaken` before it sends others, so that a slow asker takes no memory here, and delays nobody else's
answer.
"""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from argot.graph.glossary_feedback import GlossaryFeedback
from argot.graph.run import TurnEnded
from argot.results import AskEvent, AskResult, ModelCall
from argot.service.usecases.questions.conversations import ConversationJob, SearchJob
from argot.service.usecases.questions.questions import TurnJob
from argot.tracing import TracedStep

WINDOW = 256
"""Events of one question."""
_LENGTH = struct.Struct(">Q")

Job = TurnJob | ConversationJob | SearchJob


# -- to the worker ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Begin:
    """The first message. `given`: the settings that differ from their defaults, secrets in clear text.

    `models`: the effective models, including adopted ones.
    """

    home: str
    given: dict[str, Any]
    models: dict[str, str]
    type: Literal["begin"] = "begin"


@dataclass(frozen=True, slots=True)
class StartAnswer:
    """Answer a question. `surface`, `request`, `said`: for the log. `traced`: with contents or not; None: no trace."""

    number: int
    job: Job
    surface: str = ""
    request: str = ""
    said: tuple[str, ...] = ()
    traced: bool | None = None
    type: Literal["do"] = "do"


@dataclass(frozen=True, slots=True)
class CancelAnswer:
    """Cancel this answer, because nobody waits for it."""

    number: int
    type: Literal["leave"] = "leave"


@dataclass(frozen=True, slots=True)
class EventsTaken:
    """Acknowledge this many more events of the question."""

    number: int
    count: int
    type: Literal["taken"] = "taken"


@dataclass(frozen=True, slots=True)
class Renew:
    """Switch to these models."""

    models: dict[str, str]
    type: Literal["renew"] = "renew"


@dataclass(frozen=True, slots=True)
class End:
    """No more messages will follow."""

    type: Literal["end"] = "end"


# -- from the worker --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ready:
    """Everything that questions need is loaded."""

    type: Literal["ready"] = "ready"


@dataclass(frozen=True, slots=True)
class Alive:
    """Heartbeat. `memory`: the worker's memory in bytes."""

    memory: int
    type: Literal["alive"] = "alive"


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """An event of a question, as `AskEvent` or `TurnEnded` has it."""

    number: int
    kind: Literal["stage", "step", "token", "retract", "result"]
    name: str = ""
    seconds: float | None = None
    text: str = ""
    model_seconds: float = 0.0
    result: AskResult | None = None
    learned: GlossaryFeedback | None = None
    type: Literal["happened"] = "happened"

    @classmethod
    def of(cls, number: int, event: AskEvent) -> AnswerEvent:
        result = event.data if isinstance(event.data, AskResult) else None
        text = event.data if isinstance(event.data, str) else ""
        learned = event.learned if isinstance(event, TurnEnded) else None
        return cls(number, event.kind, event.name, event.seconds, text, event.model_seconds, result, learned)

    @property
    def event(self) -> AskEvent:
        data = self.text if self.result is None else self.result
        if self.learned is None:
            return AskEvent(self.kind, self.name, self.seconds, data, self.model_seconds)
        return TurnEnded(self.kind, self.name, self.seconds, data, self.model_seconds, self.learned)


@dataclass(frozen=True, slots=True)
class JobEnded:
    """The question's job has ended, and writes nothing more. `error`: as `wire_format.error_event` has it; None: it was
    completed or cancelled.
    """

    number: int
    error: dict[str, Any] | None = None
    steps: list[TracedStep] = field(default_factory=list)
    type: Literal["ended"] = "ended"


@dataclass(frozen=True, slots=True)
class Called:
    """The language model was called, for the metrics."""

    call: ModelCall
    type: Literal["called"] = "called"


@dataclass(frozen=True, slots=True)
class Renewed:
    """Reply to `Renew`: the models are in use. `error`: why they are not; empty: they are."""

    error: str = ""
    type: Literal["renewed"] = "renewed"


ToWorker = Begin | StartAnswer | CancelAnswer | EventsTaken | Renew | End
FromWorker = Ready | Alive | AnswerEvent | JobEnded | Called | Renewed
Message = ToWorker | FromWorker
_ADAPTER: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


class Link:
    """One end of the connection. Any task may send; only one receives."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, message: Message) -> None:
        """Send it; wait while the other end reads nothing.

        Raises:
            ConnectionError: the other end is gone.
        """
        self.put(message)
        await self._writer.drain()

    def put(self, message: Message) -> None:
        """Send it without waiting."""
        data = _ADAPTER.dump_json(message)
        self._writer.write(_LENGTH.pack(len(data)) + data)

    async def receive(self) -> Message | None:
        """Return the next message; None: there will be none."""
        try:
            (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
            return _ADAPTER.validate_json(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    def close(self) -> None:
        self._writer.close()
