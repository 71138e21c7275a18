"""The senses of the question's terms that the documents bear out, and removal of passages that use other senses.

A term is doubtful if the documents bear out none of its senses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from argot.graph.run_context import RunContext
from argot.graph.state import State
from argot.graph.state_records import CHOSEN_BY_ASKER, get_term, load_senses
from argot.tools.reading.definition_questions import find_asked_meanings
from argot.tools.senses.rival_senses import find_rival_passages
from argot.tools.senses.sense_support import SupportFinder, TermSupport
from argot.types import Hit, Mention, Sense


def find_supported(
    mentions: Sequence[Mention], senses: Mapping[str, Sequence[Sense]], state: State, run: RunContext
) -> dict[str, TermSupport]:
    """Return the support of each term that has senses.

    A term whose sense the asker has chosen needs no support, nor does any term in the profiles `strict` and `paper`,
    which take the glossary as it is. If the meaning of a term is asked for, the glossary answers, whatever the
    documents contain.
    """
    if not any(senses.values()):
        return {}
    chosen = {*state["picked"], *state.get("remembered", {})}
    finder = build_finder(run)
    names = [context.name for context in run.glossary.contexts.all(run.principal)]
    asked = {get_term(mention) for mention in find_asked_meanings(state["stand_alone_question"], mentions, names)}
    found = {}
    for term, known in senses.items():
        if known:
            support = TermSupport(tuple(known)) if finder is None or term in chosen else finder.find(term, known)
            lacking = not (support.senses or support.spelt_out)
            found[term] = TermSupport(tuple(known), is_borne_out=False) if lacking and term in asked else support
    return found


def build_finder(run: RunContext) -> SupportFinder | None:
    """Return the finder that weighs senses in this run; None if every sense counts."""
    if run.profile.misses == "strict":
        return None
    contexts = run.glossary.contexts.all(run.principal)
    vouched = {context.name for context in contexts if context.description or context.contact}
    return SupportFinder(run.corpus, run.principal, run.signatures, vouched | {run.asker_context or ""})


def drop_other_senses(hits: Sequence[Hit], state: State, run: RunContext) -> list[Hit]:
    """Return the hits without passages that use a term in another sense than the asker chose."""
    # An inferred sense may be the wrong one, so only a chosen sense excludes passages.
    chosen = {one["term"]: one["sense"] for one in state["readings"] if one["chosen_by"] in CHOSEN_BY_ASKER}
    if not chosen:
        return [*hits]
    others: set[str] = set()
    for term, meant in chosen.items():
        senses = load_senses([term], run)
        # A sense that the asker may no longer read gives no evidence, and all others would count as its rivals.
        if meant in senses:
            others |= find_rival_passages(run.corpus, run.principal, senses[meant], [*senses.values()], run.signatures)
    return [hit for hit in hits if hit.passage.id not in others]
