"""argot glossary queue, propose, accept, merge, dismiss, approve, retire, effects: from a missed term to a meaning."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from argot.errors import InvalidInput
from argot.files import read_text
from argot.languages.catalogues import translate
from argot.ui.cli.command_base import (
    AsUser,
    Audience,
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
)
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.service.usecases.glossary.impact import QuestionAsRead, QuestionImpact
    from argot.service.usecases.glossary.proposal_results import AcceptedProposals, Proposal, ProposalShown, QueuedMiss
    from argot.service.usecases.glossary.sense_results import SenseShown
    from argot.service.usecases.glossary.suggestions import SentDigest, SuggestionShown
    from argot.service.usecases.usecase_registry import UseCase
    from argot.types import Sense

ProposalId = Annotated[int, typer.Argument(help="Its number (see `argot glossary queue`).", metavar="PROPOSAL", min=0)]
SenseId = Annotated[int, typer.Argument(help="Its number (see `argot glossary list`).", metavar="SENSE", min=0)]
Why = Annotated[str, typer.Option("--why", help="The reason, for the history.")]


def register(glossary: typer.Typer) -> None:
    glossary.command("queue", epilog=format_examples("argot glossary queue", "argot glossary queue --json"))(queue)
    plain = UseCaseCommands(glossary, as_user=True)
    plain("glossary.impact.glossary_propose", "argot glossary propose FTLX", json=True)(propose)
    glossary.command(
        "accept",
        epilog=format_examples(
            'argot glossary accept 3 --context "NAND Design" --approve',
            "argot glossary accept 3 4 7 --context General",
            "argot glossary accept --least 0.8 --context General",
        ),
    )(accept)
    glossary.command("approve", epilog=format_examples("argot glossary approve 17"))(approve)
    glossary.command("retire", epilog=format_examples('argot glossary retire 17 --why "nobody says it any more"'))(
        retire
    )
    plain(
        "glossary.suggestions.term_suggest",
        'argot glossary suggest QRL "quarterly rebate list" --context Sales',
        json=True,
    )(suggest)
    plain("glossary.suggestions.glossary_digest", "argot glossary digest")(digest)
    plain("glossary.proposals.glossary_merge", "argot glossary merge 3 17")(merge)
    glossary.command("dismiss", epilog=format_examples("argot glossary dismiss 3", "argot glossary dismiss FTLX"))(
        dismiss
    )
    glossary.command(
        "effects",
        epilog=format_examples(
            "argot glossary effects 17", "argot glossary effects --proposal 3 --questions questions.jsonl"
        ),
    )(effects)


def queue(
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Maximum number of rows.", metavar="N")] = 50,
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """List the review queue: missed terms, with the meanings found in documents and similar terms."""
    from argot.service.usecases.glossary.proposals import glossary_proposals, glossary_queue

    with open_knowledge_base(home) as client:
        found = client.as_user(as_user).call(glossary_queue, limit=limit)
        # All of them, because not every proposal is for a missed term.
        proposals = client.as_user(as_user).call(glossary_proposals)
    if json_:
        say_json({"misses": found, "proposals": proposals})
        return
    headings = ["term", "times", "last", "proposed", "like it", "question"]
    print_table(headings, [_make_miss_row(miss) for miss in found])
    in_queue = {one.id for miss in found for one in miss.proposals}
    others = [one for one in proposals if one.id not in in_queue]
    if others:
        say("\n" + translate("Other proposals:"))
        # Proposals come oldest first; the surest are worth reading first.
        others.sort(key=lambda one: -(one.score or 0))
        print_table(
            ["proposal", "term", "expansion", "from", "sure"],
            lambda: [_make_proposal_row(one) for one in others[:limit]],
        )
    say_aside(
        translate(
            "%(found)s nobody has defined, %(proposals)s",
            found=format_count(len(found), "term"),
            proposals=format_count(len(proposals), "proposal"),
        )
    )


def _make_miss_row(miss: QueuedMiss) -> list[object]:
    offered = ", ".join(f"{one.id}: {one.expansion or one.description}" for one in miss.proposals)
    question = miss.questions[0] if miss.questions else ""
    return [miss.term, miss.count, miss.last[:10], offered, ", ".join(miss.similar), question]


def _make_proposal_row(one: Proposal | ProposalShown) -> list[object]:
    return [one.id, one.term, one.expansion or one.description, translate(one.origin), one.score or ""]


def propose(found: list[ProposalShown], /, term: Annotated[str, typer.Argument(help="The term to look for.")]) -> None:
    """Search the documents for the meaning of a term, and propose it with its quotations."""
    print_table(
        ["proposal", "term", "expansion", "from", "sure", "evidence"],
        lambda: [[*_make_proposal_row(one), one.evidence[0].quote if one.evidence else ""] for one in found],
    )
    say_aside(
        translate("%(number)s proposed", number=len(found)) if found else translate("No document says what it means.")
    )


def suggest(
    made: SuggestionShown,
    /,
    term: Annotated[str, typer.Argument(help="The term.")],
    expansion: Annotated[str, typer.Argument(help="What it stands for.")] = "",
    description: Annotated[str, typer.Option("--description", help="What it is, in a sentence.")] = "",
    context: Annotated[str, typer.Option("--context", help="Who says it: a context. Its readers read this.")] = "",
) -> None:
    """Suggest what a term means: those who look after the glossary decide."""
    say(f"{made.id}: {line(made.term)}: {line(made.expansion or made.description)}")
    say_aside(translate("Suggested, confirmed by %(confirmations)s.", confirmations=made.confirmations))


def digest(sent: list[SentDigest], /) -> None:
    """Send the new suggestions to the contacts of the contexts by mail now, instead of once a day."""
    print_table(["contact", "suggestions", "error"], [[line(one.contact), one.suggestions, one.error] for one in sent])
    say_aside(translate("%(number)s sent", number=sum(not one.error for one in sent)))


def accept(
    *,
    proposals: Annotated[
        list[int] | None, typer.Argument(help="Their numbers (see `argot glossary queue`).", metavar="PROPOSAL")
    ] = None,
    least: Annotated[
        float | None, typer.Option("--least", min=0, max=1, help="All proposals that are at least this sure, e.g. 0.8.")
    ] = None,
    context: Annotated[str | None, typer.Option(help="The context it has this meaning in.")] = None,
    expansion: Annotated[str | None, typer.Option(help="What it stands for, if not as proposed.")] = None,
    description: Annotated[str | None, typer.Option(help="A description of it, if not as proposed.")] = None,
    alias: Annotated[
        list[str] | None, typer.Option("--alias", help="Another spelling; repeatable.", metavar="ALIAS")
    ] = None,
    approved: Annotated[bool, typer.Option("--approve", help="Approve it at once.")] = False,
    audience: Audience = None,
    why: Why = "",
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Accept a proposal as a draft or an approved meaning; several, as they are, in one change."""
    from argot.service.usecases.glossary.proposals import EditedProposal, glossary_accept, glossary_accept_many

    numbers = proposals or []
    status: Literal["draft", "approved"] = "approved" if approved else "draft"
    edited = expansion or description or alias or audience
    if least is not None or len(numbers) != 1:
        # Only a single proposal can be edited. Numbers and --least exclude each other, and one of them is needed.
        if edited or (least is None) == (not numbers):
            raise InvalidInput("Name one proposal to edit it, several to take them as they stand, or only --least.")
        with open_knowledge_base(home) as client:
            done = client.as_user(as_user).call(
                glossary_accept_many,
                proposal_ids=numbers or None,
                least=None if numbers else least,
                context=context or "",
                status=status,
                why=why,
            )
        _say_accepted(done)
        return
    with open_knowledge_base(home) as client:
        sense = client.as_user(as_user).call(
            glossary_accept,
            proposal_id=numbers[0],
            sense=EditedProposal(
                context=context,
                expansion=expansion,
                description=description,
                aliases=alias or [],
                audience=audience,
            ),
            status=status,
            why=why,
        )
    say(_describe_sense(sense))
    if not approved:
        say_aside(
            translate(
                "Answers do not use a draft. See what it would change: argot glossary effects %(id)s", id=sense.id
            )
        )
        say_aside(translate("Approve it with: argot glossary approve %(id)s", id=sense.id))


