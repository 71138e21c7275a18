"""Why a passage cannot support a sentence, whatever their similarity.

Similarity forgives exactly what must not be forgiven: "5 ns" is very similar to "50 ns", "is allowed" to "is not
allowed", and "only managers get it" to "managers get it". So numbers with their units, currencies and rates, dates,
names, words of scope and direction and negation have to agree, and no clause may stand without any support.
The rules read English; in other languages only numbers, units, identifiers and clauses are compared.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from os.path import commonprefix

from argot.corpus.stop_words import STOP_WORDS
from argot.jargon_db.words import is_common_word, is_ordinary_word
from argot.tools.quantities import canonical, missing_quantity, other_rate
from argot.tools.support import is_quoted, nearest_unit, statement_stems, visible
from argot.tools.words import NUMBER_WORDS, folded, identifiers, stem

# -- the words that decide ----------------------------------------------------------------------------------------------

_BOUNDS = {
    " at most ": r"(?:(?:must|may|can|should|shall|will|does|do) ?not|cannot|never) (?:be )?(?:exceed|(?:more|longer|greater"
    r"|higher|larger|later) than|above|over|beyond)|no(?:t| )(?: (?:more|longer|greater|higher|larger|later) than)"
    r"|no (?:more|longer|greater|higher|larger|later) than",
    " at least ": r"(?:(?:must|may|can|should|shall|will|does|do) ?not|cannot|never) (?:be |fall |drop )?(?:(?:less|fewer"
    r"|shorter|lower|smaller|earlier) than|below|under)|not? (?:less|fewer|shorter|lower|smaller|earlier) than",
}
"""Bounds that are said with a negation, which they are not."""
_BOUND = {name: re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE) for name, pattern in _BOUNDS.items()}

_NO_DENIAL = re.compile(r"\bNo\. ?(?=\d)|\bnot only\b|\bno matter\b|\bwhether or not\b|\bif not\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|neither|nor|cannot|without|unable|hardly|\w+n['’]t)\b", re.IGNORECASE
)
_DENIAL = re.compile(
    r"\b(?:forbid\w*|forbade|prohibit\w*|ban|bans|banned|refus\w+|reject\w*|lacks?|lacking|fails?|failed|failure|stays? out|kept out"
    r"|keep out|free (?:of|from)|rather than|instead|except\w*|exempt\w*|prevent\w*|avoid\w*|stops?|stopped|exclud\w+"
    r"|impossible|invalid|absent|missing|unless|nowhere|less|fewer|false|wrong|deny|denies|denied|zero|0)\b|\bun\w{4,}|\bnon-?\w{4,}",
    re.IGNORECASE,
)
"""Says no without a negation: enough to answer to one, but never one itself."""

_OPPOSITES = (
    "at_least minimum above over exceed exceeds more_than / at_most maximum up_to below under less_than fewer_than",
    "before / after",
    "enable enables enabled / disable disables disabled",
    "on / off",
    "high higher highest / low lower lowest",
    "increase increases increased increasing rise rises / decrease decreases decreased falls fall reduce reduces reduced",
    "lengthen lengthens lengthened extend extends extended / shorten shortens shortened",
    "allow allows allowed permit permits permitted may / forbid forbids forbidden forbade prohibit prohibits prohibited banned",
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
    "accept accepts accepted / reject rejects rejected refuse refuses refused",
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
"""Of each word and phrase above the sides it is on; an even one and the next are opposites."""
for _side, _words in enumerate(side for pair in _OPPOSITES for side in pair.split(" / ")):
    for _word in _words.split():
        _PLACES.setdefault(_word.replace("_", " "), []).append(_side)
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W_]+)*")
_DECISIVE = frozenset(
    """not no never none nothing nobody neither nor cannot without unable hardly only solely always with may must can
    shall""".split()
).union(word for word in _PLACES if " " not in word and word not in ("above", "over", "below", "under"))
"""Words of which one for another turns round a sentence that is quoted otherwise."""
_PREFIXES = ("un", "non", "dis", "in", "im", "ir", "il")
_SHORTEST_BASE = 4

_NUMBER_AHEAD = (
    r"(?= (?:(?:a|an|the|half) )?(?:[$€£¥]|[A-Z]{3} )?(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|a|an)\b)"
)
_SCOPES = {
    name: (re.compile(said, re.IGNORECASE), re.compile(source, re.IGNORECASE))
    for name, (said, source) in {
        "only": (
            r"^only\b|(?<!not )(?<!if )\b(?:only|solely|exclusively)\b(?! (?:about )?[$€£]?\d)",
            r"\b(?:only|solely|exclusively|alone|sole|just|limited|restricted|reserved|confined|unless|until|except\w*|without"
            r"|nothing but|no other|no one|nobody)\b",
        ),
        "except": (
            r"\b(?:except|excepting|exception|exempt|apart from|excluding|other than)\b",
            r"\b(?:except\w*|unless|exempt\w*|apart from|exclud\w+|other than|but|not|no|without|however|otherwise|save for)\b",
        ),
        "unless": (r"\bunless\b", r"\b(?:unless|except\w*|only (?:if|when|with|after)|without|if|when|otherwise)\b"),
        "optional": (
            r"\b(?:optional|optionally|voluntary|voluntarily)\b",
            r"\b(?:optional\w*|voluntar\w*|may|can|could|if|free|choose|wish|like|allowed|permitted|not|no)\b",
        ),
        "at least": (
            rf"\bminimum\b|(?:\b(?:at least|more than|over|above|upwards of|exceeds)|[>≥]=?){_NUMBER_AHEAD}",
            r"[>≥+]|\b(?:least|more|over(?!-)|above|minimum|min|exceed\w*|greater|larger|longer|higher|beyond|from|starting|upwards"
            r"|after|reach\w*|threshold|once)\b",
        ),
        "at most": (
            rf"\b(?:at most|maximum)\b|(?:\b(?:less than|under|below|up to|fewer than)|[<≤]=?){_NUMBER_AHEAD}",
            r"[<≤]|\b(?:most|less|under|below|maximum|max|up to|fewer|shorter|lower|smaller|limit\w*|capp?(?:ed|s)?|ceiling|within"
            r"|until|by|before|exceed|slower|faster|no more|highest)\b",
        ),
        "always": (
            r"\b(?:always|at all times|without exception)\b",
            r"\b(?:always|all|every|each|any|must|never|whenever|no|constant\w*|continuous\w*)\b",
        ),
        "all": (
            r"\b(?:all|everything|everybody|everyone)\b(?! (?:the )?(?:over|of (?:this|these|that|which)|in all|about|right))",
            r"\b(?:all|every\w*|each|any\w*|whole|entire\w*|both|always|full\w*|total\w*|complete\w*|no|none|nothing|never|throughout"
            r"|across|must|various|regardless|whatever|universal\w*|\w+s)\b",
        ),
        "must": (
            r"\b(?:must|mandatory|obligatory|compulsory|required to|ha(?:s|ve) to)\b",
            r"^(?!.*\b(?:may|optional|optionally|voluntary|voluntarily|can)\b)|\b(?:must|mandatory|obligatory|compulsory|required|requires"
            r"|ha(?:s|ve) to|needs?|only|not|no|never|most|least|limit|up to|please)\b",
        ),
    }.items()
}
"""What narrows or widens a statement: how the sentence says it, and what in the source is enough for it to say so."""

_CLAUSE = re.compile(
    r"[,;:.!?](?=\s)|\s[-–—]\s"
    r"|\s(?:and|but|or|which|who|whom|whose|because|while|whereas|although|though|so that|unless|except|since|if|when)\s"
)
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|be|been|has|have|had|will|can|must|may|should|do|does|did)\b")
_LEAST_IN_CLAUSE = 3
_FRAMING = frozenset(
    map(
        stem,
        [
            "according",
            "accordance",
            "passage",
            "passages",
            "document",
            "documents",
            "guide",
            "handbook",
            "manual",
            "page",
            "section",
            "source",
            "text",
            "policy",
            "note",
            "notes",
            "noted",
            "example",
            "examples",
            "general",
            "generally",
            "summary",
            "short",
            "case",
            "cases",
            "rule",
            "fact",
            "word",
            "words",
            "answer",
            "question",
            "mentioned",
            "stated",
            "described",
            "following",
            "provided",
            "information",
            "context",
            "example",
            "addition",
            "particular",
            "important",
            "overall",
            "result",
            "therefore",
            "however",
            "furthermore",
            "moreover",
            "additionally",
            "also",
            "finally",
            "usually",
            "typically",
        ],
    )
)
"""Stems of what an answer says about itself, which no passage has to bear out."""
_NAME = re.compile(r"(?:^|(?<=[\w,;(\"“‘'] ))(?<![.!?:] )[A-Z][a-zà-ÿ]{2,}(?![\w-]|['’][a-rt-z])")
_CALENDAR = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June|July|August|September"
    r"|October|November|December"
)
_BEHIND = 3
"""Words behind a negation that tell what is denied."""
_LONGEST_ENDING = 3
"""Letters in which a name and its adjective may differ: Sweden, Swedish."""


def objection(sentence: str, passage: str) -> str:
    """Why the passage cannot support the sentence; empty when nothing speaks against it, as with any quotation.

    Both are Markdown. Numbers, units, names and clauses may stand anywhere in the passage; rates, scope, direction and
    negation are those of the passage's most similar sentence. A name also counts as present where it is abbreviated.
    """
    if is_quoted(sentence, passage):
        return ""
    said, source = visible(sentence), visible(passage)
    if missing := missing_quantity(said, source):
        return f"number {missing}"
    if missing := _missing_identifier(said, source):
        return f"identifier {missing}"
    if missing := _missing_name(said, source):
        return f"name {missing}"
    nearest = nearest_unit(said, passage)
    if not nearest:
        return ""
    if other := other_rate(said, nearest, source):
        return f"rate {other}"
    return _turned_round(_bounded(said), _bounded(nearest)) or _unsupported_clause(said, source)


# -- identifiers and names --------------------------------------------------------------------------------------------


def _missing_identifier(said: str, source: str) -> str:
    there = identifiers(source)
    for name in sorted(identifiers(said) - there):
        bare = name.removesuffix("s")
        if bare in there or f"{name}s" in there:
            continue
        if _stands_in(bare, source) or _spelt_out(bare, source):
            continue
        if re.fullmatch(r"\d+[a-z%µ]{1,3}", name) or name in _CURRENCY_CODES:
            continue  # a quantity, judged as one
        return name
    return ""


_CURRENCY_CODES = frozenset(["eur", "usd", "gbp", "chf", "jpy", "cny", "rmb", "inr"])


def _stands_in(name: str, source: str) -> bool:
    """As a word of its own, in any capitals. Looked for plainly first: most often it does not stand there at all."""
    if name not in _lower(source):
        return False
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", source, re.IGNORECASE) is not None


@lru_cache(maxsize=2_000)
def _lower(source: str) -> str:
    return source.casefold()


def _spelt_out(abbreviation: str, source: str) -> bool:
    """Whether consecutive words of the source begin with the abbreviation's letters ("ODT": on-die termination)."""
    if not abbreviation.isalpha() or len(abbreviation) < 2:
        return False
    return any(abbreviation in initials for initials in _initials(source))


