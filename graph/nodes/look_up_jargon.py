from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from argot.graph.checkpoints.thread_history import iter_latest_turns
from argot.graph.listed_meanings import list_meanings
from argot.graph.node_frame import StateUpdate, Step
from argot.graph.question_substance import has_only_terms
from argot.graph.run_context import RunContext
from argot.graph.state import MAX_QUESTIONS_BACK, DoubtRecord, OpenTerm, QueryMissRecord, ReadingRecord, State
from argot.graph.state_records import (
    DEFINED_BY_DOCUMENTS,
    EXPLAINED_SENSE,
    get_term,
    load_senses,
    read_context_scores,
    to_mention,
)
from argot.graph.supported_senses import find_supported
from argot.jargon_db.lookup.phrases import NearPhrases
from argot.question_threads import call_in_thread
from argot.tools.reading.spelt_out_terms import MIN_LETTERS, find_spelt_out, may_be_spelt_out
from argot.tools.reading.unknown_terms import is_known_to_documents
from argot.tools.retrieval.hybrid_search import WeightedQuery, hybrid_search
from argot.tools.senses.disambiguation import SenseChooser, SenseRanking
from argot.tools.senses.sense_support import TermSupport
from argot.tools.text.words import content_stems
from argot.types import Mention, Sense

# A sense with less than a tenth of the best one's probability does not justify its own search.
MIN_RIVAL_SHARE = 0.1
# Each adds one search in every list.
MAX_RIVALS = 2
# Earlier turns have often been about another subject.
LOOK_BACK_TURNS = 5
"""Number of turns of the thread whose jargon counts."""

MAX_PASSAGES_FOR_THREE_LETTERS = 10
"""Number of passages searched for the spelt-out form of a three-letter term: in more passages, chance finds one in
thirty. With four letters chance finds one in fifty among all passages that the search returns."""

MAX_OFFERED_SENSES = 6
"""Number of senses of one term offered to choose from, best first."""
MAX_DOUBTED_SENSES = 3
"""Number of senses that the note about a doubtful term names."""


@dataclass
class _Findings:
    """Result of the look-up, before it is written to the state. `listed`: the senses that are the whole answer."""

    readings: list[ReadingRecord] = field(default_factory=list)
    open_terms: list[OpenTerm] = field(default_factory=list)
    doubted: list[DoubtRecord] = field(default_factory=list)
    unknown: list[QueryMissRecord] = field(default_factory=list)
    listed: list[int] = field(default_factory=list)

    def doubt(self, mention: Mention, senses: list[int]) -> None:
        term = get_term(mention)
        if all(one["term"] != term for one in self.doubted):
            self.doubted.append(DoubtRecord(term=term, surface=mention.surface, senses=senses))

    def add_reading(
        self,
        place: int,
        term: str,
        sense: int,
        by: str,
        margin: float = 1.0,
        *,
        settled: bool = True,
        rivals: Sequence[tuple[int, float]] = (),
        meaning: str = "",
    ) -> None:
        self.readings.append(
            ReadingRecord(
                mention=place,
                term=term,
                sense=sense,
                margin=margin,
                chosen_by=by,
                settled=settled,
                rivals=list(rivals),
                meaning=meaning,
            )
        )


@dataclass(frozen=True)
class _GlossarySenses:
    """The senses of the question's terms: `support` has the glossary's, as far as the documents bear them out,
    `explained` those that the question itself explains.
    """

    support: Mapping[str, TermSupport]
    explained: Mapping[Mention, Sense]

    def of(self, mention: Mention) -> Sequence[Sense]:
        return self.support[get_term(mention)].senses


async def look_up_jargon(state: State, run: RunContext) -> Step:
    """Look every mention up in the glossary by its SQL template, and choose the senses that fit (3.4).

    A mention ends in one of five states: read (one sense is clearly best, the question or the documents spell the term
    out, or the asker has chosen), open (several senses that the documents bear out fit about equally), doubted (the
    documents bear out none of its senses), unknown, or skipped (unknown, but the documents mention it). A term without
    a sense in the question's context is read from the senses of the other contexts. This node runs again when the asker
    picks another spelling; earlier decisions are kept. If the question asks for nothing but meanings, and a term has
    several, they are the answer.
    """
    findings = await call_in_thread(_look_up, state, run)
    if findings.listed:
        answer: StateUpdate = {"defined": findings.listed, "answered_by": "extractive", "status": "answered"}
        return Step(answer, f"{len(findings.listed)} meanings listed")
    read = len({reading["term"] for reading in findings.readings})
    parts = [f"{read} understood"] if read else []
    parts += [f"{len(findings.open_terms)} ambiguous"] if findings.open_terms else []
    parts += [f"{len(findings.unknown)} unknown"] if findings.unknown else []
    update: StateUpdate = {
        "readings": findings.readings,
        "open_terms": findings.open_terms,
        "doubted": findings.doubted,
        "unknown": findings.unknown,
        "look_again": False,
    }
    return Step(update, ", ".join(parts) or "nothing to look up")


