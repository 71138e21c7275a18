"""Every error a user can encounter. Each message names the wrong value and the remedy.

ArgotError
├── InvalidInput          what was given cannot be used (a question, an argument, a row)
│   ├── UnreadableDocument    one file could not be read; the others go on
│   │   └── NoText            it shows something other than text; nothing is wrong with it
│   └── InvalidGlossary       a glossary file has bad rows; nothing was changed
├── InvalidSettings       a setting is unknown or out of range
│   └── UnusableModel         a model of the settings cannot be read or made ready; a LocalError too
├── NotFound              no such thing, or not for this person (the two are never told apart)
├── NotAllowed            the person may see it, but may not do this
├── Conflict              it changed in the meantime
├── LocalError            names files and commands of this machine; people who ask over the network see other words
│   ├── KnowledgeBaseBusy     another process owns the knowledge base
│   ├── DamagedStore          a store is corrupt or does not fit; the message has the repair command
│   ├── StoreUnavailable      a store is sound, but the system does not let it be read or written (full, permissions)
│   │   └── VectorsUnavailable    the server that holds the vectors does not answer; searches go on by words alone
│   ├── MissingExtra          an optional package is needed; the message holds the install command
│   └── MissingWing           a wing is needed whose folder is not installed; the message says how to bring it back
├── RetryLater            not now, but after `wait` seconds
│   ├── TooManyQuestions      one person asks too fast, or all together ask more than is taken on
│   └── ServiceStopping       the service is being stopped, and begins nothing new
├── AnswerStopped         somebody stopped it, in another window
├── AnswerLost            the processes that were to answer it ended while they were at it
└── ModelUnavailable      the language model did not answer within its bounds
"""

from __future__ import annotations

import shlex
import sys
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argot.types import Context, Sense


asked_from_elsewhere: ContextVar[bool] = ContextVar("asked_from_elsewhere", default=False)
"""Whether the current request came over the network: set at its edge (web, Slack), off in the log."""


class ArgotError(Exception):
    """The root of all of Argot's own errors."""


class InvalidInput(ArgotError):
    """The input cannot be used."""