@lru_cache(maxsize=2_000)
def _initials(source: str) -> tuple[str, str]:
    """The first letters of all words, and of those that are no stop words."""
    every = folded(source)
    return "".join(word[0] for word in every), "".join(word[0] for word in every if word not in STOP_WORDS)


def _missing_name(said: str, source: str) -> str:
    """A capitalised word that the source lacks. None in a title, nor where all nouns have capitals."""
    named = [match for match in _NAME.finditer(said) if not _CALENDAR.fullmatch(match[0])]
    if not named or not _is_english(said, len(named)):
        return ""
    there = _words_of(source)
    for run in _in_runs(named):
        names = [name[0].casefold() for name in run]
        known = [name for name in names if name in there or stem(name) in there]
        if len(known) == len(names) or (run[0].start() == 0 and _may_begin(names, known)):
            continue
        if known and not any(_has_another_name_beside(name, names, source) for name in known):
            continue  # only a part of the name is given there
        if len(names) > 1 and "".join(name[0] for name in names) in _abbreviations(source):
            continue
        for name in names:
            if name not in known and not any(_same_name(name, other) for other in _names_of(source)):
                return name
    return ""


def _in_runs(named: list[re.Match[str]]) -> list[list[re.Match[str]]]:
    """Names that follow each other with one blank between."""
    runs: list[list[re.Match[str]]] = []
    for name in named:
        if runs and runs[-1][-1].end() + 1 == name.start():
            runs[-1].append(name)
        else:
            runs.append([name])
    return runs