def _look_up(state: State, run: RunContext) -> _Findings:
    mentions = [to_mention(record) for record in state["mentions"]]
    looked_up = [mention for mention in mentions if not mention.explained]
    senses = _find_senses(looked_up, run, state.get("rejected", ()))
    support = find_supported(looked_up, senses, state, run)
    findings = _Findings()
    for place, mention in enumerate(mentions):
        if mention.explained:
            findings.add_reading(place, get_term(mention), EXPLAINED_SENSE, "the question explains it")
        # Also where all its senses are retired or closed to the asker, for whom the term is unknown.
        elif get_term(mention) not in support:
            _add_unknown(place, mention, state, run, findings)
        elif not support[get_term(mention)].senses:
            _add_unsupported(place, mention, support[get_term(mention)], senses, findings)
    known = {
        place: mention
        for place, mention in enumerate(mentions)
        if not mention.explained and get_term(mention) in support and support[get_term(mention)].senses
    }
    # Senses that the question explains serve only to disambiguate its other terms.
    explained = _find_explained_senses([mention for mention in mentions if mention.explained], run) if known else {}
    _choose_senses(state, run, known, _GlossarySenses(support, explained), findings)
    counting = {term: one.senses for term, one in support.items()}
    findings.listed = list_meanings(state, run, findings.readings, senses, counting) if not findings.unknown else []
    return _limit_questions(findings, state, run)


def _find_senses(mentions: Sequence[Mention], run: RunContext, rejected: Collection[int]) -> dict[str, list[Sense]]:
    """Return the possible senses of each term, without those that the asker rejected if it has others."""
    spellings = sorted({spelling for mention in mentions for spelling in (mention.surface, get_term(mention))})
    found = run.glossary.lookup.senses(run.principal, spellings) if spellings else {}
    senses: dict[str, list[Sense]] = {}
    for mention in mentions:
        term = get_term(mention)
        # An alias that only some senses have means one of those: "DR drill" is no other DRR.
        own = found.get(term, [])
        narrow = found.get(mention.surface) or own
        # "IAAs" is also how IaaS may be typed, but is the plural of IAA here.
        narrow = narrow if any(sense.term == term for sense in narrow) else own or narrow
        # "LFS" in capitals is no plural of LF.
        narrow = [sense for sense in narrow if mention.surface != f"{sense.term}S"]
        if mention.match == "misspelt":
            narrow = _narrow_misspelt(mention.surface, narrow)
        narrow = [sense for sense in narrow if sense.id not in rejected] or narrow
        # The same term, once by its name and once by an alias of one sense: the narrower mention decides for both.
        if term not in senses or len(narrow) < len(senses[term]):
            senses[term] = narrow
    return senses


def _find_explained_senses(explained: Sequence[Mention], run: RunContext) -> dict[Mention, Sense]:
    """Return the senses whose meaning the question itself states: "in the FTL (flash translation layer)".

    They count as read; their contexts help to choose the senses of the other terms.
    """
    wanted = sorted({get_term(mention) for mention in explained})
    found = run.glossary.lookup.senses(run.principal, wanted) if wanted else {}
    return {
        mention: sense
        for mention in explained
        # Reversed, so that of several senses with the same wording the first is kept.
        for sense in reversed(found.get(get_term(mention), []))
        # "flash translation layers" explains the sense "Flash Translation Layer".
        if content_stems(sense.expansion) == content_stems(mention.explained)
    }


