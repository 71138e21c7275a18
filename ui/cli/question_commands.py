"""argot ask and argot answer: questions on the command line."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from argot.languages.catalogues import join_with_and, speak_as_asked, translate
from argot.types import Effort, SearchChoice
from argot.ui.cli.command_base import (
    AsUser,
    Home,
    Json,
    format_examples,
    line,
    open_error_console,
    open_knowledge_base,
    parse_field_values,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.document_commands import resolve_reference
from argot.ui.cli.progress import AnswerDisplay
from argot.ui.cli.terminal_answer import print_choices, print_timings, print_turn

if TYPE_CHECKING:
    from argot.results import AskResult
    from argot.service.transport.knowledge_base_client import Client

Context = Annotated[str | None, typer.Option("--context", help="Your own context, which settles ambiguous terms.")]
Profile = Annotated[
    str | None,
    typer.Option(
        "--profile",
        help="How to answer: strict, lenient, ... (see argot profile list), or a file.",
        metavar="NAME_OR_FILE",
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", help="A switch of the profile, e.g. rerank=off; repeatable.", metavar="SWITCH=VALUE"),
]
Search = Annotated[
    SearchChoice | None,
    typer.Option(
        "--search",
        help="What to search: passages, or summaries (S) and questions (Q) derived of them, alone or both; with "
        "passages too (S+, Q+); all three (U).",
    ),
]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", help="Search only documents with this tag; repeatable.", metavar="TAG")
]
Since = Annotated[
    str | None, typer.Option("--since", help="Search only documents of this date or later.", metavar="DATE")
]
Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--field", help="Search only documents with this field, e.g. region=EU; repeatable.", metavar="NAME=VALUE"
    ),
]
Documents = Annotated[
    list[str] | None,
    typer.Option("--document", help="Search only this document (id, name or URI); repeatable.", metavar="DOCUMENT"),
]
EffortOption = Annotated[
    Effort | None,
    typer.Option("--effort", help="quick: one call of a language model; thorough: it plans and searches by itself."),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show the time each stage took.")]


def register(app: typer.Typer) -> None:
    app.command(
        epilog=format_examples(
            'argot ask "How do I reset the PUC?"',
            'argot ask "And in revision B?" --thread t0123456789abcdef',
            'argot ask "What is our SLA?" --context Legal --json',
            'argot ask "How long is the notice?" --document leave-policy.docx',
            'argot ask "What is our SLA?" --profile strict --set passages=20',
            'argot ask "What is our SLA?" --search S+',
            'argot ask "How do the SLA of Legal and of Tools differ?" --effort thorough',
            'argot ask "How much leave is there?" --since 2025-01-01 --tag hr --field region=EU',
        )
    )(ask)
    app.command(
        epilog=format_examples("argot answer t0123456789abcdef 2", 'argot answer t0123456789abcdef "the legal one"')
    )(answer)


def ask(
    *,
    question: Annotated[str, typer.Argument(help="The question, in quotes; - reads it from standard input.")],
    thread: Annotated[str | None, typer.Option("--thread", help="Continue this thread.")] = None,
    context: Context = None,
    profile: Profile = None,
    changes: Changes = None,
    search: Search = None,
    tags: Tags = None,
    since: Since = None,
    fields: Fields = None,
    documents: Documents = None,
    effort: EffortOption = None,
    as_user: AsUser = None,
    json_: Json = False,
    verbose: Verbose = False,
    home: Home = None,
) -> None:
    """Ask a question. Each sentence of the answer names the passage that supports it."""
    text = sys.stdin.read() if question == "-" else question
    with open_knowledge_base(home) as client:
        _warn_of_ignored_model(client)
        options = _QuestionOptions(context, profile, changes, search, tags, since, fields, documents, effort)
        asking = _Question(client, home, as_user, options, json_=json_)
        asking.show(asking.ask(text, thread), verbose=verbose)


def answer(
    *,
    thread: Annotated[str, typer.Argument(help="The thread in which Argot asked back.", metavar="THREAD")],
    choice: Annotated[str, typer.Argument(help="The number of a choice, its value, or words.", metavar="CHOICE")],
    context: Context = None,
    profile: Profile = None,
    changes: Changes = None,
    search: Search = None,
    tags: Tags = None,
    since: Since = None,
    fields: Fields = None,
    documents: Documents = None,
    effort: EffortOption = None,
    as_user: AsUser = None,
    json_: Json = False,
    verbose: Verbose = False,
    home: Home = None,
) -> None:
    """Answer what Argot asked back, and get the answer to the question."""
    with open_knowledge_base(home) as client:
        _warn_of_ignored_model(client)
        options = _QuestionOptions(context, profile, changes, search, tags, since, fields, documents, effort)
        asking = _Question(client, home, as_user, options, json_=json_)
        asking.show(asking.answer(thread, choice), verbose=verbose)


def _warn_of_ignored_model(client: Client) -> None:
    """Say that a running service answers with its own model, if this shell names one."""
    from argot.service.transport.knowledge_base_client import SocketClient

    names_set = [name for name in ("ARGOT_MODEL_URL", "ARGOT_MODEL") if os.environ.get(name)]
    if names_set and isinstance(client, SocketClient):
        template = "A running service answers with its own model. Not used: %(names)s of this shell."
        say_aside(translate(template, names=join_with_and(names_set)))


class _QuestionOptions(NamedTuple):
    """The command line's options for a question."""

    context: str | None
    profile: str | None
    set: list[str] | None
    search: SearchChoice | None
    tags: list[str] | None
    since: str | None
    fields: list[str] | None
    documents: list[str] | None
    effort: Effort | None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the use case. A file is read here, because the service may run on another machine.

        Raises:
            InvalidSettings: there is no such file or switch.
            InvalidInput: a field has no name or no value.
        """
        from argot.profile import compare_switches, parse_changes
        from argot.profile_files import is_file, read_profile_file

        name, switches = self.profile, parse_changes(self.set or ())
        if name and is_file(name):
            # A file is read as its differences from the default.
            switches = compare_switches(read_profile_file(Path(name))) | switches
            name = "default"
        return {
            "context": self.context,
            "profile": name,
            "switches": switches or None,
            "search": self.search,
            "tags": self.tags,
            "since": self.since,
            "fields": parse_field_values(self.fields) if self.fields else None,
            "documents": [resolve_reference(one) for one in self.documents] if self.documents else None,
            "effort": self.effort,
        }


class _Question:
    """One question on the command line, with everything that Argot asks back."""

    def __init__(
        self, client: Client, home: Path | None, as_user: str | None, options: _QuestionOptions, *, json_: bool
    ) -> None:
        self._client = client.as_user(as_user)
        self._home = home
        self._as_user = as_user
        self._options = options
        self._json = json_

    def ask(self, question: str, thread: str | None) -> AskResult:
        from argot.service.usecases.questions.questions import ask

        with self._open_display() as client:
            return client.call(ask, question=question, thread=thread, **self._options.parameters())

    def answer(self, thread: str, choice: str) -> AskResult:
        from argot.service.usecases.questions.questions import answer

        with self._open_display() as client:
            return client.call(answer, thread=thread, choice=choice, **self._options.parameters())

    @contextmanager
    def _open_display(self) -> Iterator[Client]:
        """Yield a client that shows the current stage and the answer's words as they come, if a person is watching."""
        console = open_error_console()
        # In a pipe or a script nobody is watching.
        if self._json or not console.is_terminal:
            yield self._client
            return
        with AnswerDisplay(console) as watching:
            yield self._client.watch(watching.show)

    def show(self, result: AskResult, *, verbose: bool) -> None:
        """Print a result: what belongs to the answer is in the language of the question."""
        with speak_as_asked(result.question):
            self._show(result, verbose=verbose)

    def _show(self, result: AskResult, *, verbose: bool) -> None:
        if self._json:
            say_json(result)
            return
        # Asked only where a person can answer. A script gets the commands that would.
        while result.status == "needs_choice" and sys.stdin.isatty() and sys.stdout.isatty():
            say(_format_heading(result))
            print_choices(result)
            picked = typer.prompt(translate("Which one? A number, or in words"))
            # The choice may lead to another question back, so this repeats.
            result = self.answer(result.thread, picked)
        if result.status == "needs_choice":
            self._show_open_choice(result)
        else:
            print_turn(result)
        if verbose:
            print_timings(result)
        # At the end, for the next question in this thread.
        say("\n" + translate("Thread %(thread)s", thread=result.thread))

    def _show_open_choice(self, result: AskResult) -> None:
        """Show the choices, and the commands that pick one, with the options of this command."""
        say(_format_heading(result))
        print_choices(result)
        say(f"\n{translate('Choose with:')}")
        options = {"--home": self._home, "--as": self._as_user}
        options |= {
            "--context": self._options.context,
            "--profile": self._options.profile,
            "--search": self._options.search,
            "--since": self._options.since,
            "--effort": self._options.effort,
        }
        option_text = "".join(f" {name} {shlex.quote(str(value))}" for name, value in options.items() if value)
        repeated = {"--set": self._options.set, "--tag": self._options.tags, "--field": self._options.fields}
        repeated["--document"] = self._options.documents
        for option, values in repeated.items():
            option_text += "".join(f" {option} {shlex.quote(value)}" for value in values or ())
        for choice in result.choices:
            say("  " + f"argot answer {result.thread} {shlex.quote(choice.answer)}{option_text}")


def _format_heading(result: AskResult) -> str:
    """Return the first line of what Argot asks back; the numbered choices are printed below it."""
    lines = result.answer.strip().splitlines()
    return line(lines[0]) if lines else translate("Which one is meant?")
