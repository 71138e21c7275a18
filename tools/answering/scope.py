"""Comparison of two sentences' words of scope and of direction: does one narrow, widen or reverse the other?

English only; words outside these lists are ignored. `denial.py` handles negation.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from argot.days import MONTH_NAMES
from argot.languages.english_contractions import CONTRACTED_NOT
from argot.tools.answering.denial import (
    CLAUSE,
    NEGATION,
    find_clauses_about,
    has_denying_word,
    is_denied,
    split_clauses,
    strip_idle_negations,
)
from argot.tools.answering.support import find_statement_stems, list_units
from argot.tools.text.quantities import WEEKDAY_NAMES, normalize_number
from argot.tools.text.words import NUMBER_WORDS, fold_words, stem

_OPPOSITES = (
    "at_least minimum above over exceed exceeds more_than / at_most maximum up_to below under less_than fewer_than",
    "before / after",
    "enable enables enabled / disable disables disabled",
    "on / off",
    "high higher highest / low lower lowest",
    "increase increases increased increasing rise rises / decrease decreases decreased falls fall"
    " reduce reduces reduced",
    "lengthen lengthens lengthened extend extends extended / shorten shortens shortened",
    "allow allows allowed permit permits permitted may / forbid forbids forbidden forbade prohibit prohibits"
    " prohibited banned",
    "always / never",
    "all every each everything everybody everyone / none no nothing nobody nowhere",
    "first / last",
    "fast faster fastest / slow slower slowest",
    "open opens opened / close closes closed",
    "success successful succeed succeeds succeeded / failure fail fails failed",
    "international foreign abroad / domestic national inland",
    "internal internally inside within / external externally outside",
    "new newer newest / old older oldest",
    "optional voluntary optionally / mandatory obligatory compulsory required",
    "good / bad",
    "wet moist / dry dried",
    "warm warmer warmest hot hotter hottest / cold colder coldest cool cooler",
    "longer longest / shorter shortest",
    "more / less fewer",
    "include includes included including / exclude excludes excluded excluding",
    "accept accepts accepted approve approves approved / reject rejects rejected refuse refuses refused"
    " decline declines declined",
    "public publicly / private confidential secret",
    "permanent permanently / temporary temporarily",
    "manual manually / automatic automatically",
    "start starts started begin begins began / end ends ended stop stops stopped",
    "add adds added / remove removes removed delete deletes deleted",
    "earlier earliest / later latest",
    "joiner joiners / leaver leavers",
    "upper / lower",
    "left / right",
    "online / offline",
    "import imports imported / export exports exported",
    "buy buys bought / sell sells sold",
    "best / worst",
    "cheap cheaper cheapest / expensive",
)
_PLACES: dict[str, list[int]] = {}
"""The sides of each word and phrase above, as numbers: an even one and the next are opposites."""
for _side, _words in enumerate(side for pair in _OPPOSITES for side in pair.split(" / ")):
    for _word in _words.split():
        _PLACES.setdefault(_word.replace("_", " "), []).append(_side)


_IDLE_DIRECTION = re.compile(
    r"(?<=%) off\b|\b(?:reductions?|discounts?|rebates?) on\b|\b(?:goes|went) up to\b", re.IGNORECASE
)


def strip_idle_directions(text: str) -> str:
    """Return a text without words that have no direction: "30 % off", "a reduction on", "the fee goes up to £5"."""
    return _IDLE_DIRECTION.sub(" ", text)


def find_sides(word: str) -> list[int]:
    """Return the sides of a word of direction, as numbers: `side ^ 1` is the opposite. Empty for any other word."""
    return _PLACES.get(word, [])


_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W_]+)*")
_TURNING = """not no never none nothing nobody neither nor cannot without unable hardly only solely always with may must
can shall"""
_DECISIVE = frozenset(_TURNING.split()).union(
    word for word in _PLACES if " " not in word and word not in ("above", "over", "below", "under")
)
"""Words that reverse a sentence if one replaces another and all else is quoted."""
_EQUIVALENT = {"can": "may", "shall": "must"}
"""Words that mean the same in rules."""
_PLACING = frozenset({"until", "before", "after", "by", "since", "from", "to"})
"""Words that change its time or place in the same way."""
_FORBIDDEN = re.compile(r"\b(?:not (?:be )?(?:allowed|permitted)|forbidden|prohibited|banned)\b", re.IGNORECASE)
_PREFIXES = ("un", "non", "dis", "in", "im", "ir", "il")
_MIN_CLAUSE_STEMS = 2  # stems besides the word of direction
_ON_A_DAY = re.compile(rf"\bon (?:\d|{'|'.join((*WEEKDAY_NAMES, *MONTH_NAMES))})", re.IGNORECASE)
_MIN_FRAME = 2  # words besides the decisive ones in a text that is compared word for word
_MIN_BASE_LETTERS = 4  # letters: "put" and "input" are no opposites


def _build_any_of(words: str, behind: str = "") -> str:
    """Return a pattern for any of the words ("_" for a blank, "*" for any ending), followed by `behind`."""
    alternatives = "|".join(words.split()).replace("_", " ").replace("*", r"\w*")
    # Not before a hyphen: "must-have" is no "must".
    return rf"\b(?:{alternatives})\b(?!-){behind}"


_DENYING = _build_any_of("not no never cannot nothing nobody none")
_EXCEPTING = _build_any_of("unless until except* without before")
_REQUIRING = _build_any_of("must has_to have_to need needs required requires")
_PERMITTING = _build_any_of("may can allow allows allowed permit permits permitted possible")
_LIMITING = _build_any_of(
    "only solely exclusively alone sole just merely simply purely limited restricted reserved confined nothing_but"
    " no_other no_others no_one nobody elsewhere"
)
_BY = re.compile(r"\bby ([^,;:.]+)", re.IGNORECASE)
_HAS_TO_BE = re.compile(r"\b(?:must|has to|have to|needs? to) be \w+ by\b", re.IGNORECASE)
_MIN_SAME_CONDITION = 0.7  # share of a condition's stems in the condition that bears it out
_ONLY_WHO = re.compile(
    r"\bonly (?P<who>[^,;:.]{3,60}?) (?:can|may|must|should|is|are|has|have|will|get)\b", re.IGNORECASE
)
_STOP = re.compile(r"[.!?]\s+|\n")
_ORDER_WORDS = ("before", "after")
_ORDER = re.compile(r"\b(?:before|after)\b", re.IGNORECASE)
_NOT_ONLY = re.compile(r"\bnot (?:only|just|merely)\b", re.IGNORECASE)
_BESIDES = re.compile(
    _build_any_of(
        "not_only not_just not_merely also besides moreover too both as_well addition other* further* instead_of"
        " rather_than"
    ),
    re.IGNORECASE,
)
_CONDITIONED = re.compile(
    _build_any_of("only", r"(?: be (?P<done>\w+))? (?P<when>if|when|once|after|with|from|until|for|by|in)\b"),
    re.IGNORECASE,
)
_SCOPES = {
    name: (re.compile(said, re.IGNORECASE), re.compile(source, re.IGNORECASE))
    for name, (said, source) in {
        "only": (
            # "only 5 euros" stresses the amount and limits nothing.
            r"^only\b|(?<!not )(?<!if )" + _build_any_of("only solely exclusively", r"(?! (?:about )?[$€£]?\d)"),
            _LIMITING,
        ),
        "except": (
            _build_any_of("except excepting exception apart_from excluding"),
            _build_any_of(
                "except* unless exempt* apart_from exclud* other_than but not no without however otherwise save_for"
            ),
        ),
        "exempt": (
            _build_any_of("exempt"),
            _build_any_of("exempt* except* unless exclud* other_than but not no never none without free"),
        ),
        "forbidden": (
            _build_any_of("forbidden"),
            rf"{CONTRACTED_NOT}\b|"
            + _build_any_of(
                "forbid* forbade prohibit* ban bans banned disallow* illegal unlawful against avoid* prevent* refus*"
                " reject* exclud* restrict* not no never none nothing nobody neither nor cannot without unless except*"
                " only"
            ),
        ),
        "unless": (
            _build_any_of("unless"),
            _build_any_of("unless except* only_if only_when only_with only_after without if when otherwise"),
        ),
        "optional": (
            _build_any_of("optional optionally voluntary voluntarily"),
            _build_any_of("optional* voluntar* may can could if free choose wish like allowed permitted not no"),
        ),
        "at least": (
            _build_any_of("minimum"),
            r"[>≥+]|"
            + _build_any_of(
                "least more over above minimum min exceed* greater larger longer higher beyond from starting upwards"
                " after reach* threshold once"
            ),
        ),
        "at most": (
            _build_any_of("maximum"),
            r"[<≤]|"
            + _build_any_of(
                "most less under below maximum max up_to fewer shorter lower smaller limit* cap caps capped ceiling"
                " within until by before exceed slower faster highest"
            ),
        ),
        "always": (
            _build_any_of("always at_all_times without_exception"),
            _build_any_of("always all every each any must never whenever no constant* continuous*"),
        ),
        "all": (
            # "all over", "all in all", "all about" and "all right" are idioms.
            _build_any_of(
                "all everything everybody everyone", r"(?! (?:the )?(?:over|of th(?:is|ese)|in all|about|right))"
            ),
            _build_any_of(
                "all every* each any* whole entire* both always full* total* complete* no none nothing never throughout"
                " across must various regardless whatever universal*"
            ),
        ),
        "must": (
            _build_any_of("must mandatory obligatory compulsory required_to has_to have_to"),
            # A rule needs no "must": "Visitors sign in." supports it, unless a word in it makes that a choice.
            rf"^(?!.*{_build_any_of('may optional* voluntar* can')})|"
            + _build_any_of(
                "must mandatory obligatory compulsory required requires has_to have_to need needs only not no never"
                " most least limit up_to please"
            ),
        ),
    }.items()
}
"""Words that narrow or widen a statement: those of the sentence, and those of the source that support them."""


def find_scope_objection(said: str, nearest: str) -> str:
    """Return how a sentence denies, narrows, widens or reverses the other, in a few words; empty if it does not."""
    claims_more = _NOT_ONLY.search(said) and not _BESIDES.search(nearest)
    said, nearest = strip_idle_negations(said), strip_idle_negations(nearest)
    if claims_more or is_denied(said, nearest):
        return "negation"
    # One word for both, so that the "allowed" of "not allowed" is no opposite of "forbidden".
    said, nearest = _FORBIDDEN.sub("forbidden", said), _FORBIDDEN.sub("forbidden", nearest)
    if word := _find_altered(said, nearest) or _find_misplaced(said, nearest):
        return f"'{word}' in what is a quotation otherwise"
    if word := _find_opposed(said, nearest) or _find_prefixed(said, nearest):
        return f"'{word}' against its opposite"
    nearest = _add_limits(said, nearest)
    for name, (says, bears) in _SCOPES.items():
        if _says_scope(says, said) and not says.search(nearest) and not bears.search(nearest):
            return f"scope '{name}'"
    return "scope 'only'" if _is_only_another(said, nearest) else ""


def _says_scope(says: re.Pattern[str], said: str) -> bool:
    """Return whether a text has the word of scope outside a name ("the Voluntary Transfer Programme") and outside
    another word ("read-only").
    """
    places = [found for found in says.finditer(said) if found[0] and said[found.start() - 1 : found.start()] != "-"]
    return any(found.start() == 0 or not found[0][0].isupper() for found in places)


def _add_limits(said: str, nearest: str) -> str:
    """Return the other sentence with "only" if a condition in it means the same: "may ... once", "no ... unless",
    "second source: none".

    Not for a sentence that begins with it: "Only managers may ..." is about people, and no condition means that.
    """
    if said[:4].casefold() == "only" and not _CONDITIONED.match(said):
        return nearest
    condition = _CONDITIONED.search(said)
    permits = condition and bool(re.search(rf"{_PERMITTING}.*\b{condition['when']}\b", nearest, re.IGNORECASE))
    if condition and condition["when"].casefold() == "by":
        permits = bool(_HAS_TO_BE.search(nearest)) and _share_doer(said, nearest, condition["done"] or "")
    # "Only if it is part of a title" for "instead of ..., unless it is part of a title", or for what must be
    if condition and condition.start() == 0 and condition["when"].casefold() in ("if", "when", "with"):
        permits = permits or _has_condition(said[condition.end() :], nearest)
    denies = re.search(
        rf"{_DENYING}.*{_EXCEPTING}|{_EXCEPTING}.*{_DENYING}|\b(?:none|no second)\b", nearest, re.IGNORECASE
    )
    return f"{nearest} only" if permits or denies else nearest


def _share_doer(said: str, nearest: str, done: str) -> bool:
    """Return whether two sentences name the same somebody by whom something is done.

    `done`: what the first says is done by them, if it says so; the other has to have it.
    """
    who = [frozenset().union(*map(find_statement_stems, _BY.findall(text))) for text in (said, nearest)]
    is_same = not done or stem(done.casefold()) in map(stem, fold_words(nearest))
    return is_same and not who[0].isdisjoint(who[1])


def _has_condition(condition: str, nearest: str) -> bool:
    """Return whether a sentence has a condition behind an exception, or as what must be."""
    stems = find_statement_stems(condition)
    theirs = find_statement_stems(nearest)
    main, *excepting = re.split(_EXCEPTING, nearest, maxsplit=1, flags=re.IGNORECASE)
    # "Fees are refunded unless the trip began" means "only if it did not begin".
    if excepting and not (NEGATION.search(main) or has_denying_word(main)):
        return False
    if not excepting and not re.search(_REQUIRING, nearest, re.IGNORECASE):
        return False
    behind = find_statement_stems(excepting[0]) if excepting else theirs
    return len(stems & theirs) >= _MIN_SAME_CONDITION * len(stems) and 2 * len(stems & behind) >= len(stems)


def _is_only_another(said: str, nearest: str) -> bool:
    """Return whether each sentence says who alone does something, and they name nobody in common."""
    mine, theirs = _ONLY_WHO.search(said), _ONLY_WHO.search(nearest)
    if not mine or not theirs:
        return False
    stems = [find_statement_stems(one["who"]) for one in (mine, theirs)]
    return all(stems) and stems[0].isdisjoint(stems[1])


def find_opposed_clause(said: str, passage: str) -> str:
    """Return a word of direction in a clause if the passage's clauses about the same have only its opposite."""
    for clause in CLAUSE.split(_FORBIDDEN.sub("forbidden", strip_idle_negations(said))):
        mine = find_directions(clause)
        stems = find_statement_stems(clause) - {stem(word) for word in mine.values()}
        if not mine or len(stems) < _MIN_CLAUSE_STEMS:
            continue
        theirs = [find_directions(_FORBIDDEN.sub("forbidden", there)) for there in find_clauses_about(stems, passage)]
        for at, word in mine.items():
            if at ^ 1 in mine or not any(at ^ 1 in one for one in theirs) or any(at in one for one in theirs):
                continue
            # "After a day without manual action it is accepted automatically": the word is in the other clause
            if any(at in find_directions(there) for there, others in split_clauses(passage) if stems & others):
                continue
            if word not in _ORDER_WORDS or not any(_is_same_order(said, unit) for unit, _ in list_units(passage)):
                return word
    return ""


