"""Questions full of unknown abbreviations, generated from a seed (Golden-Retriever 4.2 and its appendix C).

The paper fills 13 question templates with 30 random abbreviations. The templates here follow the same pattern (one to
five abbreviations, beside equations, numbers, units and slashes) with other words. The harder sets are Argot's own.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from argot.jargon_db.lookup.ordinary_words import is_function_word, is_well_known, load_english_words, load_well_known

TEMPLATES = (
    "What is the abbreviation {} short for?",
    "Could you tell me what {} means?",
    "What is {} when written out in full?",
    "{} is short for what?",
    "What is meant by the abbreviations {} and {}?",
    "If {} > 0.5, which value should {} have?",
    "How are {} and {} related?",
    "Given {} = 1.5 and {} < 0.1, what does {} come to?",
    "{} equals {}. Does {} have to be high or low?",
    "Which state are {}, {} in during a {} operation?",
    "It takes 10ns {} to reach 40{} in {}. What must {} be?",
    "Of which nature should {}, {}/{}/{} be?",
    "{}=10, {}=5, {}<0.1 in {}. To what do I set {}?",
)
"""Templates with one to five abbreviations: 4, 3, 3, 2 and 1 templates, as in the paper."""

# Places where an abbreviation is hardest to detect: no space beside it.
GLUED_TEMPLATES = (
    "Is 10ns{} enough?",
    "Why does the drive stop at 40{}?",
    "How long is 2.5ms{} in practice?",
    "Which one wins, {}/{}?",
    "Why is 1.5{}/{} so slow?",
    "What limits 10ns{} at 1.8GHz{}?",
    "May I chain {}/{}/{}?",
    "When does {}+{} exceed 2x{}?",
    "Can {}/{} replace {}/{}?",
    "Why does ({}:{}) fall to 20%{}/{}?",
    "Does {}/{}/{} slow 10us{} down in {}-mode?",
)

WITHOUT_ANY = (
    "How thick is the layer under the memory array?",
    "who do I ask when my laptop breaks",
    "Can I take three days off in Octobre?",
    "What happens to the data if the power fails while it writes?",
    "Why did the second test fail at 85 degrees?",
    "please help, teh wafer waht we sent back was scratched",
    "Why must I NOT open the box BEFORE the seal is dry?",
    "Set the limit to 10 mV or 5 kHz, whichever comes first?",
    "See section B2, table A4 and figure 3: is that still true?",
    "Does firmware v1.2.3 run on part KX-4410B?",
    "what does error KLD-0073 mean?",
    "Is it open on Monday or on Tuesday, or only in Q3 2026?",
    "Where is /var/log/drive.log and who reads readme.txt?",
    "Did Maria Keller from Munich call Dr. O'Brien at Siemens?",
    "HOW LONG IS THE TEST?",
    "HELP! THE DOOR WILL NOT OPEN",
    "Is Type II allowed in Phase III, as after World War II?",
    "Which is better: red/green/blue or 10%/20%/30%?",
    "how many km is it from the plant to the airport?",
    "Is the ratio x=5, y=7 or x+y=12?",
    "The pump-down takes 30min; can we do it in 25?",
    "hey, how r u? thx for the hint btw, where's the form?",
    "What's the meaning of life?",
    'What does "nominal" stand for in the second chapter?',
)
"""Questions written by hand, with typing errors, capitals, units, names, versions and paths, but without any
abbreviation that needs an explanation.
"""

PAPERS_SET = "as in the paper"
COUNT = 30
# The lengths of abbreviations in letters; a third of those drawn has each length.
LENGTHS = (2, 3, 4)
# The most draws, far more than 30 abbreviations need. Without a limit, a glossary that knows nearly every abbreviation
# would keep the loop running for ever.
_DRAWS = 100_000

Filler = Callable[[str, random.Random], str]


@dataclass(frozen=True, slots=True)
class AbbreviationQuestion:
    """A question and the abbreviations in it, as they are spelt there."""

    set: str
    text: str
    expected: tuple[str, ...]


def draw_abbreviations(chance: random.Random, is_known: Callable[[str], bool], count: int = COUNT) -> list[str]:
    """Draw random abbreviations, a third each with two, three and four letters.

    The probability of a letter is the share of English words that begin with it (4.2.1). Three kinds are drawn again:
    terms of the glossary, abbreviations that everybody knows (USB), and function words (IS).
    """
    # Sorted, because the order of a set differs from run to run, and a seed must always give the same draw.
    initials = [word[0].upper() for word in sorted(load_english_words())]
    found: list[str] = []
    for _ in range(_DRAWS):
        if len(found) == count:
            return found
        word = "".join(chance.choices(initials, k=LENGTHS[len(found) * len(LENGTHS) // count]))
        plain = is_function_word(word.lower()) or is_well_known(word)
        if word not in found and not plain and not is_known(word):
            found.append(word)
    raise AssertionError(f"{count} unknown abbreviations could not be drawn in {_DRAWS} draws")


def draw_questions(
    abbreviations: Sequence[str], chance: random.Random, is_known: Callable[[str], bool], each: int
) -> Iterator[AbbreviationQuestion]:
    """Yield every set of questions, with `each` questions for each template. Over the questions of a template, the
    abbreviations take turns in the first place.
    """
    sets: tuple[tuple[str, Sequence[str], Filler], ...] = (
        (PAPERS_SET, TEMPLATES, _keep_spelling),
        ("lower case", TEMPLATES, _lower_case),
        ("glued to numbers and slashes", GLUED_TEMPLATES, _keep_spelling),
        ("mixed case with digits", TEMPLATES, _mix_case),
    )
    for name, templates, filler in sets:
        for template in templates:
            for number in range(each):
                # In turn instead of at random, so that each abbreviation is asked about equally often.
                first = abbreviations[number % len(abbreviations)]
                others = [abbreviation for abbreviation in abbreviations if abbreviation != first]
                drawn = [first, *chance.sample(others, template.count("{}") - 1)]
                written = tuple(filler(abbreviation, chance) for abbreviation in drawn)
                yield AbbreviationQuestion(name, template.format(*written), written)
    yield from _draw_without_terms(chance, is_known, each)


def _draw_without_terms(
    chance: random.Random, is_known: Callable[[str], bool], each: int
) -> Iterator[AbbreviationQuestion]:
    """Yield questions without any term to find: those written by hand, and templates filled with ordinary words or with
    abbreviations that everybody knows, such as USB.
    """
    ordinary = [word for word in sorted(load_english_words()) if len(word) > 2 and not is_function_word(word)]
    # Only words in capitals: "WiFi" in a template for abbreviations would be another kind of question.
    famous = [word for word in sorted(load_well_known()) if re.fullmatch(r"[A-Z]{3,5}", word)]
    ordinary, famous = ([word for word in words if not is_known(word)] for words in (ordinary, famous))
    for text in WITHOUT_ANY:
        yield AbbreviationQuestion("without any", text, ())
    for name, words in (("without any", ordinary), ("only what everybody knows", famous)):
        for template in TEMPLATES:
            for _ in range(each):
                text = template.format(*chance.sample(words, template.count("{}")))
                yield AbbreviationQuestion(name, text, ())


def _keep_spelling(abbreviation: str, chance: random.Random) -> str:
    return abbreviation


def _lower_case(abbreviation: str, chance: random.Random) -> str:
    return abbreviation.lower()


def _mix_case(abbreviation: str, chance: random.Random) -> str:
    """Mix the case and add a digit: QRVT becomes qR2Vt."""
    # At least one lower-case letter and one capital.
    small = set(chance.sample(range(len(abbreviation)), chance.randint(1, len(abbreviation) - 1)))
    letters = [letter.lower() if place in small else letter for place, letter in enumerate(abbreviation)]
    # Never at the beginning: a digit there would make it a number with a unit ("5ns").
    letters.insert(chance.randint(1, len(letters)), str(chance.randint(1, 9)))
    return "".join(letters)
