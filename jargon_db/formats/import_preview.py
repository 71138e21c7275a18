"""The changes that importing a glossary file would make."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import zip_longest
from typing import Any

from argot.errors import NotAllowed, RowProblem
from argot.jargon_db.formats.column_use import ColumnUse
from argot.jargon_db.formats.everyday_words import EverydayChoice, decide_everyday_words, list_everyday_names
from argot.jargon_db.formats.glossary_file import ContextInput, GlossaryFile, RejectedRow
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.inputs import SenseInput, clean_name, list_given_fields, normalise_context
from argot.jargon_db.store.relation_rights import hide_relations
from argot.jargon_db.store.rows import read_context, read_sense, readable
from argot.types import Context, Principal, Sense

_Key = tuple[str, str, str]
CONTEXTS = "SELECT * FROM contexts WHERE removed = 0 ORDER BY key"
_MAX_NAMED_ROWS = 10
SENSES = "SELECT * FROM sense_rows ORDER BY key, spelling, context_key, id"


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """The changes that an import would make; nothing is stored.

    `updated` contains each sense before and after. With `problems` only an import in part stores anything: `rejected`
    stays out. `columns` are those recognised in a table, `notices` tell what was understood differently from what is
    written, `everyday` are new names that are everyday words. `drafts` are the terms of new drafts, and `conflicting`
    the terms (each with its context) that would have a further meaning in the same context.
    """

    added: tuple[Sense, ...] = ()
    updated: tuple[tuple[Sense, Sense], ...] = ()
    unchanged: int = 0
    problems: tuple[RowProblem, ...] = ()
    contexts_added: tuple[str, ...] = ()
    contexts_updated: tuple[tuple[Context, Context], ...] = ()
    ignored: Mapping[str, int] = field(default_factory=dict)
    columns: tuple[ColumnUse, ...] = ()
    notices: tuple[RowProblem, ...] = ()
    rejected: tuple[RejectedRow, ...] = ()
    everyday: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    conflicting: tuple[str, ...] = ()

    @property
    def stamp(self) -> str:
        """Fingerprint that changes as soon as importing the same file would make different changes."""
        senses = [(one.id, one.version) for one, _ in self.updated]
        contexts = [(one.name, one.description, one.contact, sorted(one.audience)) for one, _ in self.contexts_updated]
        counts = [len(self.added), self.unchanged, len(self.problems), senses, self.contexts_added, contexts]
        return blake2b(json.dumps(counts).encode(), digest_size=12).hexdigest()


def preview_import(
    connections: Connections, principal: Principal, found: GlossaryFile, everyday: EverydayChoice = "draft"
) -> ImportPreview:
    """Return the changes that this principal's import of the file would make."""
    contexts = {normalise_context(one.name): one for one in map(read_context, connections.select(CONTEXTS))}
    keys = {key_of(one) for one in found.senses}
    stored = _find_stored(connections, keys, principal)
    found = leave_out_refused(principal, found, contexts, stored)
    before = stored.known
    found, words = decide_everyday_words(found, set(before), everyday)
    given: dict[_Key, list[SenseInput]] = {}
    for one in found.senses:
        given.setdefault(key_of(one), []).append(one)
    added, updated = [], []
    for key, inputs in given.items():
        known = before.get(key)
        after = _apply_inputs(known, inputs, contexts)
        if known is None:
            added.append(after)
        elif after != known:
            updated.append((known, after))
    unchanged = len(given) - len(added) - len(updated) + found.unchanged
    made, changed = _compare_contexts(found, contexts)
    return ImportPreview(
        tuple(added), tuple(updated), unchanged, tuple(found.problems), made, changed, found.ignored,
        tuple(found.columns), tuple(found.notices), tuple(found.rejected), words,
        tuple(one.term for one in added if one.status == "draft"),
        _find_conflicting_terms(stored, added),
    )  # fmt: skip