def _say_accepted(done: AcceptedProposals) -> None:
    for sense in done.senses:
        say(_describe_sense(sense))
    for one in done.left:
        say_aside(
            translate("proposal %(id)s %(term)s: %(reason)s", id=one.id, term=line(one.term), reason=line(one.reason))
        )
    undo = translate("; undo it with: argot glossary roll-back %(change)s", change=done.change) if done.change else ""
    say_aside(
        translate("%(senses)s accepted, %(left)s left%(undo)s", senses=len(done.senses), left=len(done.left), undo=undo)
    )


def approve(sense: SenseId, why: Why = "", as_user: AsUser = None, home: Home = None) -> None:
    """Approve a draft: answers use it from now on. Whoever asked for the term is notified."""
    from argot.service.usecases.glossary.senses import glossary_approve

    _change_status(glossary_approve, sense, why, as_user, home)


def retire(sense: SenseId, why: Why = "", as_user: AsUser = None, home: Home = None) -> None:
    """Retire a sense: answers no longer use it. It can still be read, and approved again."""
    from argot.service.usecases.glossary.senses import glossary_retire

    _change_status(glossary_retire, sense, why, as_user, home)


def _change_status(
    case: UseCase[..., SenseShown], sense: int, why: str, as_user: str | None, home: Path | None
) -> None:
    from argot.service.usecases.glossary.senses import glossary_sense

    # With the version just read, so that a change in between is refused, not approved unseen.
    with open_knowledge_base(home) as client:
        seen = client.as_user(as_user).call(glossary_sense, sense_id=sense)
        say(_describe_sense(client.as_user(as_user).call(case, sense_id=sense, version=seen.version, why=why)))


