"""argot threads: one's own conversations, and people's judgements of answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from argot.languages.catalogues import translate, translate_number
from argot.types import Sense
from argot.ui.cli.command_base import (
    AsUser,
    Home,
    Json,
    format_examples,
    line,
    open_knowledge_base,
    print_table,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.terminal_answer import print_turn
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.service.usecases.questions.shared_conversations import NewSharedLink, SharedLink
    from argot.service.usecases.questions.threads import JudgedAnswer, Thread

threads = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Your own conversations.")
thread_command = UseCaseCommands(threads, as_user=True)

ThreadId = Annotated[str, typer.Argument(help="Its id (see `argot threads list`).", metavar="THREAD")]


def register(app: typer.Typer) -> None:
    app.add_typer(threads, name="threads")


@thread_command("questions.threads.thread_list", "argot threads list", name="list", json=True)
def list_threads(found: list[Thread], /) -> None:
    """List your threads, the latest first."""
    print_table(["thread", "title", "last used"], [[one.id, one.title, one.updated_at[:16]] for one in found])
    say_aside(translate_number("%(number)s thread", "%(number)s threads", len(found)))


@threads.command("show", epilog=format_examples("argot threads show t0123456789abcdef"))
def show(thread: ThreadId, json_: Json = False, as_user: AsUser = None, home: Home = None) -> None:
    """Show the questions and answers of a thread, as far as you may still read their sources."""
    from argot.service.json_values import convert_to_json
    from argot.service.usecases.glossary.impact import thread_news
    from argot.service.usecases.questions.threads import thread_read

    with open_knowledge_base(home) as client:
        found = client.as_user(as_user).call(thread_read, thread=thread)
        # After the thread: news are given only once, and would be lost if the thread could not be read.
        news = client.as_user(as_user).call(thread_news, thread=thread)
    if json_:
        say_json({**convert_to_json(found), "news": news})
        return
    say(f"{line(found.title)} ({found.id})")
    for turn in found.turns:
        say(f"\n> {line(turn.question)}\n")
        print_turn(turn)
    for one in news:
        say(
            "\n"
            + translate(
                "News: %(term)s has a meaning now: %(meanings)s. Ask again, if you like:",
                term=line(one.term),
                meanings=_format_meanings(one.senses),
            )
        )
        say(f"  {line(one.question)}")


@threads.command(
    "share",
    epilog=format_examples("argot threads share t0123456789abcdef", "argot threads share t0123456789abcdef --not"),
)
def share(
    thread: ThreadId,
    not_: Annotated[bool, typer.Option("--not", help="Stop sharing it.")] = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Let the glossary's managers read this thread's questions with unknown terms; otherwise these are only counted."""
    from argot.service.usecases.glossary.impact import thread_share

    with open_knowledge_base(home) as client:
        done = client.as_user(as_user).call(thread_share, thread=thread, share=not not_)
    template = "Managers may read %(questions)s of its questions: those that met unknown terms."
    if not done.shared:
        template = "Managers no longer read %(questions)s of its questions: those that met unknown terms."
    say(translate(template, questions=done.questions))


@thread_command("questions.shared_conversations.thread_link_add", "argot threads link t0123456789abcdef", name="link")
def link_thread(made: NewSharedLink, /, thread: ThreadId) -> None:
    """Share a thread by a link, as it is now. Its readers sign in, and see of the answers what they may read."""
    # Only the address on standard output, so that a script can read it from there.
    say(made.address)
    say_aside(
        translate(
            "Link %(id)s to %(title)s. It is not shown again. Withdraw it: argot threads unlink %(id)s",
            id=made.id,
            title=line(made.title),
        )
    )


@thread_command("questions.shared_conversations.thread_link_list", "argot threads links", name="links", json=True)
def list_links(found: list[SharedLink], /) -> None:
    """List the links by which you share threads."""
    print_table(["link", "thread", "title", "shared"], [[one.id, one.thread, one.title, one.at[:16]] for one in found])
    say_aside(translate_number("%(number)s link", "%(number)s links", len(found)))


@thread_command("questions.shared_conversations.thread_link_withdraw", "argot threads unlink l0123456789abcdef")
def unlink(found: SharedLink, /, link: Annotated[str, typer.Argument(help="Its id (`argot threads links`).")]) -> None:
    """Withdraw a link: nobody reads the thread by it any more."""
    say(translate("Withdrawn %(id)s: %(title)s", id=found.id, title=line(found.title)))


@threads.command(
    "export",
    epilog=format_examples(
        "argot threads export t0123456789abcdef > talk.md", "argot threads export t0123456789abcdef --json"
    ),
)
def export(thread: ThreadId, json_: Json = False, as_user: AsUser = None, home: Home = None) -> None:
    """Write a thread out to keep: Markdown with its sources, or everything as JSON."""
    from argot.service.usecases.questions.threads import thread_export

    with open_knowledge_base(home) as client:
        form: Literal["json", "markdown"] = "json" if json_ else "markdown"
        # `say` adds the line feed itself.
        say(client.as_user(as_user).call(thread_export, thread=thread, form=form).text.rstrip("\n"))


@threads.command(
    "feedback",
    epilog=format_examples("argot threads feedback", "argot threads feedback --jsonl --bad > judged.jsonl"),
)
def feedback(
    *,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON object a line, with the whole trace.")] = False,
    bad: Annotated[bool, typer.Option("--bad", help="Only answers that did not help.")] = False,
    good: Annotated[bool, typer.Option("--good", help="Only answers that helped.")] = False,
    since: Annotated[str, typer.Option("--since", help="Only from this day or time on.", metavar="DATE")] = "",
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """List people's judgements of answers, for managers: the shared questions and answers, as evaluation data."""
    from argot.service.json_values import convert_to_json
    from argot.service.usecases.questions.threads import feedback_list

    # Both options together mean the same as none.
    value: Literal[-1, 1] | None = None if bad == good else 1 if good else -1
    with open_knowledge_base(home) as client:
        found = client.as_user(as_user).call(feedback_list, value=value, since=since)
    if jsonl:
        for one in found:
            # One object a line, so that the file can be read line by line.
            say(json.dumps(convert_to_json(one), ensure_ascii=False))
        return
    print_table(["when", "", "question", "reason"], lambda: [_make_judged_row(one) for one in found])
    say_aside(translate_number("%(number)s answer judged", "%(number)s answers judged", len(found)))


def _make_judged_row(one: JudgedAnswer) -> list[object]:
    from argot.service.usecases.questions.threads import SharedAnswer

    # An answer that was not shared has only its verdict.
    words = [one.question, one.comment] if isinstance(one, SharedAnswer) else [translate("(not shared)"), ""]
    return [one.at[:16], "+" if one.value > 0 else "-", *map(line, words)]


@thread_command("questions.threads.thread_rename", 'argot threads rename t0123456789abcdef "Cell layout"')
def rename(found: Thread, /, thread: ThreadId, title: Annotated[str, typer.Argument(help="The new title.")]) -> None:
    """Give a thread another title."""
    say(f"{found.id}: {line(found.title)}")


@thread_command("questions.threads.thread_delete", "argot threads delete t0123456789abcdef")
def delete(found: Thread, /, thread: ThreadId) -> None:
    """Delete a thread with everything said in it."""
    say(translate("Deleted %(id)s: %(title)s", id=found.id, title=line(found.title)))


def _format_meanings(senses: Sequence[Sense]) -> str:
    return "; ".join(f"{line(one.expansion)} ({line(one.context)})" for one in senses)
