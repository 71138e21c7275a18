"""The reader without a language model: follow-ups, contexts, triples and enhanced queries."""

from typing import Any

import pytest

from argot.tools.reading.context_classifier import ContextSignatures, score_contexts
from argot.tools.reading.extractive_reader import ExtractiveReader, enhance_question
from argot.tools.reading.follow_ups import stand_alone
from argot.tools.reading.unknown_terms import identify_terms, is_known_to_documents
from argot.types import Context, Mention, Principal, Sense, Triple, Turn

ANN = Principal("ann")


def resolved(question: str, *before: str) -> str:
    return stand_alone(question, [Turn(one, "an answer") for one in before], lambda text: identify_terms(text, []))


# -- follow-ups -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        ("What is the endurance of the x4?", "and for the x8?", "What is the endurance of the x8?"),
        ("Is there a dress code?", "No, the one for conferences", "Is there a dress code for conferences?"),
        ("How do I install a tar?", "not that, I mean over radio", "How do I install a tar over radio?"),
        ("How much leave is there?", "sorry, I meant sick leave.", "How much leave is there? Sick leave"),
        ("Who signs the form?", "no, I meant who reads the log?", "who reads the log"),
        ("How is leave booked?", "Thanks, and who approves?", "How is leave booked? And who approves?"),
        ("How is leave booked?", "thanks, who signs the form?", "thanks, who signs the form?"),
        ("How is leave booked?", "the one in hall 2 is red", "the one in hall 2 is red"),
        ("What is the endurance of the PUC?", "what about its capacity?", "what about PUC's capacity?"),
        ("What does SLA mean in manufacturing?", "And in legal?", "What does SLA mean in legal?"),
        ("What does PUC mean?", "and CUA?", "What does CUA mean?"),
        ("What does PUC mean?", "What about QMB?", "What does QMB mean?"),
        ("Is the PUC under the array?", "Are you sure?", "Is the PUC under the array?"),
        ("Is the PUC under the array?", "hm, is that true?", "Is the PUC under the array?"),
        ("Is the PUC under the array?", "why?", "Is the PUC under the array? Why?"),
        ("What is tR?", "What does this mean?", "What does tR mean?"),
        ("What is a QMB?", "thanks, and how do I book one?", "and how do I book QMB?"),
        ("What is a QMB?", "Which one?", "What is a QMB? Which one?"),
        ("What is a QMB?", "Do I need the red one?", "Do I need the red one?"),
        ("Where is the wafer lot stored?", "How do I find it?", "How do I find the wafer lot?"),
        ("How do I fail over the office?", "who decides that?", "who decides to fail over the office?"),
        ("how can we reset the meter", "And who is allowed that?", "And who is allowed to reset the meter?"),
        ("How do I read the gas meter?", "Where is that?", "Where is the gas meter?"),
        ("How do I reset the meter?", "Is that meter sealed?", "Is that meter sealed?"),
        ("Who signs the DTA?", "for suppliers?", "Who signs the DTA for suppliers?"),
        ("How hot may the oven get?", "at 85 percent humidity?", "How hot may the oven get at 85 percent humidity?"),
        ("What does a 27 kilo dog get?", "and for 35 kg?", "What does a 35 kg dog get?"),
        ("What does a 27 kilo dog get?", "35 kg?", "What does a 35 kg dog get?"),
        ("What does a 27 kilo dog get?", "and if she's nursing?", "What does a 27 kilo dog get? And if she's nursing?"),
        ("What does a dog get?", "And when it's hot?", "What does a dog get? And when it's hot?"),
        ("What does a dog get?", "even on Sundays?", "What does a dog get? Even on Sundays?"),
        ("What does a dog get?", "Is that also true for pups?", "What does a dog get? Is that also true for pups?"),
        ("What does a dog get?", "does that include weekends?", "What does a dog get? Does that include weekends?"),
        ("Is the trailer locked?", "what do I do then?", "Is the trailer locked? What do I do then?"),
        ("My son is 17, may he greet?", "can he drive?", "My son is 17, may he greet? Can he drive?"),
        ("Who leads on 17 May?", "Who drives the van that day?", "Who leads on 17 May? Who drives the van that day?"),
        ("What may I pay back?", "and if it's 340, who signs?", "What may I pay back? And if it's 340, who signs?"),
        ("What is a ticket?", "are pensioners cheaper?", "What is a ticket? Are pensioners cheaper?"),
        ("How much is boarding?", "and how do I apply?", "How much is boarding? And how do I apply?"),
        (
            "How do I replace the battery?",
            "How long does it take?",
            "How do I replace the battery? How long does it take?",
        ),
        (
            "What is the relationship between KPU and QMB?",
            "What is its unit?",
            "What is the relationship between KPU and QMB? What is its unit?",
        ),
    ],
)
def test_follow_up_questions_are_completed(before: str, question: str, expected: str) -> None:
    assert resolved(question, before) == expected


