"""Tests of plain commands: their parameters are those of their use cases."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from argot.errors import InvalidInput
from argot.service.usecases.usecase_registry import Declared
from argot.ui.cli.main import app
from argot.ui.cli.usecase_commands import UseCaseCommands, load_usecase


def plain_commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(command.callback, "usecase"):
        yield name, command.callback
    for part, sub in getattr(command, "commands", {}).items():
        yield from plain_commands(f"{name} {part}", sub)


PLAIN = list(plain_commands("argot", get_command(app)))


def plain_types(kind: Any) -> set[Any]:
    """Return the types that a type allows, without limits; a choice counts as the type of its values."""
    if get_origin(kind) is Annotated:
        return plain_types(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return {type(value) for value in get_args(kind)}
    if get_origin(kind) in (Union, UnionType):
        return {one for part in get_args(kind) for one in plain_types(part)}
    if get_origin(kind) is list:
        return {("list", *plain_types(get_args(kind)[0]))}
    return {kind}


def parameters_of(callback: Any) -> dict[str, Any]:
    common = {"home", "json_", "as_user", "yes", "return"}
    return {name: kind for name, kind in get_type_hints(callback.__wrapped__).items() if name not in common}


def test_plain_use_case_commands_exist() -> None:
    assert len(PLAIN) > 10


@pytest.mark.parametrize(("name", "callback"), PLAIN)
def test_a_plain_command_gives_its_use_case_valid_parameters(name: str, callback: Any) -> None:
    case: Declared = load_usecase(callback.usecase)
    fields = case.parameters.model_fields
    given = parameters_of(callback)
    assert {key for key, field in fields.items() if field.is_required()} <= set(given) <= set(fields)
    for key, kind in given.items():
        assert plain_types(kind) <= plain_types(fields[key].annotation), key


@pytest.mark.parametrize(("name", "callback"), PLAIN)
def test_defaults_of_a_plain_command_equal_those_of_its_use_case(name: str, callback: Any) -> None:
    fields = load_usecase(callback.usecase).parameters.model_fields
    defaults = callback.__wrapped__.__signature__.parameters
    for key in parameters_of(callback):
        if defaults[key].default is not defaults[key].empty and not fields[key].is_required():
            assert defaults[key].default == fields[key].default, key


def test_a_confirmation_is_asked_before_the_knowledge_base_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise InvalidInput("opened")

    monkeypatch.setattr("argot.ui.cli.usecase_commands.open_knowledge_base", refuse)
    small = typer.Typer(rich_markup_mode=None)

    @UseCaseCommands(small, "pack")("module.case", "argot erase ann", ask="Erase %(name)s?")
    def erase(found: None, /, name: str) -> None:
        """Erase a person."""

    refused = CliRunner().invoke(small, ["ann"], input="n\n")
    assert (refused.exit_code, type(refused.exception)) == (1, SystemExit)
    assert "Erase ann?" in refused.stderr
    assert isinstance(CliRunner().invoke(small, ["ann"], input="y\n").exception, InvalidInput)
    told = CliRunner().invoke(small, ["ann", "--yes"])
    assert (type(told.exception), told.stderr) == (InvalidInput, "")
