"""Use cases: the actions that a surface may call. Each is a typed function, declared with the role that it needs.

A use case is an async function `(kb, principal, *, ...)` that returns its result, or an async generator that yields
events, the last of which contains the result. In one process it is called directly:

    threads = await thread_list(kb, principal)

The decorator checks the role and the parameters, takes a slot for a question (`admission_control.py`) and counts the
run. Callers with only a name (the local socket, a table of addresses) use `catalogue.dispatch`.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, contextmanager, nullcontext
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from argot.errors import InvalidInput, NotAllowed
from argot.results import AskEvent, AskResult
from argot.service.identity.people import RANKS, Role, require_name, role_of
from argot.service.observability.instrumentation import CaseRecord, watch
from argot.service.storage.damage import name_store_faults
from argot.service.usecases.audited_cases import listen_for_audit, note_refusal
from argot.service.usecases.case_listeners import make_listeners
from argot.service.usecases.parameter_problems import list_problems
from argot.types import Principal

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase

Event: TypeAlias = dict[str, Any]
"""An event before the result, as JSON: a `kind` and its fields."""
P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Finished(Generic[R]):
    """The last event of a use case with events. `data` is its result."""

    data: R
    kind: Literal["result"] = "result"


def _check_unicode(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it is not valid Unicode text") from None
    # No keyboard has it, no reader sees it, and PostgreSQL cannot store a text with it.
    return text.replace("\0", "")


Text = Annotated[str, AfterValidator(_check_unicode)]
"""A string that can be stored: no lone surrogates, which undecodable command-line bytes and JSON may contain, and
without U+0000.
"""
Number = Annotated[int, Field(ge=0, lt=2**63)]
"""An id of a row in SQLite, which has no larger ones."""
Count = Annotated[int, Field(ge=0, lt=2**62)]
"""A count or an offset; two of them can be added."""


def _check_reader(token: str) -> str:
    require_name("group", token.removeprefix("@"))
    return token


Reader = Annotated[Text, AfterValidator(_check_reader)]
"""A group, or `@name` for one person. Checked, because a document for "hr,legal" would be invisible to both."""


@dataclass(frozen=True, kw_only=True)
class ParameterGroup:
    """Parameters that several use cases take, declared once.

    A parameter of such a type represents its fields. In one process a caller passes it as a whole; over a wire they are
    sent one by one, beside the others. Either way they are checked with the other parameters, not on construction.
    """


class _Declaration:
    """Declaration of a use case, with or without events.

    `name`: its name over the wire. `local`: it reads or writes files of this machine, so no network surface may offer
    it. `everywhere`: it needs a manager of all contexts; a manager of some may call the others, which check the
    context. `asks`: it answers a question, and is subject to the limits of `admission_control.py`. `groups`: the
    parameters of its function that represent several of its `parameters`.
    """

    def __init__(
        self, name: str, function: Callable[..., Any], role: Role, *, local: bool, everywhere: bool, asks: bool
    ) -> None:
        self.name = name
        self.function = function
        self.role = role
        self.local = local
        self.everywhere = everywhere
        self.asks = asks
        self.parameters = _make_parameters(self.name, function)
        self.groups: Mapping[str, type[ParameterGroup]] = _find_parameter_groups(function)
        self.__doc__ = function.__doc__

    @property
    def help(self) -> str:
        return inspect.getdoc(self.function) or ""

    def check_parameters(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters, each with its type.

        Raises:
            InvalidInput: one is missing, unknown or of the wrong kind.
        """
        try:
            checked = self.parameters(**flatten_parameters(values))
        except ValidationError as error:
            wrong = error.errors()
            unknown = any(one["type"] in ("extra_forbidden", "missing") for one in wrong)
            valid = f" Its parameters: {', '.join(self.parameters.model_fields) or 'none'}." if unknown else ""
            # `from None`: pydantic's own error repeats its input, even if that was a password.
            raise InvalidInput(f"Invalid parameters for '{self.name}': {list_problems(error)}.{valid}") from None
        return {name: getattr(checked, name) for name in self.parameters.model_fields}

    def arguments(self, checked: Mapping[str, Any]) -> dict[str, Any]:
        """Build the arguments of the function from the parameters, with groups assembled."""
        arguments_given = dict(checked)
        made = {
            name: kind(**{part.name: arguments_given.pop(part.name) for part in fields(kind)})
            for name, kind in self.groups.items()
        }
        return {**arguments_given, **made}

    def result_of(self, data: Any) -> Any:
        """Return a result that was sent as JSON, with its own type."""
        return _make_adapter(self.function).validate_python(data)

    def event_of(self, event: Event) -> Any:
        """Return an event before the result that was sent as JSON, with its own type."""
        return event

    @contextmanager
    def _run(self, kb: KnowledgeBase, principal: Principal, given: Mapping[str, Any]) -> Iterator[_Run]:
        # The role first: a caller without it learns nothing of its parameters.
        try:
            self._require_role(principal)
        except NotAllowed:
            note_refusal(kb, principal, self.name, flatten_parameters(given))
            raise
        checked = self.check_parameters(given)
        listeners = [*make_listeners(kb, asks=self.asks), *listen_for_audit(kb, principal, self.name, checked)]
        with watch(listeners, self.name, checked, asks=self.asks) as watched:
            # Checked before it takes a place: what is no valid question costs nobody's time.
            place = kb.gates.questions.place(principal) if self.asks else nullcontext()
            yield _Run(self.arguments(checked), watched, place)

    def _require_role(self, principal: Principal) -> None:
        if RANKS[role_of(principal)] < RANKS[self.role]:
            need = "the role 'manager'" if self.role == "manager" else "the role 'admin', or the person at this machine"
            raise NotAllowed(f"{principal.name} may not do '{self.name}': it requires {need}.")
        if self.everywhere and not principal.manages_all:
            raise NotAllowed(f"{principal.name} may not do '{self.name}': it requires a manager of all contexts.")