def _find_conflicting_terms(stored: _StoredSenses, added: Sequence[Sense]) -> tuple[str, ...]:
    """Return the terms of new approved senses that then mean several things in one context, as "SME (Delivery)". Only
    senses that the principal may read count, so that the list reveals no other.
    """
    new: dict[tuple[str, str], list[Sense]] = {}
    for one in added:
        if one.status == "approved":
            new.setdefault((normalise(one.term), normalise_context(one.context)), []).append(one)
    meanings = {key: {normalise(one.expansion) for one in senses} for key, senses in new.items()}
    conflicting = (key for key, own in meanings.items() if len(own | stored.meanings.get(key, set())) > 1)
    return tuple(f"{new[key][0].term} ({new[key][0].context})" for key in conflicting)


def prepare_import(
    connections: Connections,
    principal: Principal | None,
    name: str,
    found: GlossaryFile,
    everyday: EverydayChoice,
    *,
    partial: bool,
) -> tuple[GlossaryFile, tuple[str, ...]]:
    """Return the entries of a file to store, and the everyday words among its new names. A partial import leaves out
    what the principal may not change.

    Raises:
        NotAllowed: the import is not partial, and the principal may not change some rows; they are named.
    """
    words: tuple[str, ...] = ()
    if principal is not None:
        contexts = {normalise_context(one.name): one for one in map(read_context, connections.select(CONTEXTS))}
        # Reading all senses takes a while, and few imports hold anything that is not the importer's to change.
        if partial or _find_refused_contexts(principal, found, contexts):
            stored = _find_stored(connections, {key_of(one) for one in found.senses}, principal)
            before, found = len(found.rejected), leave_out_refused(principal, found, contexts, stored)
            if not partial and found.rejected[before:]:
                raise _build_refusal(name, found.rejected[before:])
    if everyday != "take" and any(map(list_everyday_names, found.senses)):
        known = {
            (row["spelling"], row["context_key"], clean_name(row["expansion"])) for row in connections.select(SENSES)
        }
        found, words = decide_everyday_words(found, known, everyday)
    return found, words


def _build_refusal(name: str, rejected: Sequence[RejectedRow]) -> NotAllowed:
    told = [f"{one.place}: {one.reason}" for one in rejected[:_MAX_NAMED_ROWS]]
    more = [f"... and {len(rejected) - _MAX_NAMED_ROWS:,} more"] if len(rejected) > _MAX_NAMED_ROWS else []
    reasons = "".join(f"\n  {one}" for one in (*told, *more))
    return NotAllowed(f"{name}: nothing was imported; an import in part leaves these out:{reasons}")


def key_of(one: SenseInput) -> _Key:
    return one.term, normalise_context(one.context), one.expansion


def leave_out_refused(
    principal: Principal, found: GlossaryFile, contexts: Mapping[str, Context], stored: _StoredSenses
) -> GlossaryFile:
    """Return the file without the senses and contexts that the principal may not change: those that are stored as the
    file has them count as unchanged, the others are rejected with a problem.
    """
    refused = _find_refused_contexts(principal, found, contexts)
    if not refused and not stored.hidden:
        return found
    senses, places, rejected, unchanged = [], [], list(found.rejected), 0
    # A context that they may not manage is named once, not for each of its senses.
    problems = dict.fromkeys(found.problems)
    for one, place in zip_longest(found.senses, found.places, fillvalue=""):
        assert isinstance(one, SenseInput)
        key = key_of(one)
        problem = refused.get(key[1]) or stored.hidden.get(key)
        if problem is None:
            senses.append(one)
            places.append(place)
        elif (known := stored.known.get(key)) and _apply_inputs(known, [one], contexts) == known:
            unchanged += 1
        else:
            problems[problem] = None
            shown = f"row {place}" if isinstance(place, int) else str(place)
            rejected.append(RejectedRow(shown, problem.message, sense=one))
    kept = []
    for context_input in found.contexts:
        problem = refused.get(normalise_context(context_input.name))
        if problem is None:
            kept.append(context_input)
        elif not _is_stored_context(principal, context_input, contexts):
            problems[problem] = None
            rejected.append(RejectedRow(f"context {context_input.name!r}", problem.message))
    return replace(
        found, senses=senses, places=places, contexts=kept, problems=list(problems), rejected=rejected,
        unchanged=unchanged,
    )  # fmt: skip