def _may_begin(names: list[str], known: list[str]) -> bool:
    """Whether the first word, which is English, may have its capital from the beginning of the sentence alone."""
    first = is_common_word if len(names) == 1 else is_ordinary_word
    return first(names[0]) and set(names[1:]) <= set(known)


def _same_name(one: str, other: str) -> bool:
    """A name and what is made of it: Europe and European, Sweden and Swedish."""
    shared = len(commonprefix((one, other)))
    return shared >= _SHORTEST_BASE and max(len(one), len(other)) - shared <= _LONGEST_ENDING


@lru_cache(maxsize=2_000)
def _names_of(source: str) -> frozenset[str]:
    return frozenset(name.casefold() for name in re.findall(r"\b[A-Z][a-zà-ÿ]{3,}", source))


@lru_cache(maxsize=2_000)
def _abbreviations(source: str) -> frozenset[str]:
    return frozenset(word.replace(".", "").casefold() for word in re.findall(r"\b(?:[A-Z]\.?){2,}", source))


def _has_another_name_beside(name: str, names: list[str], source: str) -> bool:
    """Whether the source gives the name with a first name or surname that is none of these."""
    found = re.findall(rf"\b([A-Z][a-z]+) (?i:{name})\b|\b(?i:{name}) ([A-Z][a-z]+)\b", source)
    return any((before or after).casefold() not in names for before, after in found)