def _find_opposed(said: str, nearest: str) -> str:
    """Return a word of direction in the sentence if the other has only its opposite; empty if there is none.

    If one clause of the other contains all stems that the two share, only that clause is compared.
    """
    clauses = [clause for clause in CLAUSE.split(nearest) if clause.strip()]
    shared = find_statement_stems(said) & find_statement_stems(nearest)
    whole = [clause for clause in clauses if shared <= find_statement_stems(clause)]
    # A clause that has nothing of the sentence, such as another cell of a row, is about something else.
    about = [clause for clause in clauses if shared & find_statement_stems(clause)]
    mine, theirs = find_directions(said), find_directions(whole[0] if len(whole) == 1 else " | ".join(about) or nearest)
    # at ^ 1 is the opposite side: 2n and 2n + 1 are a pair (`_PLACES`). A text with both sides decides nothing.
    # "No member would not" is "all members would".
    both_deny = NEGATION.search(said) and NEGATION.search(nearest)
    if _is_same_order(said, nearest):
        mine = {at: word for at, word in mine.items() if word not in _ORDER_WORDS}
    turned = (
        word
        for at, word in mine.items()
        if at ^ 1 in theirs and at not in theirs and at ^ 1 not in mine and not (both_deny and at in _PLACES["no"])
    )
    return next(turned, "")


