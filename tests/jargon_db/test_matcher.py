import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argot.jargon_db.lookup.matcher import TermMatcher
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.lookup.spelling import Spelling

TERMS = [
    "PUC", "NIRE", "MUBO", "ES", "IT", "AS", "OR", "ALL", "ACT", "AM", "CAN", "DOE", "C", "C++", "+5V", "/dev/nvme0n1",
    "tCCS", "mA", "MA", "x4", "L2P", "die", "write-amplification", "flash translation layer", "flash translation",
    "layer cake recipe", "P/E", "缓存命中率", "retention margin", "wordline", "Straßenbahn", "to", "Page",
]  # fmt: skip
ALIASES = [("PUC", "under-array periphery"), ("FTL", "mapping firmware")]


def matcher_of(*terms, aliases=()):
    spellings = [Spelling(term, term, normalise(term)) for term in terms]
    return TermMatcher([*spellings, *(Spelling(term, alias, normalise(alias)) for term, alias in aliases)])


MATCHER = matcher_of(*TERMS, aliases=ALIASES)


def found(text, matcher=MATCHER):
    mentions = matcher.find(text)
    assert all(text[mention.start : mention.end] == mention.surface for mention in mentions)
    return [(mention.surface, mention.term) for mention in mentions]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is PUC?", [("PUC", "PUC")]),
        ("what is puc?", [("puc", "PUC")]),
        ("the PUC's leakage, and PUCs (PUC).", [("PUC", "PUC"), ("PUCs", "PUC"), ("PUC", "PUC")]),
        ("a 10ns NIRE", [("NIRE", "NIRE")]),
        ("ES/NIRE/MUBO", [("ES", "ES"), ("NIRE", "NIRE"), ("MUBO", "MUBO")]),
        ("at 40MUBO it fails", [("MUBO", "MUBO")]),
        ("two dies and a Die", [("dies", "die"), ("Die", "die")]),
        ("C++ or C or C#", [("C++", "C++"), ("C", "C")]),
        ("the +5V rail of /dev/nvme0n1.", [("+5V", "+5V"), ("/dev/nvme0n1", "/dev/nvme0n1")]),
        ("tCCS, tccs and TCCS", [("tCCS", "tCCS"), ("tccs", "tCCS"), ("TCCS", "tCCS")]),
        ("mA is not MA", [("mA", "mA"), ("MA", "MA")]),
        ("Write amplification", [("Write amplification", "write-amplification")]),
        ("write_amplification", [("write_amplification", "write-amplification")]),
        ("how to use PUC+ ?", [("PUC", "PUC")]),
        ("P/E cycles, P-E", [("P/E", "P/E"), ("P-E", "P/E")]),
        ("the under array periphery", [("under array periphery", "PUC")]),
        ("请问缓存命中率是多少", [("缓存命中率", "缓存命中率")]),
        ("die STRASSENBAHN", [("die", "die"), ("STRASSENBAHN", "Straßenbahn")]),
        ("e\u0301\u200b ＰＵＣ ﬁne N\u200bIRE", [("ＰＵＣ", "PUC"), ("N\u200bIRE", "NIRE")]),
    ],
)  # fmt: skip
def test_terms_are_found_in_a_text(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "How can it act as all or nothing?",
        "Can you do it, or am I wrong? As is.",
        "does it have to be",
        "don't",
        "WHAT IS IT ALL ABOUT, CAN YOU SAY",
        "NX-4410B",
        "PUCS",
        "write ampliﬁer",
        "",
        "👩‍💻🇩🇪",
    ],
)
def test_ordinary_words_and_foreign_codes_are_not_terms(text):
    assert found(text) == []


def test_capitals_or_quotes_make_an_ordinary_word_a_term():
    assert found("Ask IT about ALL.") == [("IT", "IT"), ("ALL", "ALL")]
    assert found('what does "it" mean, or `act`?') == [("it", "IT"), ("act", "ACT")]


def test_terms_that_are_not_words_are_found_in_a_question_in_capitals():
    assert found("WHAT DOES IT DO WITH THE PUC") == [("PUC", "PUC")]


def test_a_plural_comes_before_a_term_in_another_case():
    matcher = matcher_of("IAA", "IaaS")
    assert found("IAAs, IaaS and iaas", matcher) == [("IAAs", "IAA"), ("IaaS", "IaaS"), ("iaas", "IaaS")]


