"""argot jobs and argot work: the queue of long work, and the processes that do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from argot.languages.catalogues import translate
from argot.ui.cli.command_base import (
    Home,
    Json,
    describe_progress,
    format_count,
    format_examples,
    line,
    open_knowledge_base,
    print_table,
    read_settings,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.service.usecases.operations.job_queue import JobDetails, JobShown
    from argot.work.job_types import JobMoved

jobs = typer.Typer(
    invoke_without_command=True,
    rich_markup_mode=None,
    help="List jobs (syncs, uploads, derivations) that are running, put aside or recently ended.",
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
    kind: Annotated[str, typer.Option("--kind", help="Only jobs of this kind: sync, upload.", metavar="KIND")] = "",
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
        lambda: [
            [one.id, one.kind, one.label, _describe_state(one), one.tries, one.put_at[:16], one.asked_by, one.worker]
            for one in found
        ],
    )
    for one in found:
        if one.error and one.state != "done":
            say_aside(f"{one.id}: {line(one.error)}")
    if aside := [one for one in found if one.state == "aside"]:
        say_aside(
            translate(
                "%(aside)s put aside. Retry one with: argot jobs retry %(id)s",
                aside=format_count(len(aside), "job"),
                id=aside[0].id,
            )
        )
    say_aside(format_count(len(found), "job") if found else translate("No jobs."))


@job_command("operations.job_queue.job_show", "argot jobs show 12", "argot jobs show 12 --json", json=True)
def show(found: JobDetails, /, job: JobNumber) -> None:
    """Show a job and its result."""
    one = found.job
    say(
        translate(
            "Job %(id)s: %(kind)s %(label)s, %(state)s, asked by %(asked_by)s",
            id=one.id,
            kind=one.kind,
            label=line(one.label),
            state=_describe_state(one),
            asked_by=line(one.asked_by),
        )
    )
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
            say(f"{translate(name)}: {value}")
    if found.outcome is not None:
        say_json(found.outcome)


@job_command("operations.job_queue.job_retry", "argot jobs retry 12", json=True)
def retry(found: JobShown, /, job: JobNumber) -> None:
    """Start a job again that failed, was put aside or was cancelled."""
    _say_state(found)


@job_command("operations.job_queue.job_cancel", "argot jobs cancel 12", json=True)
def cancel(found: JobShown, /, job: JobNumber) -> None:
    """Cancel a job; one that is running may take a moment to stop."""
    _say_state(found)


def work(
    at_once: Annotated[
        int, typer.Option("--jobs", help="Jobs at a time: as many that people wait for, and as many long ones.", min=1)
    ] = 2,
    kinds: Annotated[
        str,
        typer.Option("--kinds", help="The kinds of jobs to run, separated by commas; default: all.", metavar="KINDS"),
    ] = "",
    home: Home = None,
) -> None:
    """Run jobs from the queue until stopped, for services on other machines.

    Needs the same stores as those services (ARGOT_STORE, ARGOT_CHROMA_URL). On SIGTERM or Ctrl+C, running jobs may
    finish for up to ARGOT_STOP_SECONDS, and then go back into the queue.
    """
    from argot.service.operations.job_work import work_until_stopped

    settings = read_settings(home)
    work_until_stopped(settings, at_once, kinds, _tell, say_aside)


def _tell(moved: JobMoved) -> None:
    far = f" {moved.done}/{moved.total}" if moved.total else ""
    say(f"{moved.id} {moved.kind} {line(moved.label)}:{far} {translate(line(moved.what))}".rstrip())


def _say_state(one: JobShown) -> None:
    say(
        translate(
            "Job %(id)s (%(kind)s %(label)s): %(state)s",
            id=one.id,
            kind=one.kind,
            label=line(one.label),
            state=_describe_state(one),
        )
    )


def _describe_state(one: JobShown) -> str:
    if one.state == "running":
        return describe_progress("running", one.done, one.total)
    if one.state == "waiting" and one.next_at:
        return translate("waits until %(time)s", time=one.next_at[11:19])
    return translate("put aside" if one.state == "aside" else one.state)