def _is_same_order(said: str, nearest: str) -> bool:
    """Return whether two texts put the same things in the same order: "report it before you mark it" and "you may mark
    it after reporting it".
    """
    return any(_is_turned_around(said, sentence) for sentence in _STOP.split(nearest))


def _is_turned_around(said: str, sentence: str) -> bool:
    words = {tuple(one.casefold() for one in _ORDER.findall(text)) for text in (said, sentence)}
    if words != {("before",), ("after",)}:
        return False
    mine, behind_mine = map(find_statement_stems, _ORDER.split(said))
    theirs, behind_theirs = map(find_statement_stems, _ORDER.split(sentence))
    crossed = [len(mine & behind_theirs), len(behind_mine & theirs)]
    return min(crossed) > 0 and sum(crossed) > len(mine & theirs) + len(behind_mine & behind_theirs)


def _find_altered(said: str, nearest: str) -> str:
    """Return a decisive word (`_DECISIVE`) that differs while all else is quoted: "must park" for "may park"."""
    # An answer to "how ...?" may begin with "With", whatever word the passage has there.
    mine, theirs = _build_skeleton(re.sub(r"^with ", "", said, flags=re.IGNORECASE)), _build_skeleton(nearest)
    frame, whole = [word for word, _ in mine], [word for word, _ in theirs]
    if len(frame) < _MIN_FRAME:  # "Every month" has too few words to come from this sentence rather than another
        return ""
    # The sentence may be quoted from anywhere within the other.
    for start in range(len(whole) - len(frame) + 1):
        if whole[start : start + len(frame)] == frame:
            for (_, here), (_, there) in zip(mine, theirs[start:], strict=False):
                if changed := [
                    word for word in here if word not in there and not _is_put_elsewhere(word, said, nearest)
                ]:
                    return changed[0]
                if NEGATION.search(" ".join(there)) and not NEGATION.search(" ".join(here)):
                    return "not"
            return ""
    return ""


