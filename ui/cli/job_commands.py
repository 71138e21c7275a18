"""argot jobs and argot work: long work that goes through a queue, and who does it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from argot.ui.cli.command_base import (
    Home,
    Json,
    format_count,
    format_examples,
    line,
    open_knowledge_base,
    print_table,
    say,
    say_aside,
    say_json,
    settings_for,
)
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.service.usecases.operations.job_queue import JobDetails, JobShown
    from argot.work.job_types import JobMoved

jobs = typer.Typer(
    invoke_without_command=True,
    rich_markup_mode=None,
    help="List jobs: syncs, files that were sent, texts to be derived. Those under way, put aside, or ended lately.",
    epilog=format_examples("argot jobs", "argot jobs --kind sync", "argot jobs --json"),
)
job_command = UseCaseCommands(jobs)

JobNumber = Annotated[int, typer.Argument(help="Its number (see `argot jobs`).", metavar="ID", min=0)]


def register(app: typer.Typer) -> None:
    app.add_typer(jobs, name="jobs")
    app.command(epilog=format_examples("argot work", "argot work --jobs 4", "argot work --kinds sync,derive"))(work)


@jobs.callback()
def list_jobs(
    context: typer.Context,
    kind: Annotated[str, typer.Option("--kind", help="Of this kind alone: sync, upload.", metavar="KIND")] = "",
    json_: Json = False,
    home: Home = None,
) -> None:
    if context.invoked_subcommand is not None:
        return
    from argot.service.usecases.operations.job_queue import job_list

    with open_knowledge_base(home) as client:
        found = client.call(job_list, kind=kind)
    if json_:
        say_json(found)
        return
    print_table(
        ["id", "kind", "of", "state", "tries", "put", "who", "worker"],
        [
            [one.id, one.kind, one.label, _describe_state(one), one.tries, one.put_at[:16], one.asked_by, one.worker]
            for one in found
        ],
    )
    for one in found:
        if one.error and one.state != "done":
            say_aside(f"{one.id}: {line(one.error)}")
    if aside := [one for one in found if one.state == "aside"]:
        say_aside(f"{format_count(len(aside), 'job')} put aside. Put one back with: argot jobs retry {aside[0].id}")
    say_aside(format_count(len(found), "job") if found else "No jobs.")


@job_command("queue_of_jobs.job_show", "argot jobs show 12", "argot jobs show 12 --json", json=True)
def show(found: JobDetails, /, job: JobNumber) -> None:
    """Show a job, and what came of it."""
    one = found.job
    say(f"Job {one.id}: {one.kind} {line(one.label)}, {_describe_state(one)}, asked by {line(one.asked_by)}")
    for name, value in (
        ("put", one.put_at),
        ("begun", one.started_at),
        ("ended", one.ended_at),
        ("next try", one.next_at),
        ("tries", one.tries),
        ("worker", one.worker),
        ("error", line(one.error)),
    ):
        if value:
            say(f"{name}: {value}")
    if found.outcome is not None:
        say_json(found.outcome)


@job_command("queue_of_jobs.job_retry", "argot jobs retry 12", json=True)
def retry(found: JobShown, /, job: JobNumber) -> None:
    """Put a job back that failed, was put aside or cancelled: it begins anew."""
    _say_state(found)


@job_command("queue_of_jobs.job_cancel", "argot jobs cancel 12", json=True)
def cancel(found: JobShown, /, job: JobNumber) -> None:
    """Let a job not begin, or stop it; it may run on for a moment."""
    _say_state(found)


def work(
    at_once: Annotated[
        int, typer.Option("--jobs", help="So many at a time of those somebody waits for, and of long ones.", min=1)
    ] = 2,
    kinds: Annotated[
        str, typer.Option("--kinds", help="The kinds to take, between commas; else all.", metavar="KINDS")
    ] = "",
    home: Home = None,
) -> None:
    """Take jobs out of the queue and do them until stopped, beside services on other machines.

    Needs the same stores as those (ARGOT_STORE, ARGOT_CHROMA_URL). SIGTERM or Ctrl+C lets jobs under way end, or gives
    them back after ARGOT_STOP_SECONDS.
    """
    from argot.service.operations.job_work import work_until_stopped

    settings = settings_for(home)
    work_until_stopped(settings, at_once, kinds, _tell, say_aside)


def _tell(moved: JobMoved) -> None:
    far = f" {moved.done} of {moved.total}" if moved.total else ""
    say(f"{moved.id} {moved.kind} {line(moved.label)}:{far} {line(moved.what)}".rstrip())


def _say_state(one: JobShown) -> None:
    say(f"Job {one.id} ({one.kind} {line(one.label)}): {_describe_state(one)}")


def _describe_state(one: JobShown) -> str:
    if one.state == "running" and one.total:
        return f"running {one.done} of {one.total}"
    if one.state == "waiting" and one.next_at:
        return f"waits until {one.next_at[11:19]}"
    return one.state
