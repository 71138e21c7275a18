"""argot threads."""

from __future__ import annotations

from typing import Annotated

import typer

from argot.ui.cli_answer import print_turn
from argot.ui.cli_base import AsUser, Home, Json, examples, knowledge_base, line, note, say, say_json, table

threads = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Your own conversations.")

ThreadId = Annotated[str, typer.Argument(help="Its id (see `argot threads list`).", metavar="THREAD")]


def register(app: typer.Typer) -> None:
    app.add_typer(threads, name="threads")


@threads.command("list", epilog=examples("argot threads list"))
def list_threads(json_: Json = False, as_user: AsUser = None, home: Home = None) -> None:
    """List your threads, the latest first."""
    with knowledge_base(home) as client:
        found = client.call("thread_list", as_user=as_user)
    if json_:
        say_json(found)
        return
    table(["thread", "title", "last used"], [[one["id"], one["title"], one["updated_at"][:16]] for one in found])
    note(f"{len(found)} threads")


@threads.command("show", epilog=examples("argot threads show t0123456789abcdef"))
def show(thread: ThreadId, json_: Json = False, as_user: AsUser = None, home: Home = None) -> None:
    """Show the questions and answers of a thread, as far as you may still read what they rest on."""
    with knowledge_base(home) as client:
        found = client.call("thread_read", as_user=as_user, thread=thread)
    if json_:
        say_json(found)
        return
    say(f"{line(found['title'])} ({found['id']})")
    for turn in found["turns"]:
        say(f"\n> {line(turn['question'])}\n")
        print_turn(turn)


@threads.command("rename", epilog=examples('argot threads rename t0123456789abcdef "Cell layout"'))
def rename(
    thread: ThreadId,
    title: Annotated[str, typer.Argument(help="The new title.")],
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Give a thread another title."""
    with knowledge_base(home) as client:
        found = client.call("thread_rename", as_user=as_user, thread=thread, title=title)
    say(f"{found['id']}: {line(found['title'])}")


@threads.command("delete", epilog=examples("argot threads delete t0123456789abcdef"))
def delete(thread: ThreadId, as_user: AsUser = None, home: Home = None) -> None:
    """Delete a thread with everything said in it."""
    with knowledge_base(home) as client:
        found = client.call("thread_delete", as_user=as_user, thread=thread)
    say(f"Deleted {found['id']}: {line(found['title'])}")
