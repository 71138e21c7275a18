"""Matching of a reply to one of the offered choices: by a button's value, a number, or words such as "the legal one".

A reply that matches none of them is treated as a new question, not forced into a choice.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePosixPath

from rapidfuzz import fuzz

from argot.errors import Conflict, InvalidInput
from argot.language import AUXILIARIES, INTERROGATIVES
from argot.languages.catalogues import translate, translate_to_all
from argot.results import Choice, shorten_description
from argot.tools.retrieval.sibling_documents import Sibling
from argot.tools.text.words import bare
from argot.types import Sense

NONE_OF_THESE = "none"
ANSWER_ANYWAY = "anyway"
SENSE = "sense:"
TERM = "term:"
DOCUMENT = "document:"

_WORDS = re.compile(r"[^\W_]+")
# "2", "#1", "number 3.", "option (2)", "the no. 2"; not "2 weeks", which is matched as words.
_NUMBER = re.compile(r"(?:the |option |number |no\.? |nr\.? |#)*\(?(\d{1,4})\)?[.!]?")
# Terms may contain line ends and colons, so that everything after "term:" belongs to the term.
_BUTTON = re.compile(r"(?:sense:\d+|term:.+|document:\w+|none|anyway)", re.DOTALL)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NONE_PHRASES = {
    "none",
    "neither",
    "none of these",
    "none of them",
    "neither of these",
    "neither of them",
    "something else",
    "no",
}
_ANYWAY_PHRASES = {
    "anyway",
    "answer anyway",
    "go ahead",
    "go on",
    "just answer",
    "answer",
    "continue",
    "yes answer anyway",
}
# "what ...", "is ...", "list ..." begin a question rather than a choice.
_QUESTION_START = re.compile(
    rf"(?:{INTERROGATIVES}|{AUXILIARIES}|explain|describe|list|show|tell|give|define|compare)\b"
)
_FILLERS = frozenset(
    _WORDS.findall(
        """a an the one ones i we it its s that this these those is was mean means meant meaning sense of in for from
        with by to about as please think guess probably use take want wanted and or my our team context term word"""
    )
)
_MAX_CHOICE_WORDS = 12
"""Words; a longer reply is a new question."""
_MIN_SPELLING_RATIO = 86
"""rapidfuzz ratio (0 to 100) from which two words of five or more letters count as the same word, misspelt."""


def parse_choice(reply: str, choices: Sequence[Choice]) -> str | None:
    """Return the `answer` of the choice that the reply means; None if the reply is a new question.

    Raises:
        Conflict: the reply is the button of a choice that is over.
        InvalidInput: the reply is a number that was not offered, or fits several choices equally.
    """
    offered = {choice.answer for choice in choices}
    # Full-width digits become plain ones; quotes around text copied from the list are removed.
    text = unicodedata.normalize("NFKC", reply).strip().strip("\"'“”").strip()
    if text in offered:
        return text
    # People type "none" and "anyway" as words; the other two shapes come only from a button in an older message.
    if _BUTTON.fullmatch(text) and text not in {NONE_OF_THESE, ANSWER_ANYWAY}:
        raise Conflict(translate("The choice '%(choice)s' is no longer open.", choice=text) + _list_choices(choices))
    plain = " ".join(text.casefold().rstrip(".!").replace(",", " ").split())
    # The most certain reading first: "2" is a number even where a choice has a 2 in its expansion.
    return _match_number(plain, choices) or _match_phrase(plain, offered) or _match_words(text, plain, choices)


def is_bare_number(reply: str) -> bool:
    """Return whether the reply is only a number, as people type for a choice: it asks nothing of the documents."""
    return _NUMBER.fullmatch(unicodedata.normalize("NFKC", reply).strip().casefold()) is not None


def make_sense_choices(term: str, senses: Sequence[Sense]) -> list[Choice]:
    """Return the choices of these senses for a term. The context is left out if all senses share it."""
    shared = len({sense.context for sense in senses}) == 1 and all(sense.expansion for sense in senses)
    return [make_sense_choice(term, sense, with_context=not shared) for sense in senses]


def make_sense_choice(term: str, sense: Sense, *, with_context: bool = True) -> Choice:
    """Return the choice of this sense for a term of the question."""
    return Choice(
        answer=f"{SENSE}{sense.id}",
        term=term,
        context=sense.context if with_context else "",
        expansion=sense.expansion,
        description=sense.description,
    )


def make_document_choice(one: Sibling) -> Choice:
    """Return the choice of this document, or of a section of it."""
    file = one.hit.document.name
    # A file name that only repeats the title adds no information.
    known = bare(PurePosixPath(file).stem) == bare(one.name)
    return Choice(
        answer=f"{DOCUMENT}{one.hit.passage.id}", term="", expansion=one.name, description="" if known else file
    )


def _list_choices(choices: Sequence[Choice]) -> str:
    lines = "; ".join(f"{number}: {describe_choice(choice)}" for number, choice in enumerate(choices, 1))
    return " " + translate("You can choose %(lines)s. Or ask something else.", lines=lines)


def describe_choice(choice: Choice) -> str:
    """Return a choice as the text that people read."""
    if choice.answer == NONE_OF_THESE:
        return translate("none of these")
    if choice.answer == ANSWER_ANYWAY:
        return translate("answer anyway")
    if choice.answer.startswith(TERM):
        return f"{choice.term} ({translate('did you mean this?')})"
    meaning = choice.expansion or shorten_description(choice.description) or choice.term
    return f"{meaning} ({choice.context})" if choice.context else meaning


def _match_number(plain: str, choices: Sequence[Choice]) -> str | None:
    words = [word for word in plain.split() if word not in {"the", "one"}]
    if len(words) == 1 and words[0] in (*_ORDINALS, "last"):
        number = len(choices) if words[0] == "last" else _ORDINALS.index(words[0]) + 1
    elif match := _NUMBER.fullmatch(plain):
        number = int(match[1])
    else:
        return None
    if not 1 <= number <= len(choices):
        raise InvalidInput(translate("There is no choice %(number)s.", number=number) + _list_choices(choices))
    return choices[number - 1].answer


def _match_phrase(plain: str, offered: set[str]) -> str | None:
    for phrases, answer in ((_NONE_PHRASES, NONE_OF_THESE), (_ANYWAY_PHRASES, ANSWER_ANYWAY)):
        words = translate_to_all("none of these" if answer == NONE_OF_THESE else "answer anyway")
        if plain in phrases | words and answer in offered:
            return answer
    return None


def _match_words(text: str, plain: str, choices: Sequence[Choice]) -> str | None:
    # The whole reply is matched first: the expansion may contain fillers ("Point of Use"), which are dropped below.
    exact = [choice for choice in choices if plain in _list_names(choice)]
    if len(exact) == 1:
        return exact[0].answer
    # "IT" is a department, though "it" is a filler; in a reply written all in capitals the two look alike.
    named = (
        [] if text.isupper() else [word.casefold() for word in _WORDS.findall(text) if word.isupper() and word != "I"]
    )
    words = [word for word in _WORDS.findall(plain) if word not in _FILLERS or word in named]
    # With up to two words left, "list price" or "define layer" is more likely a name than a request.
    asks = text.endswith("?") or (len(words) > 2 and _QUESTION_START.match(plain))
    if not words or asks or len(words) > _MAX_CHOICE_WORDS:
        return None
    # The listed text is compared before the description, which often mentions the other senses.
    for fields in (("expansion", "context"), ("expansion", "context", "term", "description")):
        fitting = [choice for choice in choices if _has_words(choice, fields, words)]
        if len(fitting) == 1:
            return fitting[0].answer
        if fitting:
            text = translate("'%(reply)s' fits %(number)s of the choices.", reply=text[:60], number=len(fitting))
            raise InvalidInput(text + _list_choices(choices))
    return None


def _list_names(choice: Choice) -> set[str]:
    names = {choice.expansion, f"{choice.expansion} ({choice.context})"}
    if choice.answer.startswith(TERM):
        # Only where spellings are offered: all senses of a term share its name, so that naming it chooses none.
        names.add(choice.term)
    return {name.casefold() for name in names if name}


def _has_words(choice: Choice, fields: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether these fields of the choice contain every word of the reply, allowing small misspellings."""
    own = _WORDS.findall(" ".join(str(getattr(choice, field)) for field in fields).casefold())
    return bool(own) and all(any(_is_same_word(word, other) for other in own) for word in words)


def _is_same_word(word: str, other: str) -> bool:
    # Tolerates "comission"; shorter words that differ in one letter mean different things ("cell", "call").
    return word == other or (min(len(word), len(other)) >= 5 and fuzz.ratio(word, other) >= _MIN_SPELLING_RATIO)