class UnreadableDocument(InvalidInput):
    """One document cannot be read.

    `reason` is one short clause ("encrypted", "empty", ...) for summaries; the message is a full sentence.
    """

    def __init__(self, name: str, reason: str, remedy: str = "") -> None:
        self.name = name
        self.reason = reason
        self.remedy = remedy
        super().__init__(f"{name}: {reason}" + (f". {remedy}" if remedy else ""))


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A problem at one position of a glossary file.

    `row` counts from 1, the header being row 1; `column` may be empty. `where` names the place in files without rows
    ("line 3, column 9", "concept http://..."); empty with `row` 0: the file as a whole.
    """

    row: int
    column: str
    message: str
    where: str = ""

    @property
    def place(self) -> str:
        named = self.where or (f"row {self.row}" if self.row else "")
        return f"{named}, {'field' if self.where else 'column'} {self.column}" if self.column else named

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class NoText(UnreadableDocument):
    """The file contains something other than text, as photographs do: it is not faulty."""


class InvalidGlossary(InvalidInput):
    """A glossary file has bad rows, and nothing of it was stored."""

    def __init__(self, name: str, problems: list[RowProblem]) -> None:
        self.name = name
        self.problems = problems
        # Twenty fill a screen; a file with the wrong separator has a problem in every row.
        shown = "\n".join(f"  {problem}" for problem in problems[:20])
        more = f"\n  ... and {len(problems) - 20} more" if len(problems) > 20 else ""
        super().__init__(f"{name}: nothing was imported, for {len(problems)} reason(s):\n{shown}{more}")


class InvalidSettings(ArgotError):
    """A setting is unknown or its value is out of range."""


class NotFound(ArgotError):
    """The thing does not exist, or the person may not know that it does."""


class NotAllowed(ArgotError):
    """The person may not do this."""


def build_name_refusal(name: str) -> NotAllowed:
    """Build the error for a name that something has which the person may not know. Names are unique, so it cannot be
    given twice; the error does not say why.
    """
    return NotAllowed(
        f"The name '{name}' cannot be used here. Choose another, or ask the person who runs this machine."
    )


class Conflict(ArgotError):
    """The thing changed since it was read, or exists already.

    `current` is the stored sense or context, for showing the difference; `changes` are the numbers of the conflicting
    glossary changes, newest first.
    """

    current: Sense | Context | None = None
    changes: tuple[int, ...] = ()

    def __init__(self, message: str, *, current: Sense | Context | None = None, changes: tuple[int, ...] = ()) -> None:
        self.current = current
        self.changes = changes
        super().__init__(message)


class LocalError(ArgotError):
    """An error that names files and commands of this machine. People who ask over the network see `elsewhere`
    instead.
    """

    elsewhere = "A store does not answer. Whoever runs Argot sees which with: argot doctor"

    def __str__(self) -> str:
        # When printed, not when raised: the same error goes to the asker and to the log.
        return self.elsewhere if asked_from_elsewhere.get() else super().__str__()


class KnowledgeBaseBusy(LocalError):
    """Another process owns the knowledge base and cannot be reached."""


class DamagedStore(LocalError):
    """A store is corrupt, truncated or of another version. The message ends with the repair command."""


class StoreUnavailable(LocalError):
    """The system does not let a store be read or written. The message names the space to free or the permission to
    grant.

    `remedy` is the same without a path, for people who ask over the network. `no_room`: the disk or a quota is full.
    """

    no_room: bool = False

    def __init__(self, message: str, remedy: str = "", *, no_room: bool = False) -> None:
        super().__init__(message)
        self.no_room = no_room
        if remedy:
            self.elsewhere = f"A store cannot be used. To whoever runs Argot: {remedy}."


class VectorsUnavailable(StoreUnavailable):
    """The server that stores the vectors is unavailable, or has lost them.

    `lost`: waiting does not help, they have to be written again. `broke_off`: it refused a connection, or dropped one.
    """

    elsewhere = "The search by meaning is out of order. Whoever runs Argot sees why with: argot doctor"

    def __init__(self, message: str, *, lost: bool = False, broke_off: bool = False) -> None:
        super().__init__(message)
        self.lost = lost
        self.broke_off = broke_off


class UnusableModel(InvalidSettings, LocalError):
    """A model that the settings name, or that comes with Argot, cannot be read or made ready on this machine."""

    elsewhere = "Argot is not set up correctly. Whoever runs Argot sees why in its log and with: argot doctor"


class MissingExtra(LocalError):
    """An optional package is missing."""

    elsewhere = "A package is missing for that. Whoever runs Argot sees which with: argot doctor"

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs the optional extra '{extra}'. Install it with: {install_command(extra)}")


class MissingWing(LocalError):
    """A wing (`argot/wings.py`) is needed that is not installed."""

    elsewhere = "A part of Argot is missing for that. Whoever runs Argot sees which with: argot doctor"


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this environment."""
    # By the path of this Python: the package index has another project named Argot, which `pip` in another environment
    # would install.
    return f"{shlex.quote(sys.executable)} -m pip install 'argot[{extra}]'"


class RetryLater(ArgotError):
    """It cannot be done now; `wait` is the number of seconds after which to try again (HTTP: Retry-After)."""

    wait: int = 30

    def __init__(self, message: str, wait: int = 30) -> None:
        self.wait = wait
        super().__init__(message)


class TooManyQuestions(RetryLater):
    """One person asks faster than the settings allow, or all together ask more than the service accepts."""


class ServiceStopping(RetryLater):
    """The service is being stopped: running work is finished, no new work is started."""


class AnswerStopped(ArgotError):
    """The person who asked stopped the answer, in another window."""


class AnswerLost(ArgotError):
    """The process that was answering a question ended before it was done."""


class ModelUnavailable(ArgotError):
    """The language model server refused, failed or took too long."""


def rebuild_error(kind: str, message: str) -> ArgotError:
    """Rebuild an error of another process with its own class and message.

    Args:
        kind: the name of its class; an unknown one becomes an `ArgotError`.
    """
    found = globals().get(kind)
    known = found if isinstance(found, type) and issubclass(found, ArgotError) else ArgotError
    # Without `__init__`, whose parameters differ by class and which would build another message.
    error = known.__new__(known)
    Exception.__init__(error, message)
    return error
