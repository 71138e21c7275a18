"""The table of use cases: what every surface (command line, socket, chat, API) may ask for, by name.

A use case is an async function `(kb, principal, *, ...)` that returns something JSON can carry, or an async
generator of events (dicts with a `kind`) of which the last is `{"kind": "result", "data": ...}`.
Its keyword parameters, with their types, are its interface: they are checked before it runs.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, create_model

from argot.errors import InvalidInput, NotAllowed
from argot.service.people import MANAGERS, require_name
from argot.types import Principal

if TYPE_CHECKING:
    from argot.service.owner import KnowledgeBase

Event: TypeAlias = dict[str, Any]
Role = Literal["asker", "manager", "admin"]
F = TypeVar("F", bound=Callable[..., Any])


def _unicode(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it is not valid Unicode text") from None
    return text


Text = Annotated[str, AfterValidator(_unicode)]
"""A string that can be stored: no lone surrogates, which undecodable command-line bytes and JSON may hold."""


def _reader(token: str) -> str:
    require_name("group", token.removeprefix("@"))
    return token


Reader = Annotated[Text, AfterValidator(_reader)]
"""A group, or `@name` for one person. Checked, for a document for "hr,legal" would be invisible to both."""


@dataclass(frozen=True, slots=True)
class Case:
    """One use case. `local`: it reads or writes files of this machine, so no network surface may offer it."""

    name: str
    role: Role
    local: bool
    function: Callable[..., Any]
    parameters: type[BaseModel]

    @property
    def help(self) -> str:
        return inspect.getdoc(self.function) or ""


CASES: dict[str, Case] = {}


def case(role: Role, *, local: bool = False) -> Callable[[F], F]:
    """Put a function into the table under its own name."""

    def register(function: F) -> F:
        name = function.__name__
        CASES[name] = Case(name, role, local, function, _parameters(name, function))
        return function

    return register


def role_of(principal: Principal) -> Role:
    if principal.sees_all:
        return "admin"
    return "manager" if MANAGERS in principal.groups else "asker"


async def run(
    kb: KnowledgeBase, principal: Principal, name: str, parameters: Mapping[str, Any]
) -> AsyncIterator[Event]:
    """Check and run a use case; its events, the last of which is the result.

    Raises:
        InvalidInput: no such case, or a parameter is missing, unknown or of the wrong kind.
        NotAllowed: the principal's role is too small.
    """
    found = CASES.get(name)
    if found is None:
        raise InvalidInput(f"There is no use case '{name}'. There are: {', '.join(sorted(CASES))}.")
    _require_role(found, principal)
    outcome: Any = found.function(kb, principal, **_checked(found, parameters))
    if inspect.isasyncgenfunction(found.function):
        try:
            async for event in outcome:
                yield event
        finally:
            await outcome.aclose()
    else:
        yield {"kind": "result", "data": await outcome}


_RANKS: dict[Role, int] = {"asker": 0, "manager": 1, "admin": 2}


def _require_role(found: Case, principal: Principal) -> None:
    if _RANKS[role_of(principal)] < _RANKS[found.role]:
        need = (
            f"membership of the group '{MANAGERS}'" if found.role == "manager" else "the person who runs this machine"
        )
        raise NotAllowed(f"{principal.name} may not do '{found.name}': it takes {need}.")


def _parameters(name: str, function: Callable[..., Any]) -> type[BaseModel]:
    signature = inspect.signature(function, eval_str=True)
    fields: dict[str, Any] = {
        parameter.name: (parameter.annotation, ... if parameter.default is parameter.empty else parameter.default)
        for parameter in signature.parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _checked(found: Case, parameters: Mapping[str, Any]) -> dict[str, Any]:
    try:
        checked = found.parameters(**parameters)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        valid = ", ".join(found.parameters.model_fields) or "none"
        raise InvalidInput(f"'{found.name}' cannot be done so: {problems}. Its parameters: {valid}.") from None
    return {name: getattr(checked, name) for name in found.parameters.model_fields}
