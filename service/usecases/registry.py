"""The table of use cases: what every surface (command line, socket, chat, API) may ask for, by name.

A use case is a function `(kb, principal, *, ...)` that is async and returns something JSON can carry, or gives an async
generator of events (dicts with a `kind`) of which the last is `{"kind": "result", "data": ...}`.
Its keyword parameters, with their types, are its interface: they are checked before it runs.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model

from argot.errors import InvalidInput, NotAllowed
from argot.service.identity.people import Role, require_name, role_of
from argot.service.instrumentation import told_of
from argot.types import Principal

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase

Event: TypeAlias = dict[str, Any]
F = TypeVar("F", bound=Callable[..., Any])


def _unicode(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it is not valid Unicode text") from None
    return text


Text = Annotated[str, AfterValidator(_unicode)]
"""A string that can be stored: no lone surrogates, which undecodable command-line bytes and JSON may hold."""
Number = Annotated[int, Field(ge=0, lt=2**63)]
"""A number of something that SQLite keeps, which has no larger ones."""
Count = Annotated[int, Field(ge=0, lt=2**62)]
"""How many, or after how many; two of them can be added."""


def _reader(token: str) -> str:
    require_name("group", token.removeprefix("@"))
    return token


Reader = Annotated[Text, AfterValidator(_reader)]
"""A group, or `@name` for one person. Checked, for a document for "hr,legal" would be invisible to both."""


class Together(BaseModel):
    """Parameters that several use cases take, declared once.

    A parameter of such a type stands for its fields: these are what a caller gives, one by one, beside the others.
    """

    model_config = ConfigDict(frozen=True)


@dataclass(frozen=True, slots=True)
class Case:
    """One use case.

    `local`: it reads or writes files of this machine, so no network surface may offer it.
    `everywhere`: it takes a manager of all contexts; a manager of some may do the others, which look at the context.
    `asks`: it answers a question, of which so many are taken on (`limits.py`).
    `together`: the parameters of its function that stand for several of its `parameters`.
    """

    name: str
    role: Role
    local: bool
    function: Callable[..., Any]
    parameters: type[BaseModel]
    everywhere: bool = False
    asks: bool = False
    together: Mapping[str, type[Together]] = field(default_factory=dict)

    @property
    def help(self) -> str:
        return inspect.getdoc(self.function) or ""

    def arguments(self, checked: Mapping[str, Any]) -> dict[str, Any]:
        """What the function is called with: the parameters, those that belong together in one."""
        given = dict(checked)
        made = {
            name: kind.model_construct(**{part: given.pop(part) for part in kind.model_fields})
            for name, kind in self.together.items()
        }
        return {**given, **made}


CASES: dict[str, Case] = {}


def case(role: Role, *, local: bool = False, everywhere: bool = False, asks: bool = False) -> Callable[[F], F]:
    """Put a function into the table under its own name."""

    def register(function: F) -> F:
        name = function.__name__
        parameters = _parameters(name, function)
        CASES[name] = Case(name, role, local, function, parameters, everywhere, asks, _together(function))
        return function

    return register


async def run(
    kb: KnowledgeBase, principal: Principal, name: str, parameters: Mapping[str, Any]
) -> AsyncGenerator[Event, None]:
    """Check and run a use case; its events, the last of which is the result. Closing this stops the work.

    Raises:
        InvalidInput: no such case, or a parameter is missing, unknown or of the wrong kind.
        NotAllowed: the principal's role is too small.
        TooManyQuestions, ServiceStopping: no question is taken on now.
    """
    found = CASES.get(name)
    if found is None:
        raise InvalidInput(f"There is no use case '{name}'. There are: {', '.join(sorted(CASES))}.")
    _require_role(found, principal)
    checked = _checked(found, parameters)
    with told_of(kb.metrics, found.name, checked, asks=found.asks) as tell:
        async with _place(kb, principal, found), aclosing(_events(found, kb, principal, checked)) as events:
            async for event in events:
                tell(event)
                yield event


def _place(kb: KnowledgeBase, principal: Principal, found: Case) -> AbstractAsyncContextManager[None]:
    return kb.gate.place(principal) if found.asks else nullcontext()


async def _events(
    found: Case, kb: KnowledgeBase, principal: Principal, checked: Mapping[str, Any]
) -> AsyncGenerator[Event, None]:
    outcome: Any = found.function(kb, principal, **found.arguments(checked))
    if not isinstance(outcome, AsyncGenerator):
        yield {"kind": "result", "data": await outcome}
        return
    async with aclosing(outcome) as events:
        async for event in events:
            yield event


_RANKS: dict[Role, int] = {"asker": 0, "manager": 1, "admin": 2}


def _require_role(found: Case, principal: Principal) -> None:
    if _RANKS[role_of(principal)] < _RANKS[found.role]:
        need = "the role 'manager'" if found.role == "manager" else "the role 'admin', or the person at this machine"
        raise NotAllowed(f"{principal.name} may not do '{found.name}': it takes {need}.")
    if found.everywhere and not principal.manages_all:
        raise NotAllowed(f"{principal.name} may not do '{found.name}': it takes a manager of all contexts.")


def _parameters(name: str, function: Callable[..., Any]) -> type[BaseModel]:
    """The model of what a use case is given."""
    fields: dict[str, Any] = {}
    together = _together(function)
    for parameter in _keywords(function):
        if parameter.name in together:
            parts = together[parameter.name].model_fields
            fields |= {part: (info.annotation, info) for part, info in parts.items()}
        else:
            given = ... if parameter.default is parameter.empty else parameter.default
            fields[parameter.name] = (parameter.annotation, given)
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _together(function: Callable[..., Any]) -> dict[str, type[Together]]:
    kinds = {parameter.name: parameter.annotation for parameter in _keywords(function)}
    return {name: kind for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, Together)}


def _keywords(function: Callable[..., Any]) -> list[inspect.Parameter]:
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return [parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


def _checked(found: Case, parameters: Mapping[str, Any]) -> dict[str, Any]:
    try:
        checked = found.parameters(**parameters)
    except ValidationError as error:
        wrong = error.errors()
        problems = "; ".join(map(_problem, wrong))
        unknown = any(one["type"] in ("extra_forbidden", "missing") for one in wrong)
        valid = f" Its parameters: {', '.join(found.parameters.model_fields) or 'none'}." if unknown else ""
        raise InvalidInput(f"'{found.name}' cannot be done so: {problems}.{valid}") from None
    return {name: getattr(checked, name) for name in found.parameters.model_fields}


_UNTOLD = ("password", "data")
"""Parts of names of parameters whose value is in no message."""


def _problem(one: Any) -> str:
    """What is wrong with one parameter, with the beginning of what was given."""
    name, given = ".".join(map(str, one["loc"])), one["input"]
    where = name.replace("_", " ")
    if isinstance(given, str) and "too_short" in one["type"]:
        return f"{where} is empty"
    if isinstance(given, str) and "too_long" in one["type"]:
        return f"{where} has {len(given):,} characters, and may have {one['ctx']['max_length']:,}"
    tells = isinstance(given, str | int | float) and not any(part in name for part in _UNTOLD)
    return f"{where}{f' ({given!r:.80})' if tells else ''}: {one['msg']}"