def _is_put_elsewhere(word: str, said: str, nearest: str) -> bool:
    """Return whether the other sentence has the word, or one of the same direction, elsewhere: "approved plans" for
    "plans that he approves". The "on" of "on Thursdays" is no direction, and "with" turns only a "without".
    """
    if word == "on" and _ON_A_DAY.search(said):
        return True
    if word == "with" and "without" not in fold_words(nearest):
        return True
    sides = set(_PLACES.get(word, ()))
    if NEGATION.fullmatch(word):
        return False
    words = fold_words(nearest)
    return word in words or word in map(_EQUIVALENT.get, words) or not sides.isdisjoint(find_directions(nearest))


def _find_misplaced(said: str, nearest: str) -> str:
    """Return a word of time or direction that differs while all else is quoted: "from Lyon" for "to Lyon"."""
    mine, theirs = fold_words(said), fold_words(nearest)
    for start in range(len(theirs) - len(mine) + 1):
        changed = [(here, there) for here, there in zip(mine, theirs[start:], strict=False) if here != there]
        if len(changed) == 1 and _PLACING.issuperset(changed[0]):
            return changed[0][0]
    return ""


@lru_cache(maxsize=8_000)
def _build_skeleton(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the words that are not decisive, each with the decisive ones before it (numbers, negation,
    direction, scope).
    """
    found: list[tuple[str, tuple[str, ...]]] = []
    decisive: list[str] = []
    for word in fold_words(text):
        number = NUMBER_WORDS.get(word, word)
        if number[0].isdigit() or word in _DECISIVE:
            decisive.append(_EQUIVALENT.get(word) or normalize_number(number))
        else:
            found.append((word, tuple(decisive)))
            decisive = []
    return (*found, ("", tuple(decisive))) if decisive else tuple(found)


@lru_cache(maxsize=8_000)
def find_directions(text: str) -> dict[int, str]:
    """Return the words of direction in the text, by their side in `_OPPOSITES`."""
    spoken = [word.casefold() for word in _WORD.findall(strip_idle_directions(text))]
    phrases = [f"{one} {other}" for one, other in pairwise(spoken)]
    found: dict[int, str] = {}
    for word in (*phrases, *spoken):
        for side in _PLACES.get(word, ()):
            found.setdefault(side, word)
    return found


def _find_prefixed(said: str, nearest: str) -> str:
    """Return a word that one text has with a negating prefix and the other without: "valid" and "invalid"."""
    mine, theirs = frozenset(fold_words(said)), frozenset(fold_words(nearest))
    for here, there in ((mine - theirs, theirs - mine), (theirs - mine, mine - theirs)):
        for word in here:
            if len(word) >= _MIN_BASE_LETTERS and any(prefix + word in there for prefix in _PREFIXES):
                return "" if _is_same_by_stem(word, said, nearest) else word
    return ""


def _is_same_by_stem(word: str, said: str, nearest: str) -> bool:
    """Return whether both texts have the word's stem, or one has a negation where the other has the prefix: "cannot be
    resolved" and "unresolved".
    """
    both = all(stem(word) in {stem(one) for one in fold_words(text)} for text in (said, nearest))
    return both or (NEGATION.search(said) is None) != (NEGATION.search(nearest) is None)