class _Run:
    """One run of a use case: the arguments of its function, its watcher, and its slot among the questions."""

    def __init__(
        self, arguments: dict[str, Any], watched: CaseRecord, place: AbstractAsyncContextManager[None]
    ) -> None:
        self.arguments, self.watched, self.place = arguments, watched, place


class UseCase(_Declaration, Generic[P, R]):
    """A use case without events: `await case(kb, principal, ...)`.

    Inside another use case call `.function`, which skips the checks, because the outer one made them.

    Raises:
        InvalidInput: a parameter is missing, unknown or of the wrong kind.
        NotAllowed: the principal's role is insufficient.
        TooManyQuestions, ServiceStopping: no question is accepted now.
    """

    function: Callable[Concatenate[KnowledgeBase, Principal, P], Coroutine[Any, Any, R]]

    async def __call__(self, kb: KnowledgeBase, principal: Principal, *args: P.args, **given: P.kwargs) -> R:
        with self._run(kb, principal, given) as run:
            async with name_store_faults(kb.home), run.place:
                result = await self.function(kb, principal, *args, **run.arguments)
            run.watched.saw("result", data=result)
            return result


class _Streaming(_Declaration, Generic[P, E]):
    """A use case whose events are requested one by one. Closing it stops the work.

    It raises the errors of `UseCase` when its first event is requested.
    """

    function: Callable[Concatenate[KnowledgeBase, Principal, P], AsyncGenerator[E]]

    async def __call__(
        self, kb: KnowledgeBase, principal: Principal, *args: P.args, **given: P.kwargs
    ) -> AsyncGenerator[E]:
        with self._run(kb, principal, given) as run:
            # Closed as soon as nobody reads on, which stops the work and releases the slot.
            working = aclosing(self.function(kb, principal, *args, **run.arguments))
            async with name_store_faults(kb.home), run.place, working as events:
                async for event in events:
                    _note_event(run.watched, event)
                    yield event


class StreamingUseCase(_Streaming[P, Event | Finished[R]]):
    """A use case that reports its progress: `async for event in case(kb, principal, ...)`. The last event is
    `Finished`.
    """

    function: Callable[Concatenate[KnowledgeBase, Principal, P], AsyncGenerator[Event | Finished[R]]]


class AskingUseCase(_Streaming[P, AskEvent]):
    """A use case that answers a question: stages, pieces of the answer, and last an event with the `AskResult`."""

    def result_of(self, data: Any) -> AskResult:
        return AskResult.model_validate(data)

    def event_of(self, event: Event) -> AskEvent:
        return AskEvent(**event)


Declared: TypeAlias = UseCase[Any, Any] | StreamingUseCase[Any, Any] | AskingUseCase[Any]


