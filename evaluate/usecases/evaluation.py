"""Measurements: the suites of `argot evaluate`, each with a knowledge base made for it or one that is named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from argot.corpus.read_limits import ReadLimits
from argot.errors import InvalidInput
from argot.evaluate.answer_questions import AnswerSet
from argot.evaluate.answer_sets import choose_answer_set
from argot.evaluate.answer_suite import evaluate_answers
from argot.evaluate.answer_tables import build_answers_tables
from argot.evaluate.beir import load_beir
from argot.evaluate.known_answers import KnownAnswers
from argot.evaluate.known_models import IdealModel, KnownModel
from argot.evaluate.reading_suite import evaluate_reading
from argot.evaluate.reading_tables import build_reading_tables
from argot.evaluate.recorded_replies import RecordedModel, load_replies, select_recorded
from argot.evaluate.reports import (
    Table,
    build_retrieval_tables,
    build_samples_tables,
)
from argot.evaluate.retrieval_failures import write_failures
from argot.evaluate.retrieval_suite import evaluate_retrieval, make_sources
from argot.evaluate.sample_suite import (
    STAGES_OFF,
    SamplesReport,
    Split,
    evaluate_samples,
    list_effective_ways,
    load_questions,
)
from argot.evaluate.temporary_base import TemporaryBase
from argot.evaluate.usecases.evaluation_bases import (
    add_folder,
    add_glossary_file,
    open_base,
    read_input,
    require_derived,
    sample_folder,
)
from argot.evaluate.usecases.measured_models import (
    JudgeChoice,
    SideChoice,
    build_answer_judges,
    build_reference_matcher,
    list_model_servers,
    run_closing,
)
from argot.files import read_text
from argot.profile import Profile
from argot.service.storage.home_folder import require
from argot.settings import Settings

if TYPE_CHECKING:
    from argot.tools.llm.model_server import ModelServer

AnswerSide = Literal["extractive", "model", "ideal", "lying", "recorded", "recorded-lying"]
NO_JUDGES = JudgeChoice()
Progress = Callable[[str, int, int], None]
Report = tuple[dict[str, Any], list[Table]]
"""What a suite measured, as JSON and as tables for people."""


def retrieval(  # noqa: PLR0917
    beir: Path,
    glossary: Path | None,
    home: Path | None,
    profile: Profile,
    against: Profile | None,
    failures: Path | None,
    settings: Settings,
    progress: Progress,
) -> Report:
    """Measure how well the documents of a BEIR folder are found, with the glossary if one is given.

    Args:
        home: the knowledge base to measure, as for `open_base`.
        against: another profile to compare with, paired by question.
        failures: a folder for samples of the questions whose gold is not found, or not found first.

    Raises:
        InvalidInput: a file is missing or malformed, or a profile is compared with itself.
    """
    _require_different([profile, *([against] if against else [])])
    data = load_beir(beir)
    # Read these files before documents are added, so that a wrong path is reported at once.
    csv_text = read_input(glossary) if glossary else None

    def fill(base: TemporaryBase) -> None:
        base.add(make_sources(data), progress)
        if csv_text is not None:
            base.import_glossary(csv_text, str(glossary))

    with open_base(home, settings, fill) as base:
        for one in filter(None, (profile, against)):
            require_derived(base, one)
        report = asyncio.run(evaluate_retrieval(base, data, profile, csv_text, progress, against))
    if failures is not None:
        write_failures(report.failures, failures)
    return report.to_json(), build_retrieval_tables(report)


def samples(  # noqa: PLR0917
    split: Split,
    ways: list[str] | None,
    side: SideChoice,
    home: Path | None,
    profile: Profile,
    settings: Settings,
    progress: Progress,
) -> Report:
    """Ask the sample questions over the sample documents.

    Args:
        ways: keys of `STAGES_OFF`, each a change of the profile; by default all that make a difference in this base.
        home: the knowledge base to measure, as for `open_base`.

    Raises:
        InvalidInput: an unknown way, or no model server.
    """
    # Check this before the documents are embedded, which takes long.
    unknown = set(ways or ()) - STAGES_OFF.keys()
    if unknown:
        raise InvalidInput(f"There is no way '{unknown.pop()}'. Ways: {', '.join(STAGES_OFF)}.")
    servers = list_model_servers(side, settings)
    with (
        sample_folder() as folder,
        open_base(home, settings, lambda base: add_folder(base, folder, progress)) as base,
    ):
        questions = load_questions(read_text(folder / "questions.jsonl"), split)
        wanted = ways or list_effective_ways(base)

        def measure_side(server: ModelServer | None) -> SamplesReport:
            on_progress = name_steps(progress, server, side)
            return run_closing(evaluate_samples(base, questions, split, wanted, profile, on_progress, server), server)

        reports = {name_side(server): measure_side(server) for server in servers}
    tables = [
        replace(table, title=f"{table.title}, {name}") if side != "extractive" else table
        for name, report in reports.items()
        for table in build_samples_tables(report)
    ]
    return join_sides({name: report.to_json() for name, report in reports.items()}), tables


def choose_answer_questions(  # noqa: PLR0917
    file: Path | None,
    documents: Path | None,
    public: str | None,
    home: Path | None,
    split: str | None,
    settings: Settings,
) -> AnswerSet:
    """Return the questions for `answers`: those of a file, of a public set, or of the samples (`choose_answer_set`).

    Raises:
        InvalidInput: only part of what is needed is named, or something named cannot be read.
    """
    return choose_answer_set(file, documents, public, settings.datasets, split, stored=home is not None)


def answers(  # noqa: PLR0917
    questions: AnswerSet,
    glossary: Path | None,
    home: Path | None,
    profiles: Sequence[Profile],
    side: AnswerSide,
    settings: Settings,
    progress: Progress,
    judges: JudgeChoice = NO_JUDGES,
    replies: Path | None = None,
) -> Report:
    """Measure whether the questions are answered completely, with correct citations, and only if the documents hold the
    answer.

    Args:
        glossary: a glossary in CSV form; a contexts.csv beside it is read too.
        home: the knowledge base to measure, as for `open_base`; an existing one keeps its own glossary.
        side: "ideal" and "lying" use a model server of Argot's own that knows the reference answers; "recorded" and
            "recorded-lying" one that repeats replies, and only the questions with a reply are asked.
        judges: the judges of the answers, in addition to the measures, and their model.
        replies: the file of recorded replies.

    Raises:
        InvalidInput: a file is malformed, a document cannot be read, there is no model server, two profiles have the
            same name, a judge cannot judge that many profiles, or replies are given without their side or the reverse.
        NotFound, KnowledgeBaseBusy: the knowledge base does not exist, or a service uses it.
    """
    _require_different(profiles)
    # Check this before the documents are embedded, which takes long.
    questions, model = _choose_known_model(questions, side, replies)
    judging, matcher = build_answer_judges(judges, len(profiles), settings), build_reference_matcher(judges, settings)
    asked = [one for one in (*(judge.model for judge in judging), matcher) if one is not None]
    with ExitStack() as stack:
        known = stack.enter_context(KnownAnswers(model)) if model else None
        if known is not None:
            settings = settings.replace(model_url=known.url, model=side)
        server = list_model_servers("extractive" if side == "extractive" else "model", settings)[0]

        def fill(base: TemporaryBase) -> None:
            # The glossary first: it is refused at once if it is malformed, and documents take long.
            if csv_file := glossary or questions.glossary:
                add_glossary_file(base, csv_file)
            base.add(questions.sources, progress)

        if home is not None and not questions.sources:
            require(home)  # there is nothing to make it from
        base = stack.enter_context(open_base(home, settings, fill))
        for profile in profiles:
            require_derived(base, profile)
        work = evaluate_answers(
            base, questions.name, questions.questions, profiles, progress, server, known, judging, matcher
        )
        report = run_closing(work, server, *(one.server for one in asked))
    return report.to_json(), build_answers_tables(report)


def _choose_known_model(
    questions: AnswerSet, side: AnswerSide, replies: Path | None
) -> tuple[AnswerSet, KnownModel | None]:
    """Return the model that knows the answers, if the side has one, and the questions to which it knows them."""
    is_recorded = side in ("recorded", "recorded-lying")
    if is_recorded != (replies is not None):
        raise InvalidInput(
            f"--side {side} needs a file of recorded replies: --side {side} replies.jsonl."
            if is_recorded
            else f"--side {side} takes no file. Repeat the replies of {replies} with --side recorded {replies}."
        )
    if replies is not None:
        recorded = load_replies(replies)
        return select_recorded(questions, recorded), RecordedModel(recorded, lies=side == "recorded-lying")
    return questions, IdealModel(lies=side == "lying") if side in ("ideal", "lying") else None


def _require_different(profiles: Sequence[Profile]) -> None:
    names = [profile.name for profile in profiles]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidInput(f"The profile '{twice}' is named twice: give --against another one, or change a switch.")


def reading(folder: Path, worst: int, settings: Settings, progress: Progress) -> Report:
    """Measure which words of a folder's files are read, left out by a rule, or lost.

    Raises:
        InvalidInput: the folder does not exist, or has no file.
    """
    report = evaluate_reading(folder, ReadLimits.from_settings(settings), progress)
    return report.to_json(), build_reading_tables(report, worst)


def name_side(server: ModelServer | None) -> str:
    return "extractive" if server is None else "model"


def name_steps(progress: Progress, server: ModelServer | None, side: SideChoice) -> Progress:
    """Return a progress function whose step names include the side if both sides are measured."""
    if side != "both":
        return progress
    return lambda step, done, total: progress(f"{name_side(server)}: {step}", done, total)


def join_sides(reports: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the report itself if only one side was measured, otherwise both reports by side."""
    return next(iter(reports.values())) if len(reports) == 1 else reports