def test_the_longest_of_overlapping_terms_wins():
    assert found("flash translation layer") == [("flash translation layer", "flash translation layer")]
    both = matcher_of("flash layer", "layer cake recipe")
    assert found("flash layer cake recipe", both) == [("layer cake recipe", "layer cake recipe")]


def test_an_exact_term_wins_over_a_plural_variant():
    assert found("the DR and DRs", matcher_of("DR", "DRs")) == [("DR", "DR"), ("DRs", "DRs")]


def test_a_mention_is_marked_as_exact_or_variant():
    assert [mention.match for mention in MATCHER.find("PUC, PUCs, puc")] == ["exact", "variant", "variant"]


def test_a_part_number_that_is_a_term_is_found():
    assert found("Is NX-4410B shipped?", matcher_of("NX-4410B")) == [("NX-4410B", "NX-4410B")]


@settings(deadline=None)
@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("PUC /-'sit+#\u200b\u0301ﬁß"))))
def test_any_text_gives_ordered_mentions_with_true_offsets(text):
    mentions = MATCHER.find(text)
    assert all(text[mention.start : mention.end] == mention.surface for mention in mentions)
    assert all(one.end <= other.start for one, other in itertools.pairwise(mentions))
    assert all(mention.term in MATCHER.terms() or mention.term == "FTL" for mention in mentions)


def misspelt(text, matcher=MATCHER):
    mentions = matcher.misspelt(text, matcher.find(text))
    assert all(text[mention.start : mention.end] == mention.surface for mention in mentions)
    return [(mention.surface, mention.term) for mention in mentions if mention.match == "misspelt"]


def test_misspelt_terms_are_found():
    assert misspelt("What is PCU?") == [("PCU", "PUC")]
    assert misspelt("two PCUs") == [("PCUs", "PUC")]
    assert misspelt("a wrodline and a wordlin") == [("wrodline", "wordline"), ("wordlin", "wordline")]


@pytest.mark.parametrize(
    "text",
    [
        "Send a PDF over USB to NASA, PCIe, CPU and GPU",
        "PUD and PLC are other codes",
        "MUBA",
        "What happened to the cup of the engineers?",
        "worldwide wordings",
        "x5 L3P NIRE",
    ],
)
def test_merely_similar_words_are_not_misspelt_terms(text):
    assert misspelt(text) == []


def test_a_misspelt_ordinary_word_is_not_a_misspelt_term():
    assert misspelt("every cel of the wafre", matcher_of("CLE", "wafer")) == [("wafre", "wafer")]
    assert misspelt("CEL", matcher_of("CLE")) == [("CEL", "CLE")]


def test_a_known_term_is_never_a_misspelling_of_another():
    assert misspelt("PCU", matcher_of("PUC", "PCU")) == []


def test_a_misspelling_equally_near_to_two_terms_is_not_corrected():
    assert misspelt("PCUD", matcher_of("PUCD", "PCDU")) == []


@pytest.mark.parametrize("text", ["the SG&A expense", "R&SG of it", "R&CTS"])
def test_a_part_of_a_joined_name_is_not_a_mention(text: str) -> None:
    matcher = TermMatcher([Spelling(term, term, normalise(term)) for term in ("SG", "CTS")])
    assert matcher.find(text) == []


def test_a_term_with_joining_characters_is_found_whole() -> None:
    matcher = TermMatcher([Spelling(term, term, normalise(term)) for term in ("SG", "SG&A")])
    assert [mention.surface for mention in matcher.find("What is SG&A?")] == ["SG&A"]


def test_expansions_are_found_with_their_terms():
    pairs = [("LOA", "leave of absence"), ("PTO", "paid time off"), ("XX", "")]
    matcher = TermMatcher([Spelling("LOA", "LOA", "loa")], lambda: pairs)
    text = "Is a Leave of Absence, or LOA, paid time-off?"
    assert [(one.surface, one.term) for one in matcher.find_expansions(text)] == [
        ("Leave of Absence", "LOA"),
        ("paid time-off", "PTO"),
    ]
    assert [one.surface for one in matcher.find(text)] == ["LOA"]
    assert MATCHER.find_expansions(text) == []