async def get_outcome(events: AsyncGenerator[Event | Finished[R]]) -> R:
    """Return the result of a use case, without its other events."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Finished):
                return event.data
    raise RuntimeError("a use case ended without a result")


async def get_answer(events: AsyncGenerator[AskEvent]) -> AskResult:
    """Return the result of a use case that answers a question."""
    result = None
    async with aclosing(events):
        # To their end: records are written after the result.
        async for event in events:
            result = event.data if isinstance(event.data, AskResult) else result
    if result is None:
        raise RuntimeError("a question ended without a result")
    return result


def _note_event(watched: CaseRecord, event: object) -> None:
    if isinstance(event, AskEvent):
        watched.saw(event.kind, name=event.name, seconds=event.seconds, data=event.data)
    elif isinstance(event, Finished):
        watched.saw(event.kind, data=event.data)
    elif isinstance(event, dict):
        watched.saw(str(event["kind"]))


CASES: dict[str, Declared] = {}
"""By name, for callers that have only that."""


class _Declare(Protocol):
    """Decorator that `usecase` returns: it turns a function into a use case with the same parameters and result."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[KnowledgeBase, Principal, P], Coroutine[Any, Any, R]], /
    ) -> UseCase[P, R]: ...

    @overload
    def __call__(
        self, function: Callable[Concatenate[KnowledgeBase, Principal, P], AsyncIterator[AskEvent]], /
    ) -> AskingUseCase[P]: ...

    @overload
    def __call__(
        self, function: Callable[Concatenate[KnowledgeBase, Principal, P], AsyncIterator[Event | Finished[R]]], /
    ) -> StreamingUseCase[P, R]: ...


def usecase(
    role: Role, *, name: str = "", local: bool = False, everywhere: bool = False, asks: bool = False
) -> _Declare:
    """Declare a function as a use case for this role and those above it.

    `name`: its name over the wire, if that was fixed before the function got its present name.
    """

    def declare(function: Callable[..., Any], /) -> Declared:
        # An async function with `yield` is not one of these: it returns a generator.
        at_once = inspect.iscoroutinefunction(function)
        kind: type[Declared] = UseCase if at_once else AskingUseCase if asks else StreamingUseCase
        wire = name or function.__name__
        declared = CASES[wire] = kind(wire, function, role, local=local, everywhere=everywhere, asks=asks)
        return declared

    return declare  # type: ignore[return-value]


def find_choice(choices: Sequence[T], value: object, what: str) -> T:
    """Find the one of these values that a person typed or chose.

    Raises:
        InvalidInput: it is none of them.
    """
    for choice in choices:
        if choice == value:
            return choice
    *others, last = map(repr, choices)
    raise InvalidInput(f"{what} ({value!r:.80}): it should be {', '.join(others)} or {last}.")


def flatten_parameters(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters one by one, including grouped ones."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, ParameterGroup):
            flat |= {part.name: getattr(value, part.name) for part in fields(value)}
        else:
            flat[name] = value
    return flat


def _make_parameters(name: str, function: Callable[..., Any]) -> type[BaseModel]:
    declared: dict[str, Any] = {}
    groups = _find_parameter_groups(function)
    for parameter in _list_keywords(function):
        if kind := groups.get(parameter.name):
            types = get_type_hints(kind, include_extras=True)
            parts = {part.name: ... if part.default is MISSING else part.default for part in fields(kind)}
            declared |= {part: (types[part], default) for part, default in parts.items()}
        else:
            given = ... if parameter.default is parameter.empty else parameter.default
            declared[parameter.name] = (parameter.annotation, given)
    # A misspelt parameter is an error: if ignored, the use case would do something else than requested.
    # Its check is built at the first use: building those of all use cases is a quarter of a second of every start.
    return create_model(name, __config__=ConfigDict(extra="forbid", defer_build=True), **declared)


def _find_parameter_groups(function: Callable[..., Any]) -> dict[str, type[ParameterGroup]]:
    kinds = {parameter.name: parameter.annotation for parameter in _list_keywords(function)}
    return {name: kind for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, ParameterGroup)}


def _list_keywords(function: Callable[..., Any]) -> list[inspect.Parameter]:
    # Annotations are strings until they are evaluated (`from __future__ import annotations`).
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return [parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


@cache
def _make_adapter(function: Callable[..., Any]) -> TypeAdapter[Any]:
    """For the result: the returned value, or the value in the `Finished` event."""
    returned = get_type_hints(function, include_extras=True)["return"]
    if inspect.iscoroutinefunction(function):
        return TypeAdapter(returned)
    (event,) = {one for one in get_args(get_args(returned)[0]) if get_origin(one) is Finished}
    return TypeAdapter(get_args(event)[0])