def merge(merged: Sense, /, proposal_id: ProposalId, sense_id: SenseId, why: Why = "") -> None:
    """Make a proposed term another name of an existing sense."""
    say(
        translate(
            "%(sense)s; also called %(aliases)s",
            sense=_describe_sense(merged),
            aliases=", ".join(map(line, merged.aliases)),
        )
    )


def dismiss(
    what: Annotated[str, typer.Argument(help="A proposal's number, or a missed term.", metavar="PROPOSAL|TERM")],
    undo: Annotated[bool, typer.Option("--undo", help="Undo the dismissal of a proposal.")] = False,
    why: Why = "",
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Dismiss a proposal, or a missed term that needs no meaning, for good."""
    from argot.service.usecases.glossary.proposals import glossary_dismiss, glossary_dismiss_miss, glossary_reopen

    with open_knowledge_base(home) as client:
        if undo:
            # `isascii` as well, because "²" is a digit but not a number.
            if not (what.isascii() and what.isdigit()):
                raise InvalidInput(f"Unknown proposal number {what}. Only the dismissal of a proposal can be undone.")
            client.as_user(as_user).call(glossary_reopen, proposal_id=int(what))
            say(translate("Proposal %(what)s is open again", what=what))
        # Only digits are a proposal, anything else is a term.
        elif what.isascii() and what.isdigit():
            client.as_user(as_user).call(glossary_dismiss, proposal_id=int(what), why=why)
            say(translate("Dismissed proposal %(what)s", what=what))
        else:
            client.as_user(as_user).call(glossary_dismiss_miss, term=what, why=why)
            say(translate("Dismissed %(what)s: it needs no meaning", what=line(what)))


def effects(
    *,
    sense: Annotated[int | None, typer.Argument(help="A draft's number.", metavar="SENSE")] = None,
    proposal: Annotated[int | None, typer.Option("--proposal", help="A proposal's number instead.")] = None,
    context: Annotated[str, typer.Option(help="The context for a proposal.")] = "",
    retire: Annotated[bool, typer.Option("--retire", help="Show how retiring the sense would change them.")] = False,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="More questions: one a line, or JSON lines with `question`.")
    ] = None,
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Show how approving a draft would change past questions with its term, before and after. Nothing is stored."""
    from argot.service.usecases.glossary.impact import glossary_effects

    # Read here, because the service may not be able to.
    question_list = _read_questions(questions) if questions else []
    with open_knowledge_base(home) as client:
        found = client.as_user(as_user).call(
            glossary_effects,
            sense_id=sense,
            proposal_id=proposal,
            context=context,
            change="retire" if retire else "approve",
            questions=question_list,
        )
    if json_:
        say_json(found)
        return
    # Only these: unchanged questions say nothing about the draft.
    changed = [row for row in found.rows if row.changed]
    for row in changed:
        say(f"\n{line(row.question)}")
        print_table(["", "before", "after"], partial(_make_side_rows, row))
    left = translate(", %(number)s left out for lack of time", number=found.left_out) if found.left_out else ""
    say_aside(
        translate(
            "%(questions)s with it, %(changed)s of them would change%(left)s",
            questions=format_count(found.questions, "past question"),
            changed=found.changed,
            left=left,
        )
    )


def _make_side_rows(row: QuestionImpact) -> list[list[object]]:
    sides = (row.before, row.after)
    rows: list[list[object]] = [[translate("read as"), *map(_describe_reading, sides)]]
    # With the same passages on both sides, the rows would be repeated.
    if "passages" in row.changed:
        for rank in range(max(len(side.passages) for side in sides)):
            rows.append(
                [translate("passage %(number)s", number=rank + 1), *(_format_passage(side, rank) for side in sides)]
            )
    return rows


def _describe_reading(side: QuestionAsRead) -> str:
    guess = f" ({translate('a guess')})"
    read = [f"{one.surface} = {one.expansion}{guess if one.guess else ''}" for one in side.terms]
    unknown = [translate("%(term)s unknown", term=term) for term in side.unknown]
    return ", ".join([*read, *unknown]) or translate("no term")


def _format_passage(side: QuestionAsRead, rank: int) -> str:
    # One side may have found fewer passages.
    if rank >= len(side.passages):
        return ""
    one = side.passages[rank]
    return " › ".join(part for part in (one.document, one.heading) if part)


def _read_questions(path: Path) -> list[str]:
    try:
        lines = [text for text in read_text(path).splitlines() if text.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as UTF-8 text: {error}. Give another file.") from error
    return [_read_question(text, number, path) for number, text in enumerate(lines, 1)]


def _read_question(text: str, number: int, path: Path) -> str:
    # A file may mix both, because no question begins with a brace.
    if not text.lstrip().startswith("{"):
        return text
    try:
        return str(json.loads(text)["question"])
    except (ValueError, KeyError) as error:
        raise InvalidInput(
            f"{path}, line {number}: not a JSON object with a `question`: {error}. Correct it."
        ) from error


def _describe_sense(sense: Sense) -> str:
    return f"{line(sense.term)} ({line(sense.context)}): {line(sense.expansion)} [{sense.status}, {sense.id}]"