def _narrow_misspelt(surface: str, senses: Sequence[Sense]) -> list[Sense]:
    """Return the senses whose expansion or alias the asker misspelt, if any: "parrental leave" matches only one sense
    of PLP.
    """
    phrases = NearPhrases(
        (str(sense.id), phrase) for sense in senses for phrase in filter(None, (sense.expansion, *sense.aliases))
    )
    meant = {label for near in phrases.find(surface) for label in near.labels}
    # None if the term itself was misspelt, not its expansion: then all its senses are possible.
    return [sense for sense in senses if str(sense.id) in meant] or list(senses)


def _add_unknown(place: int, mention: Mention, state: State, run: RunContext, findings: _Findings) -> None:
    term = get_term(mention)
    if term in state["let_be"] or any(miss["term"] == term for miss in findings.unknown):
        return
    # The documents explain a term that they use.
    if run.profile.misses != "strict" and is_known_to_documents(run.corpus.store, run.principal, mention.surface):
        return
    if run.profile.misses != "strict" and (meaning := _find_spelt_out(mention.surface, state, run)):
        findings.add_reading(place, term, EXPLAINED_SENSE, "the documents spell it out", meaning=meaning)
        return
    # If only a model took an ordinary-looking word for a term, a note is enough: the question goes on.
    if run.profile.misses == "ask" and mention.match == "model" and not _looks_coded(mention.surface):
        findings.doubt(mention, [])
        return
    suggestions = list(run.glossary.lookup.suggest(run.principal, mention.surface))
    findings.unknown.append(QueryMissRecord(mention=place, term=term, suggestions=suggestions))


def _looks_coded(word: str) -> bool:
    return sum(map(str.isupper, word)) > 1 or any(map(str.isdigit, word))


def _add_unsupported(
    place: int, mention: Mention, support: TermSupport, senses: Mapping[str, Sequence[Sense]], findings: _Findings
) -> None:
    """Read the term as the documents spell it out, or leave it as the asker wrote it."""
    term = get_term(mention)
    if support.spelt_out:
        findings.add_reading(place, term, EXPLAINED_SENSE, DEFINED_BY_DOCUMENTS, meaning=support.spelt_out)
    # Nobody needs a note about a word that only resembles a term, or is written in small letters like any other.
    elif mention.match in ("exact", "variant") and not mention.surface.islower():
        findings.doubt(mention, [sense.id for sense in senses[term][:MAX_DOUBTED_SENSES]])


def _find_spelt_out(surface: str, state: State, run: RunContext) -> str:
    """Return the words of the nearest passages whose initials spell a term that no passage contains."""
    if not may_be_spelt_out(surface):
        return ""
    queries = [WeightedQuery(state["stand_alone_question"])]
    near = hybrid_search(run.corpus, run.principal, queries, run.profile, run.scope, state.get("scope", ()))
    few = len(surface) == MIN_LETTERS
    return find_spelt_out(
        surface, [hit.passage.with_header for hit in (near[:MAX_PASSAGES_FOR_THREE_LETTERS] if few else near)]
    )


def _choose_senses(
    state: State,
    run: RunContext,
    mentions: Mapping[int, Mention],
    glossed: _GlossarySenses,
    findings: _Findings,
) -> None:
    """Resolve each known mention: by the asker's choice in this turn, else by the ranking of its senses."""
    # Mentions do not overlap, so that their start identifies them; equal surfaces would not.
    places = {mention.start: place for place, mention in mentions.items()}
    undecided = []
    for place, mention in mentions.items():
        term = get_term(mention)
        if term in state["picked"]:
            findings.add_reading(place, term, state["picked"][term], "your choice")
        elif term not in state["let_be"]:
            undecided.append(mention)
    thread = _measure_thread_contexts(state, run) if undecided else {}
    # If the thread was about one of the term's contexts, choosing that one is no guess.
    is_known_subject = any(sense.context in thread for mention in undecided for sense in glossed.of(mention))
    guessing = not is_known_subject and _has_to_guess(state, run, [*mentions.values(), *glossed.explained])
    for ranking in _rank_senses(state, run, undecided, glossed, thread):
        asks = glossed.support[get_term(ranking.mention)].is_borne_out
        _decide_reading(places[ranking.mention.start], ranking, run, findings, guessing=guessing, asks=asks)


def _has_to_guess(state: State, run: RunContext, mentions: Sequence[Mention]) -> bool:
    """Return whether no clue distinguishes the senses: no other word or term in the question, and no context of the
    asker's.
    """
    alone = len({get_term(mention) for mention in mentions}) == 1 and not run.asker_context
    return alone and has_only_terms(state["stand_alone_question"], mentions)


