"""The options that several commands of `argot evaluate` have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from argot.types import SearchChoice

if TYPE_CHECKING:
    from argot.profile import Profile
    from argot.settings import Settings

AsJson = Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")]
ProfileName = Annotated[
    str, typer.Option("--profile", help="The profile to measure, or a profile file.", metavar="NAME_OR_FILE")
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", help="A switch of the profile, e.g. rerank=off; repeatable.", metavar="SWITCH=VALUE"),
]
Search = Annotated[
    SearchChoice | None,
    typer.Option("--search", help="What to search, by RAIDD's names: see argot ask --help."),
]
Base = Annotated[
    Path | None,
    typer.Option(
        "--home",
        help="A knowledge base with the documents; it is not changed. If it does not exist, it is made and kept.",
        metavar="DIR",
    ),
]
Judges = Annotated[
    list[str] | None,
    typer.Option("--judge", help="Ask correct, raidd, geval, aspects, ranking, rules or references; repeatable."),
]
JudgeUrl = Annotated[
    str,
    typer.Option(
        "--judge-url", help="The judging model's server, instead of ARGOT_MODEL_URL; ARGOT_JUDGE_KEY: its key."
    ),
]
JudgeModel = Annotated[str, typer.Option("--judge-model", help="The judging model's name.", metavar="NAME")]
SideChoice = Literal["extractive", "model", "both"]
Side = Annotated[
    SideChoice,
    typer.Option("--side", help="Without a language model, with the one at ARGOT_MODEL_URL, or both in turn."),
]
Seed = Annotated[int, typer.Option("--seed", help="The seed of the first trial; each later trial adds 1.", metavar="N")]
Split = Annotated[
    Literal["validation", "test"],
    typer.Option("--split", help="The half of the sample questions: validation for choosing, test for reporting."),
]


def choose_profile(
    name_or_file: str, changes: list[str] | None, settings: Settings, search: SearchChoice | None = None
) -> Profile:
    from argot.profile import SEARCHES, change_profile, parse_changes
    from argot.profile_files import load_profile

    profile = load_profile(name_or_file, [], settings.home)
    return change_profile(profile, {**(SEARCHES[search] if search else {}), **parse_changes(changes or [])})
