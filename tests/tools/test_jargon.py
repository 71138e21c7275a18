"""Terms recognised by shape: appendix C of Golden-Retriever, ordinary text, and meanings given in the question."""

import random
import re

import pytest

from argot.jargon_db.lookup.ordinary_words import load_well_known
from argot.tools.reading.inline_definitions import find_explanations
from argot.tools.reading.unknown_terms import find_unknown_terms, identify_terms, merge_mentions
from argot.types import Mention

ABBREVIATIONS = re.findall(
    r"\w+",
    "TS IE MI SF MP UM ES PE UW SU FSU QMB KPU VMT ESO ARI SPA MTD GTC ODV SLBG MUBO ROSN VPPL PIOF CCPP MBST UTUU "
    "NIRE STUP",
)
TEMPLATES = (
    "What does the abbreviation {} stand for?",
    "Can you explain the meaning of {}?",
    "What is the full form of {}?",
    "{} is an abbreviation for what?",
    "What do the abbreviations {} and {} mean?",
    "In the case where {} > 0.5, how much should {} be?",
    "What is the relationship between {} and {}?",
    "Consider {} = 1.5 and {} < 0.1, what would {} be?",
    "{} and {} are the same. Should {} be high or low?",
    "What is the state of {}, {} during {} operation?",
    "We need 10ns {} to achieve 40{} in {}. What should be {}?",
    "In any of the {}, {}/{}/{} should be what nature?",
    "{}=10, {}=5, {}<0.1 in {}. How should I set {}?",
)


def surfaces(question: str) -> list[str]:
    return [mention.surface for mention in identify_terms(question, [])]


@pytest.mark.parametrize("template", TEMPLATES)
def test_exactly_the_abbreviations_of_appendix_c_are_found(template: str) -> None:
    chance = random.Random(template)
    slots = template.count("{}")
    draws = [chance.sample(ABBREVIATIONS, slots) for _ in range(300)] + [[a] * slots for a in ABBREVIATIONS]
    for abbreviations in draws:
        question = template.format(*abbreviations)
        assert surfaces(question) == abbreviations, question


@pytest.mark.parametrize("template", TEMPLATES)
def test_abbreviations_are_found_without_spaces_between_sentences(template: str) -> None:
    tight = template.replace(", ", ",").replace(". ", ".").replace(" = ", "=").replace(" > ", ">").replace(" < ", "<")
    chance = random.Random(tight)
    for _ in range(100):
        abbreviations = chance.sample(ABBREVIATIONS, template.count("{}"))
        assert surfaces(tight.format(*abbreviations)) == abbreviations


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is tCCS?", ["tCCS"]),
        ("How does the L2P table reach Vpgm?", ["L2P", "Vpgm"]),
        ("How many PUCs fit on a die?", ["PUCs"]),
        ("What is the PUC's height?", ["PUC"]),
        ("We need 10ns NIRE for 40MUBO", ["NIRE", "MUBO"]),
        ("Is ES/NIRE/MUBO allowed?", ["ES", "NIRE", "MUBO"]),
        ("Which TLC-based part has (QMB)?", ["TLC", "QMB"]),
        ("RoHS or QMB?", ["QMB"] if "RoHS" in load_well_known() else ["RoHS", "QMB"]),
        ("What does IV mean?", ["IV"]),
        ("Is 10nsQRVT at 1.8GHzMXB or 5mVKPU enough for 2xSUO?", ["QRVT", "MXB", "KPU", "SUO"]),
        ("Compare qR2Vt, D4w, slL9N and mUbO", ["qR2Vt", "D4w", "slL9N", "mUbO"]),
        ("Is tCCS/tADL a ratio, and 40Cp8P?", ["tCCS", "tADL", "Cp8P"]),
        ("What is the abbreviation NEW short for?", ["NEW"]),
        ("Does CYP2D6 or UInt64 matter?", ["CYP2D6", "UInt64"]),
        ("Net PP&E in the P&L, without D&A or SG&A?", ["PP&E", "P&L", "D&A", "SG&A"]),
        ("Is the KPU&REK rule known?", ["KPU", "REK"]),
        ("What does the gate driver loop (gdl) do?", ["gdl"]),
        ("Which FY closes the QMB?", ["FY", "QMB"]),
        ("Does HTOQ 1000 h count, or HTOQ 10000 cycles?", ["HTOQ", "HTOQ"]),
    ],
)
def test_coded_and_joined_terms_are_found(question: str, expected: list[str]) -> None:
    assert surfaces(question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what does rek stand for", ["rek"]),
        ("what is the meaning of kpu?", ["kpu"]),
        ("what do the abbreviations osoe, rek and mi mean?", ["osoe", "rek", "mi"]),
        ("set osoe=4 and see whether rek < 0.5", ["osoe", "rek"]),
        ("why is the slbg so slow at night?", ["slbg"]),
        ("are huvc and rek the same thing?", ["huvc", "rek"]),
        ("is qst/cma allowed here?", ["qst", "cma"]),
        ("is the QMB faster than or equal to TLC or qlc?", ["QMB", "TLC", "qlc"]),
    ],
)
def test_terms_in_lower_case_are_found(question: str, expected: list[str]) -> None:
    assert surfaces(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "teh wafer waht we sent back isnt ready, wht now?",
        "what does this word mean to you and them?",
        "what is the meaning of life?",
        "thx, pls check the cfg and the src dir, btw the repo is on git",
        "wie hoch ist der druck im pfad zwei, und wird er nach dem test noch sinken?",
        "the step takes 30min at 10 kbps, set x=5 and i=0xFF",
        "look into src/lib/bin or usr/share",
        "see app, apps and section iv",
        "hmm, does the lymph node burn as the bards say?",
    ],
)
def test_ordinary_words_in_lower_case_are_not_terms(question: str) -> None:
    assert surfaces(question) == []


