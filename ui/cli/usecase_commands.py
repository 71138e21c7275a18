"""Plain commands: each runs one use case and prints its result.

A plain command is a function that prints. Its first parameter is the result of the use case; the others are the
command's arguments and options, which go to the use case under the same names:

    thread_command = UseCaseCommands(threads, as_user=True)

    @thread_command("questions.threads.thread_delete", "argot threads delete t0123456789abcdef")
    def delete(found: Thread, /, thread: ThreadId) -> None:
        '''Delete a thread with everything said in it.'''
        say(f"Deleted {found.id}: {line(found.title)}")

The use case is named, not imported, because help must be quick; a test compares the parameters of every such command
with those of its use case. A command that calls several use cases, shows progress or has an exit code of its own is
written by hand.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from argot.languages.catalogues import translate
from argot.ui.cli.command_base import AsUser, Home, Json, format_examples, line, open_knowledge_base, say_json

if TYPE_CHECKING:
    from argot.service.usecases.usecase_registry import Declared

Show = TypeVar("Show", bound=Callable[..., None])
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


class UseCaseCommands:
    """A decorator that adds plain commands to one Typer application. Each of them takes `--home`.

    `package`: the package of the use cases.
    `as_user`: the commands take `--as`.
    """

    def __init__(self, app: typer.Typer, package: str = "argot.service.usecases", *, as_user: bool = False) -> None:
        self._app, self._package, self._as_user = app, package, as_user

    def __call__(
        self, case: str, *lines: str, name: str | None = None, json: bool = False, create: bool = False, ask: str = ""
    ) -> Callable[[Show], Show]:
        """Make a command from a function that prints the result of a use case.

        `case`: the module and the name of the use case within the package.
        `lines`: the examples that end the command's help.
        `name`: the command's name, if it is not that of the function.
        `json`: the command takes `--json`.
        `create`: the command makes the knowledge base where there is none.
        `ask`: a question that the command asks first, with parameters as "%(name)s"; `--yes` answers it.
        """
        path = f"{self._package}.{case}"
        common: dict[str, Any] = {
            **({"yes": (Yes, False)} if ask else {}),
            **({"json_": (Json, False)} if json else {}),
            **({"as_user": (AsUser, None)} if self._as_user else {}),
            "home": (Home, None),
        }

        def register(show: Show) -> Show:
            def execute(
                home: Home, json_: bool = False, as_user: str | None = None, yes: bool = True, **given: Any
            ) -> None:
                if not yes:
                    question = translate(ask, **{key: line(value) for key, value in given.items()})
                    # On standard error, so that the question is visible when the output goes into a file.
                    typer.confirm(question, abort=True, err=True)
                with open_knowledge_base(home, create=create) as client:
                    found = client.as_user(as_user).call(load_usecase(path), **given)
                if json_:
                    say_json(found)
                else:
                    show(found, **given)

            _set_parameters(execute, {**_get_parameters(show), **common})
            execute.usecase = path  # type: ignore[attr-defined]
            self._app.command(name or show.__name__, help=inspect.getdoc(show), epilog=format_examples(*lines))(execute)
            return show

        return register


def load_usecase(path: str) -> Declared:
    """Import the use case with this path."""
    module, _, name = path.rpartition(".")
    found: Declared = getattr(import_module(module), name)
    return found


def _get_parameters(show: Callable[..., None]) -> dict[str, tuple[Any, Any]]:
    """Return the types and defaults of a function's parameters, without the first one."""
    result, *others = inspect.signature(show).parameters.values()
    # The type of the result cannot be evaluated, because only type checkers import it.
    names = {key: kind for key, kind in show.__annotations__.items() if key not in (result.name, "return")}
    holder = type("Parameters", (), {"__annotations__": names})
    kinds = get_type_hints(holder, vars(sys.modules[show.__module__]), include_extras=True)
    return {one.name: (kinds[one.name], one.default) for one in others}


def _set_parameters(execute: Callable[..., None], parameters: dict[str, tuple[Any, Any]]) -> None:
    """Declare the parameters of a command where Typer looks for them."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    execute.__annotations__ = {name: kind for name, (kind, _) in parameters.items()}
    execute.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, keyword, default=default, annotation=kind)
            for name, (kind, default) in parameters.items()
        ]
    )