def _is_english(text: str, capitalised: int) -> bool:
    """Whether most words are English and most words small: in German, and in titles, a capital makes no name."""
    small = re.findall(r"\b[a-zà-ÿ]+\b", text)
    return capitalised <= len(small) and 2 * sum(map(is_common_word, small)) >= len(small)


@lru_cache(maxsize=2_000)
def _words_of(source: str) -> frozenset[str]:
    """All words and stems of the source."""
    spoken = folded(source)
    return frozenset(spoken) | {stem(word) for word in spoken} | identifiers(source)


# -- negation, direction and scope ------------------------------------------------------------------------------------


@lru_cache(maxsize=8_000)
def _bounded(text: str) -> str:
    """A text without the negations that deny nothing: "must not exceed" as "at most"."""
    for name, pattern in _BOUND.items():
        text = pattern.sub(name.strip(), text)
    return _NO_DENIAL.sub(" ", text)


def _turned_round(said: str, nearest: str) -> str:
    if _is_denied(said, nearest):
        return "negation"
    if word := _altered(said, nearest):
        return f"'{word}' in what is a quotation otherwise"
    if word := _opposed(said, nearest):
        return f"'{word}' against its opposite"
    if word := _prefixed(said, nearest):
        return f"'{word}' against its opposite"
    for name, (says, bears) in _SCOPES.items():
        if says.search(said) and not says.search(nearest) and not bears.search(nearest):
            return f"scope '{name}'"
    return ""


def _opposed(said: str, nearest: str) -> str:
    """A word of direction in the sentence where the other has only its opposite; within one clause of it, if that has
    all that the two share.
    """
    clauses = [clause for clause in _CLAUSE.split(nearest) if clause.strip()]
    shared = statement_stems(said) & statement_stems(nearest)
    whole = [clause for clause in clauses if shared <= statement_stems(clause)]
    mine, theirs = _directions(said), _directions(whole[0] if len(whole) == 1 else nearest)
    turned = (word for at, word in mine.items() if at ^ 1 in theirs and at not in theirs and at ^ 1 not in mine)
    return next(turned, "")


def _is_denied(said: str, nearest: str) -> bool:
    mine, theirs = _NEGATION.findall(said), _NEGATION.findall(nearest)
    if bool(mine) == bool(theirs):
        return bool(mine) and _denies_another(said, nearest)
    if len(mine) == 2 and "without" in mine:  # "not without" denies nothing
        return False
    if theirs and not _says_what_is_denied(said, nearest):
        return False
    denied, other = (said, nearest) if mine else (nearest, said)
    answers = {word.casefold() for word in _DENIAL.findall(other)} - {
        word.casefold() for word in _DENIAL.findall(denied)
    }
    return not answers