@pytest.mark.parametrize(
    "question",
    [
        "How thick is the Al2O3 on SiO2 next to HfO2?",
        "Ask McCoy or LeBron about TypeB, Word2Vec and DeepMind",
        "Is Rev2 of the iPhone7 in Fig3 newer than Gen4?",
        "Read the 0xFF register and 10 mW, 2Mpx or 3rd",
    ],
)
def test_formulas_names_and_numbered_names_are_not_terms(question: str) -> None:
    assert surfaces(question) == []


@pytest.mark.parametrize(
    "question",
    [
        "Can I print a PDF over USB at NASA?",
        "Which PCIe slot feeds the CPU, the GPU and the RAM?",
        "Is Type II used in Phase III, as after World War II?",
        "Open /dev/nvme0n1 and C:\\temp\\ABC.txt with README.md",
        "What is NX-4410B at firmware v1.2.3?",
        "What does error DRT-0073 mean?",
        "Who wrote GitHub, OpenROAD and JavaScript?",
        "Is 10 mV at 5GHz more than 40GB?",
        "Does the U.S. office open in Q3 2026?",
        "Margin of FY2019 to FY22, FY 2023, CY2024 and H1?",
        "Does it meet NF EN 13727 or EN 13485?",
        "What do R&D, AT&T and the S&P say on IO pads?",
        "Why must I NOT do this BEFORE the test?",
        "Paris and Samsung are names, What about Monday?",
        "See section B2 and table A4",
        "How large is the Heron E4 of 2026?",
        "what is the password?",
        "Set ARGOT_HOME or --BLA=1 and mail me at BOSS@ABC.COM",
        "",
        "   ",
        "🙂🙃",
    ],
)
def test_well_known_names_codes_and_paths_are_not_jargon(question: str) -> None:
    assert surfaces(question) == []


@pytest.mark.parametrize(
    "question",
    [
        "Hi Priya, how much is the on-call allowance? Best, Ann",
        "How much does the R1 weigh, Ann",
        "How much does the cabinet weigh, Mr Ng?",
        "Hello Ann, who signs it?",
        "Dear Mr Ng, who signs it?\nKind regards\nAnn Brandt",
        "Who signs the lease? Many thanks Ann",
        "Who signs the lease? - Ann",
    ],
)
def test_names_in_greetings_and_signatures_are_not_terms(question: str) -> None:
    assert [term for term in surfaces(question) if term != "R1"] == []


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Hi, Vpgm is how high?", ["Vpgm"]),
        ("How high are Vpgm, Vrd", ["Vpgm", "Vrd"]),
        ("How high is Vpgm? Vrd?", ["Vpgm", "Vrd"]),
        ("Which Vpgm is best for Vrd", ["Vpgm", "Vrd"]),
        ("Hi Ann, what is Vpgm?", ["Vpgm"]),
    ],
)
def test_terms_that_look_like_names_are_found_beside_names(question: str, expected: list[str]) -> None:
    assert surfaces(question) == expected


def test_a_glossary_term_is_found_even_in_a_signature() -> None:
    question = "Who signs, Ann"
    assert identify_terms(question, [Mention("Ann", 11, 14, term="ANN")])