@pytest.mark.parametrize(
    "question",
    [
        "How many days of leave do contractors get?",
        "What is the word line of the NX-4410B?",
        "If a lot is lost, who finds it?",
        "Does the controller know when its buffer is full?",
        "Why does the PUC limit the height of everything below it?",
        "Is it possible to ship wafers in open boxes by air?",
        "What is that noise in the probe station called?",
        "Which tests does a die pass before they pack the lot?",
        "For which products does the warranty hold?",
        "Is the weekly ticket of the tram cheaper than the monthly one?",
        "If Ann is ill, who replaces her?",
        "My wife is ill, can she get a parcel?",
        "If it's above 25 °C, do we train?",
        "If a lot is lost who finds it?",
        "When it rains, is training cancelled?",
        "And what is PUC?",
        "and who is Tim?",
        "Thanks!",
    ],
)
def test_complete_questions_are_not_changed(question: str) -> None:
    assert resolved(question, "What is the endurance of the x4?") == question


def test_a_chain_of_follow_ups_keeps_its_topic() -> None:
    assert resolved("why?", "What does PUC mean?", "and CUA?") == "What does CUA mean? Why?"


def test_follow_ups_take_no_words_from_answers() -> None:
    history = [Turn("Who signs the DTA?", "The XQZ signs.")]
    assert "XQZ" not in stand_alone("and why?", history, lambda text: identify_terms(text, []))


# -- terms ------------------------------------------------------------------------------------------------------------


async def test_known_variant_and_unknown_terms_are_found_together(tiny_kb: Any) -> None:
    reader = ExtractiveReader(tiny_kb.glossary.lookup.matcher(ANN), tiny_kb.corpus.store, ANN, tiny_kb.corpus.embedder)
    found = await reader.identify_jargon("Does the PUC drive the WLs of a QMB?")
    assert [(m.surface, m.term, m.match) for m in found] == [
        ("PUC", "PUC", "exact"),
        ("WLs", "WL", "variant"),
        ("QMB", None, "shape"),
    ]


def test_terms_used_in_readable_documents_are_known(tiny_kb: Any) -> None:
    assert is_known_to_documents(tiny_kb.corpus.store, ANN, "FTLX")
    assert not is_known_to_documents(tiny_kb.corpus.store, ANN, "QMBX")
    insider = Principal("ida", frozenset({"vault"}))
    assert is_known_to_documents(tiny_kb.corpus.store, insider, "Liaison")
    assert not is_known_to_documents(tiny_kb.corpus.store, ANN, "Liaison")


# -- contexts ---------------------------------------------------------------------------------------------------------

NAMELESS = [Context(1, "alpha"), Context(2, "beta")]
SENSES = [
    Sense(1, "PUC", "alpha", "Peripheral Under Cell"),
    Sense(2, "WL", "alpha", "Word Line"),
    Sense(3, "PUC", "beta", "Public Utilities Commission"),
    Sense(4, "TFL", "beta", "tariff filing"),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How much die area does PUC save?", "alpha"),
        ("How many days before a tariff takes effect must the PUC be told?", "beta"),
    ],
)
def test_passages_identify_contexts_with_meaningless_names(tiny_kb: Any, question: str, expected: str) -> None:
    mentions = tiny_kb.glossary.lookup.matcher(ANN).find(question)
    scores = score_contexts(
        question, mentions, NAMELESS, ContextSignatures(SENSES), store=tiny_kb.corpus.store, principal=ANN
    )
    assert scores[0].context == expected