def _says_what_is_denied(said: str, nearest: str) -> bool:
    """Whether the sentence has most of the words next behind a negation of the other's."""
    stems = statement_stems(said)
    for denied in _NEGATION.finditer(nearest):
        words = [word for word in folded(nearest[denied.end() :]) if word not in STOP_WORDS][:_BEHIND]
        if words and 2 * sum(stem(word) in stems for word in words) >= len(words):
            return True
    return False


def _denies_another(said: str, nearest: str) -> bool:
    """Whether each denies, of what both say, only what the other does not: "A, not B" and "B, not A"."""
    mine, theirs = _denied_stems(said), _denied_stems(nearest)
    return not mine & theirs and bool(mine & statement_stems(nearest)) and bool(theirs & statement_stems(said))


@lru_cache(maxsize=8_000)
def _denied_stems(text: str) -> frozenset[str]:
    """What stands behind a negation in its clause."""
    behind = (part[found.end() :] for part in _CLAUSE.split(text) if (found := _NEGATION.search(part)))
    return frozenset().union(*map(statement_stems, behind))


def _altered(said: str, nearest: str) -> str:
    """A word that decides and that the sentence has at a place where the other has none or another; else a quotation."""
    mine, theirs = _skeleton(said), _skeleton(nearest)
    frame, whole = [word for word, _ in mine], [word for word, _ in theirs]
    for start in range(len(whole) - len(frame) + 1):
        if whole[start : start + len(frame)] == frame:
            for (_, here), (_, there) in zip(mine, theirs[start:], strict=False):
                if changed := [word for word in here if word not in there]:
                    return changed[0]
                if _NEGATION.search(" ".join(there)) and not _NEGATION.search(" ".join(here)):
                    return "not"
            return ""
    return ""


@lru_cache(maxsize=8_000)
def _skeleton(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The words that decide nothing, each with those before it that do (numbers, negation, direction, scope)."""
    found: list[tuple[str, tuple[str, ...]]] = []
    decisive: list[str] = []
    for word in folded(text):
        number = NUMBER_WORDS.get(word, word)
        if number[0].isdigit() or word in _DECISIVE:
            decisive.append({"can": "may", "shall": "must"}.get(word) or canonical(number))
        else:
            found.append((word, tuple(decisive)))
            decisive = []
    return (*found, ("", tuple(decisive))) if decisive else tuple(found)


@lru_cache(maxsize=8_000)
def _directions(text: str) -> dict[int, str]:
    """The words of direction in the text, by their side in `_OPPOSITES`."""
    spoken = [word.casefold() for word in _WORD.findall(text)]
    phrases = [f"{one} {other}" for one, other in pairwise(spoken)]
    found: dict[int, str] = {}
    for word in (*phrases, *spoken):
        for side in _PLACES.get(word, ()):
            found.setdefault(side, word)
    return found


def _prefixed(said: str, nearest: str) -> str:
    """A word that the other text has with or without a prefix of negation only: "valid" and "invalid"."""
    mine, theirs = frozenset(folded(said)), frozenset(folded(nearest))
    for here, there in ((mine - theirs, theirs - mine), (theirs - mine, mine - theirs)):
        for word in here:
            if len(word) >= _SHORTEST_BASE and any(prefix + word in there for prefix in _PREFIXES):
                return word
    return ""


# -- clauses ----------------------------------------------------------------------------------------------------------


def _unsupported_clause(said: str, source: str) -> str:
    """A clause of three words with a meaning, or of two and an auxiliary, none of which the source has."""
    there = _words_of(source)
    for clause in _CLAUSE.split(said):
        stems = {stem(word) for word in folded(clause) if word not in STOP_WORDS} - _FRAMING
        least = _LEAST_IN_CLAUSE - bool(_AUXILIARY.search(clause))
        if len(stems) >= least and not stems & there and not _abbreviated(clause, there):
            return f"clause '{clause.strip()}'"
    return ""


def _abbreviated(clause: str, there: frozenset[str]) -> bool:
    """Whether the source has the clause's initials ("the on-die termination": ODT)."""
    return any(len(initials) > 1 and initials in there for initials in _initials(clause))