def _is_stored_context(principal: Principal, context_input: ContextInput, contexts: Mapping[str, Context]) -> bool:
    known = contexts.get(normalise_context(context_input.name))
    return known is not None and principal.may_read(known.audience) and _apply_context(known, context_input) == known


@dataclass(frozen=True, slots=True)
class _StoredSenses:
    """The stored senses that a file names: those that the principal may read, and a problem for each of the others.
    `meanings`: the approved expansions that the principal may read, by the keys of term and context.
    """

    known: dict[_Key, Sense]
    hidden: dict[_Key, RowProblem]
    meanings: dict[tuple[str, str], set[str]]


def _find_stored(connections: Connections, given: Set[_Key], principal: Principal) -> _StoredSenses:
    """Return the stored senses with these keys, and a problem for each that the principal may not read."""
    known: dict[_Key, Sense] = {}
    hidden: dict[_Key, RowProblem] = {}
    meanings: dict[tuple[str, str], set[str]] = {(normalise(term), context): set() for term, context, _ in given}
    # One pass over all senses: an import of 100,000 would need as many look-ups.
    for row in connections.select(SENSES) if given else ():
        key = (row["spelling"], row["context_key"], clean_name(row["expansion"]))
        others = meanings.get((row["key"], row["context_key"]))
        if others is None:
            continue
        if any(readable([row], principal)):
            if row["status"] == "approved":
                others.add(normalise(row["expansion"]))
            if key in given:
                known[key] = read_sense(row)
        elif key in given:
            hidden[key] = RowProblem(
                0, "", f"{key[0]!r} cannot be given this meaning in {row['context_name']!r}; leave it out"
            )
    shown = hide_relations(connections.reader(), principal, known.values())
    return _StoredSenses(dict(zip(known, shown, strict=True)), hidden, meanings)


def _find_refused_contexts(
    principal: Principal, found: GlossaryFile, contexts: Mapping[str, Context]
) -> dict[str, RowProblem]:
    """Return a problem for each context that the principal may not change, by key."""
    names = [one.context for one in found.senses] + [one.name for one in found.contexts]
    problems: dict[str, RowProblem] = {}
    for key, name in {normalise_context(name): name for name in names}.items():
        known = contexts.get(key)
        if not (principal.manages_all if known is None else principal.may_manage(known.name)):
            # The same message for a hidden context and a missing one, so that it reveals neither.
            message = f"{principal.name} does not manage a context {name!r}; leave its terms out, or ask who does"
            problems[key] = RowProblem(0, "", message, f"context {name!r}")
        elif known is not None and not principal.may_read(known.audience):
            problems[key] = RowProblem(0, "", f"the name {name!r} cannot be used here; choose another, or leave it out")
    return problems


def _apply_inputs(known: Sense | None, inputs: list[SenseInput], contexts: Mapping[str, Context]) -> Sense:
    """Return the sense after all rows of the file about it."""
    first = inputs[0]
    context = contexts.get(normalise_context(first.context))
    # The stored spelling of the context's name: the file may differ in case.
    sense = known or Sense(0, first.term, context.name if context else first.context, first.expansion)
    for one in inputs:
        sense = replace(sense, **list_given_fields(one))
    return sense


def _compare_contexts(
    found: GlossaryFile, contexts: Mapping[str, Context]
) -> tuple[tuple[str, ...], tuple[tuple[Context, Context], ...]]:
    """Return the names of the contexts that would be made, and those that would change, before and after."""
    names = [one.name for one in found.contexts] + [one.context for one in found.senses]
    made: dict[str, str] = {}
    for name in names:
        if normalise_context(name) not in contexts:
            made.setdefault(normalise_context(name), name)
    changed = []
    for one in found.contexts:
        known = contexts.get(normalise_context(one.name))
        after = None if known is None else _apply_context(known, one)
        if known is not None and after is not None and after != known:
            changed.append((known, after))
    return tuple(made.values()), tuple(changed)


def _apply_context(known: Context, context_input: ContextInput) -> Context:
    fields: dict[str, Any] = {
        "description": context_input.description,
        "contact": context_input.contact,
        "audience": context_input.audience,
    }
    return replace(known, **{name: value for name, value in fields.items() if value is not None})