def _measure_thread_contexts(state: State, run: RunContext) -> dict[str, float]:
    """Return the share of each context in the last turns' jargon; the latest turn has the most weight."""
    turns = islice(iter_latest_turns(state), LOOK_BACK_TURNS)
    read = [
        (reading, 1 / (1 + age))
        for age, turn in enumerate(turns)
        for reading in turn["readings"]
        # A guess must not be evidence for the next guess.
        if reading["settled"] and reading["sense"] != EXPLAINED_SENSE
    ]
    senses = load_senses((reading["term"] for reading, _ in read), run)
    weights: Counter[str] = Counter()
    for reading, weight in read:
        # The sense was retired since, or the asker may no longer read it.
        if reading["sense"] in senses:
            weights[senses[reading["sense"]].context] += weight  # type: ignore[assignment]
    total = sum(weights.values())
    return {context: weight / total for context, weight in weights.items()}


def _rank_senses(
    state: State,
    run: RunContext,
    mentions: Sequence[Mention],
    glossed: _GlossarySenses,
    thread: Mapping[str, float],
) -> list[SenseRanking]:
    """Return one ranking for each mention. Terms that the question explains contribute to the scores, but get no
    ranking.
    """
    if not mentions:
        return []
    by_term = {get_term(mention): glossed.of(mention) for mention in mentions}
    rankings = SenseChooser(run.corpus, run.principal, run.signatures).choose(
        state["stand_alone_question"],
        sorted([*mentions, *glossed.explained], key=lambda mention: mention.start),
        {**by_term, **{get_term(mention): [sense] for mention, sense in glossed.explained.items()}},
        read_context_scores(state),
        run.asker_context,
        state.get("remembered", {}),
        thread,
    )
    return [ranking for ranking in rankings if ranking.mention not in glossed.explained]


def _decide_reading(
    place: int, ranking: SenseRanking, run: RunContext, findings: _Findings, *, guessing: bool, asks: bool
) -> None:
    """Settle a mention if one sense is clearly best; else read it as its best sense and, if the documents bear the
    senses out, leave the term open.
    """
    term = get_term(ranking.mention)
    # A probability of 1.0 was not decided by the ranking but by other means (the only sense, the asker's choice), and
    # is no guess.
    weighed = 0.0 < ranking.margin < 1.0
    margin = 0.0 if guessing and weighed else ranking.margin
    settled = len(ranking.ranked) == 1 or margin >= run.profile.sense_margin
    best = ranking.ranked[0][0].id
    rivals = [] if settled else _list_rivals(ranking)  # quotations must agree with the reading reported to the asker
    findings.add_reading(place, term, best, ranking.decided_by, margin, settled=settled, rivals=rivals)
    if asks and not settled and all(item["term"] != term for item in findings.open_terms):
        offered = [sense.id for sense, _ in ranking.ranked[:MAX_OFFERED_SENSES]]
        findings.open_terms.append(OpenTerm(mention=place, term=term, senses=offered))


def _list_rivals(ranking: SenseRanking) -> list[tuple[int, float]]:
    """Return the other senses that may well be right, each with the ratio of its probability to that of the best."""
    (best, most), *others = ranking.ranked
    # An equal expansion makes the same query: a second search would only count it twice.
    shares = ((sense, share / most) for sense, share in others if most > 0 and sense.expansion != best.expansion)
    return [(sense.id, share) for sense, share in shares if share >= MIN_RIVAL_SHARE][:MAX_RIVALS]


def _limit_questions(findings: _Findings, state: State, run: RunContext) -> _Findings:
    """Drop questions to the asker that will not be asked: the profile asks none, enough were asked, or the turn ends
    here.
    """
    findings.readings.sort(key=lambda reading: reading["mention"])
    # Terms with near spellings first: for those, asking can help.
    findings.unknown.sort(key=lambda miss: not miss["suggestions"])
    left = max(0, MAX_QUESTIONS_BACK - state["asked_back"])
    # The paper's query miss ends the turn, so that an earlier choice would be wasted.
    ends_here = run.profile.misses == "strict" and bool(findings.unknown)
    findings.open_terms = findings.open_terms[:left] if run.profile.choose_sense and not ends_here else []
    return findings
