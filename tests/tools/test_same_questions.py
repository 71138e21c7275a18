"""Tests of the same question: which wordings share a key, and which must never."""

import pytest

from argot.tools.reading.same_questions import make_plain_key, make_question_key
from argot.types import Mention


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How do I reset my password?", "What do I have to do to reset my password?"),
        ("What is the maximum size of a log file?", "Tell me the log file's maximum size"),
        ("Which cipher protects the stored files?", "what cipher protects stored files"),
        ("For contractors, how long is the VPN session valid?", "How long is the VPN session valid for contractors?"),
        ("Where can I find the holiday policy?", "where is the holiday policy?"),
        ("Do you know when the freeze starts?", "When does the freeze start?"),
        ("How can we export a glossary to Excel?", "What are the steps to export the glossary to Excel?"),
        ("who approves a travel request?", "Who approves travel requests?"),
        ("How do I enable two-factor authentication?", "how to enable 2 factor authentication"),
        ("What happens at 5 % load?", "What happens at 5 percent load"),
    ],
)
def test_wordings_of_one_question_share_a_key(one: str, other: str) -> None:
    assert make_question_key(one) == make_question_key(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Who may open a port?", "Who may close a port?"),
        ("Can I contact you?", "Can you contact me?"),
        ("When do you pay me?", "When do I pay you?"),
        ("What does IT approve?", "What does it approve?"),
        ("How many US sites are there?", "How many of us are at sites?"),
        ("How do I convert a PDF to Word?", "How do I convert Word to a PDF?"),
        ("Does the controller reset the host?", "Does the host reset the controller?"),
        ("Does A depend on B?", "Does it depend on B?"),
        ("What happens at -40 degrees?", "What happens at 40 degrees?"),
        ("Is 5 V allowed there?", "Is 5 mV allowed there?"),
        ("What is the limit of the SSD-1 drive?", "What is the limit of the SSD-2 drive?"),
        ("Can contractors open tickets?", "Can't contractors open tickets?"),
        ("Which servers are not patched?", "Which servers are patched?"),
        ("Which files are backed up with encryption?", "Which files are backed up without encryption?"),
        ("What was the limit of the drive?", "What is the limit of the drive?"),
        ("Can I park here?", "Must I park here?"),
        ("Is there a limit on uploads?", "What is the limit on uploads?"),
        ("What is done before a release?", "What is done after a release?"),
        ("How many days per month?", "How many days per week?"),
        ("Who is the owner of the manager's team?", "Who is the manager of the owner's team?"),
        ("What is the price of the cost of a seat?", "What is the cost of the price of a seat?"),
        ("Is the fee > 5 %?", "Is the fee < 5 %?"),
        ("Why is the port closed?", "When is the port closed?"),
        ("How often is the log rotated?", "How is the log rotated?"),
        ("How should I store keys?", "How do I store keys?"),
        ("Who calls the customer?", "Whom does the customer call?"),
        ("Who reports to the board?", "Who reports the board?"),
        ("What imports does the plan list?", "What importance does the plan list?"),
        ("How do I open port 22?", "How do I open port 22 for contractors?"),
        ("Which port does HTTP use?", "Which port does HTTPS use?"),
        ("Can the watchdog reset after a crash?", "Can the watchdog be reset after a crash?"),
        ("What is the news policy for staff?", "What is the new policy for staff?"),
        ("What are the customs rules for exports?", "What are the custom rules for exports?"),
        ("How many days off do I get after 5+ years?", "How many days off do I get after 5 years?"),
        ("Is the rule a != b in force?", "Is the rule a = b in force?"),
        ("Is ~5 V allowed on the pin?", "Is 5 V allowed on the pin?"),
        ("What does the safety board do?", "What is the safety board?"),
        ("Do managers do audits?", "Are managers audits?"),
        ("Who reads the audit report?", "Who read the audit report?"),
        ("Who writes the May report?", "Who writes the can report?"),
    ],
)
def test_no_other_question_has_its_key(one: str, other: str) -> None:
    assert make_question_key(one) != make_question_key(other)
    assert make_plain_key(one) != make_plain_key(other)


def test_names_of_a_term_are_one() -> None:
    spelt = "What is the flash translation layer cache size?"
    start = spelt.index("flash")
    found = Mention("flash translation layer", start, start + len("flash translation layer"), "FTL")
    assert make_question_key(spelt, [found]) == make_question_key("What is the FTL cache size?")


@pytest.mark.parametrize("question", ["", "what?", "Size?", "Wie lange dauert das Trimmen eines Laufwerks?", "???"])
def test_too_few_words_or_another_language_has_no_key(question: str) -> None:
    assert make_question_key(question) == ""


def test_the_plain_key_ignores_case_white_space_and_the_closing_mark() -> None:
    assert make_plain_key(" Wie  lange\ndauert es? ") == make_plain_key("wie lange dauert es")
    assert make_plain_key("Is C++ used?") != make_plain_key("Is C used?")