def test_a_term_of_only_one_context_identifies_it() -> None:
    mention = Mention("WL", 8, 10, term="WL")
    scores = score_contexts("What is WL?", [mention], NAMELESS, ContextSignatures(SENSES))
    assert scores[0].context == "alpha"


def test_the_description_of_a_context_identifies_it(tiny_kb: Any) -> None:
    contexts = tiny_kb.glossary.contexts.all(ANN)
    embedder = tiny_kb.corpus.embedder
    question = "Who regulates what we may charge for electric power?"
    scores = score_contexts(question, [], contexts, ContextSignatures(()), embedder=embedder)
    assert scores[0].context == "Legal"


@pytest.mark.parametrize("question", ["", "🙂", "What is PUC?", "How are you today?"])
def test_no_context_is_chosen_without_evidence(question: str) -> None:
    mentions = [Mention("PUC", 8, 11, term="PUC")] if "PUC" in question else []
    assert score_contexts(question, mentions, NAMELESS, ContextSignatures(SENSES)) == []


async def test_a_changed_glossary_gives_new_signatures(tiny_kb: Any) -> None:
    def senses() -> Any:
        return tiny_kb.glossary.senses.find(ANN, status="approved")

    def reader() -> ExtractiveReader:
        return ExtractiveReader(tiny_kb.glossary.lookup.matcher(ANN), None, ANN, None, senses)

    contexts = [*tiny_kb.glossary.contexts.all(ANN), tiny_kb.glossary.contexts.add("Zoo")]
    assert await reader().identify_context("Where do the zebras of ZQ sleep?", contexts) == []
    tiny_kb.glossary.senses.add("ZQ", "Zoo", "zebra quorum")
    assert (await reader().identify_context("Where do the zebras of ZQ sleep?", contexts))[0].context == "Zoo"


# -- triples ----------------------------------------------------------------------------------------------------------

TRIM = Triple("t1", "Media panel", "trim", "drive", "p1")
FORMAT = Triple("t2", "Media panel", "format", "drive", "p1")
VIDEO = Triple("t3", "triple line menu", "edit", "video", "p2")
IMAGE = Triple("t4", "triple line menu", "edit", "image", "p2")


def reader_of(kb: Any) -> ExtractiveReader:
    return ExtractiveReader(kb.glossary.lookup.matcher(ANN), kb.corpus.store, ANN, kb.corpus.embedder)


async def test_a_triple_that_only_shares_a_word_is_not_relevant(tiny_kb: Any) -> None:
    relevant = await reader_of(tiny_kb).relevant_triples("How do I edit an image?", [VIDEO, IMAGE])
    assert relevant[0] == IMAGE
    assert VIDEO not in relevant


async def test_the_nearest_triple_ranks_first(tiny_kb: Any) -> None:
    relevant = await reader_of(tiny_kb).relevant_triples("How can I trim the drive?", [FORMAT, TRIM])
    assert relevant[0] == TRIM


def test_words_of_a_triple_missing_in_the_question_are_added() -> None:
    assert (
        enhance_question("my pictures need changing a bit", [IMAGE]) == "my pictures need changing a bit. edit image."
    )


def test_a_well_formed_question_is_not_enhanced() -> None:
    assert enhance_question("How do I trim a drive?", [TRIM]) == "How do I trim a drive?"


def test_an_enhanced_query_is_at_most_twice_as_long() -> None:
    question = "make it smaller"
    many = [Triple(f"t{n}", f"panel number {n}", f"reduce{n}", f"document size {n}", "p") for n in range(9)]
    assert len(enhance_question(question, many)) <= 2 * len(question)