def test_a_question_in_capitals_is_judged_by_the_word_list() -> None:
    assert surfaces("WHAT IS THE VOLTAGE OF THE MUBO DURING READ?") == ["MUBO"]
    assert surfaces("HOW LONG IS THE TEST?") == []


def test_words_in_capitals_are_terms_in_a_mixed_case_question() -> None:
    assert surfaces("Does the SPA hold the READ level?") == ["SPA", "READ"]


@pytest.mark.parametrize(
    ("question", "meaning"),
    [
        ("How long does SLA (stereolithography) take?", "stereolithography"),
        ("How long does stereolithography (SLA) take?", "stereolithography"),
        ("By SLA I mean stereolithography. How long does it take?", "stereolithography"),
        ("How long does SLA, i.e. stereolithography, take?", "stereolithography"),
        ("SLA means service level agreement; who signs it?", "service level agreement"),
        ("SLA stands for service level agreement, who signs it?", "service level agreement"),
        ("Who signs the SLA (meaning the paper)?", "the paper"),
        ("If SLA means stereolithography, how thick is a layer?", "stereolithography"),
    ],
)
def test_a_meaning_given_in_the_question_is_accepted(question: str, meaning: str) -> None:
    known = [Mention("SLA", question.index("SLA"), question.index("SLA") + 3, term="SLA")]
    for mentions in (identify_terms(question, []), identify_terms(question, known)):
        assert next((m.surface, m.explained) for m in mentions if m.surface == "SLA") == ("SLA", meaning)


@pytest.mark.parametrize(
    "question",
    [
        "What does the QMB (used in cars) do?",
        "SLA stands for what?",
        "What does SLA mean?",
        "What does SLA mean and who signs it?",
        "What does SLA mean in logistics?",
        "Tell me what SLA stands for in the contract",
        'What does the term "SLA" mean here and why?',
        "what does error E47 mean and what do I do",
        "What does the error E47 mean on the till?",
        "If E47 means and what then",
        "Does SLA mean service level agreement?",
        "Consider KPU=10 and MI (0.5)",
        "SLA is an abbreviation for what?",
        "Is the QMB (see page 4) old?",
    ],
)
def test_brackets_and_questions_without_an_explanation_give_none(question: str) -> None:
    assert find_explanations(question) == []


def test_a_given_meaning_applies_to_every_mention_of_the_term() -> None:
    mentions = identify_terms("By SLA I mean stereolithography: is SLA slow?", [])
    assert [mention.explained for mention in mentions] == ["stereolithography"] * 2


def test_mentions_are_merged_by_priority_and_length() -> None:
    question = "Is the PUC array XYZ?"
    short = Mention("PUC", 7, 10, term="PUC")
    long = Mention("PUC array", 7, 16, term="PUC array")
    miss = Mention("XYZ", 17, 20, term="XYZA", match="misspelt")
    assert merge_mentions([short, long]) == [long]
    assert identify_terms(question, [short], [miss]) == [short, miss]
    assert identify_terms(question, [long], []) == [long, Mention("XYZ", 17, 20, match="shape")]


def test_offsets_refer_to_the_original_question() -> None:
    question = "  🙂 é (QMB), 40MUBO…  „NIRE“ and KPUs!"
    for mention in find_unknown_terms(question):
        assert question[mention.start : mention.end] == mention.surface
    assert surfaces(question) == ["QMB", "MUBO", "NIRE", "KPUs"]


@pytest.mark.parametrize("unit", ["A(B ", "(", "AB", "AB ", "a(b ", "x-", "A/", " ", "A, i.e. ", "1,", "A (", "\u200b"])
def test_a_question_of_a_megabyte_is_handled(unit: str) -> None:
    found = identify_terms((unit * 1_000_000)[:1_000_000], [])
    assert all(mention.end <= 10_000 for mention in found)


@pytest.mark.parametrize("said", ["Und wenn ich ihn vergessen habe?", "Y si no?", "Où est-il ?", "Der Schrank?"])
def test_a_function_word_of_another_language_is_no_term(said: str) -> None:
    assert find_unknown_terms(f"And if I just forgot the badge? {said}") == []


@pytest.mark.parametrize("question", ["WHEN IS PAYDAY???", "Who do I ask first?\nThx, Sam", "Pls tell me who signs it"])
def test_shouted_words_and_shorthand_are_no_terms(question: str) -> None:
    assert surfaces(question) == []


def test_terms_are_found_in_a_shouted_question() -> None:
    assert surfaces("WHO SIGNS THE MUBO FORM AND THE REKUT") == ["MUBO", "REKUT"]
