"""The wording of a heading as the question that a reader of its section would ask."""

from __future__ import annotations

import re

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.languages.english_contractions import CANNOT, NOT, WILL_NOT

MAX_WORDS = 12


def split_words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_NUMBERING = re.compile(
    r"^(?:(?:chapter|step|section|part|appendix)\s+(?:\d{1,3}|[a-z]|[ivx]{1,4})\b[:.]?|[\dA-Z]?[\d.]+[.:)]?)\s+",
    re.IGNORECASE,
)
_GERUND = re.compile(r"^((?:[a-z]+-)?[a-z]{2,})ing\b (?=\w)(.+)$")
_ASKS = re.compile(r"(?:why|how|when|where|what|who|which|can|do|does|is|are|should|must)\b", re.IGNORECASE)
_NO_GERUNDS = split_words(
    """opening operating timing training pricing during nothing something morning missing existing remaining following
    warning setting meeting packaging marketing manufacturing engineering accounting string ceiling lighting wiring
    switching processing computing floating leading hearing shipping clothing banking advertising being having
    supporting underlying working housing mapping outstanding upcoming interesting"""
)
_DOES_SOMETHING = re.compile(r"(?:setting|switching|opening|operating|training) (?:up|an?|the|your|between|to)\b")
"""Phrases with these words in which they are gerunds all the same."""
_DOUBLED = re.compile(r"([bdgmnprt])\1$|(?:contro|cance|labe|mode|trave|leve)ll$")
_SILENT_E = re.compile(
    r"(?:[^e]at|creat|delet|iz|us|clos|choos|os|ag|ang|ur|or[^dmkt]?|ov|iv|olv|erv|ak|ok|abl|ibl|dul|fil|fin|bin|lin"
    r"|id|od|ud|ib|rit|ut|yp|ac|ic|nc|rc|uc|par|har|am|im|um|ap|ip|op|[bcdfgkptz]l|[ae]rg|gn[^s]?)$"
)
_NO_SILENT_E = re.compile(
    r"(?:monitor|[aeiou]{2}[bdklmnprst]|develop|gn|set ?up|error|ok?ay|ut put|edit|visit|limit|ask)$"
)
_ALWAYS_SILENT_E = frozenset(("creat", "us", "choos", "sav", "releas", "increas", "decreas"))
IMPERATIVES = split_words(
    """activate add adjust allow apply approve assign attach avoid back build buy calculate calibrate call cancel
    change charge check choose clean clear close compile complete configure connect contact control convert copy
    correct create customize define delete deploy disable disconnect display download edit enable end enter erase
    exit export extend file fill find fix follow format get give handle hide hold identify import improve increase
    install keep launch learn link listen locate lock log make manage measure migrate monitor mount move mute obtain
    open order override pair pay perform play plan port prepare prevent print protect prove provide purchase put
    raise read receive reclaim record recover reduce register release remove rename renew replace replay report
    request reset resolve restart restore resume return review run save scan schedule search secure select send set
    share show sign solve sort specify start stop store submit switch sync take test track transfer troubleshoot
    turn uninstall unlock update upgrade upload use validate verify view watch write"""
)
_AS_NOUNS = split_words(
    """back build call change read write charge check control copy display end file format handle hold increase launch
    link lock log monitor mount order pair pay plan play port print purchase record release report request reset
    return review run scan schedule search select set share show sign sort start stop store switch test track
    transfer turn update upgrade use view watch"""
)
"""Imperatives that also begin noun phrases: only a following "your", article or preposition distinguishes the two."""
_TELLS = re.compile(
    r"^\w+ (?:(?:on|off|up|in|out) )?(?:an?|the|your|this|all|any|or|to|for|from|with)\b", re.IGNORECASE
)
_TROUBLE = re.compile(
    rf"^(?:there (?:is|are) |I have )|\b(?:(?:does|do|is|are){NOT}|{CANNOT}|can not|{WILL_NOT}|fails?)\b|^no \w",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"(?:see also|(?:an? )?(?:general |brief |technical )?(?:overview|introduction)|notes?"
    r"|(?:short |long )?descriptions?"
    r"|examples?(?: \d+| usage)?|(?:table of )?contents|references?|syntax|errors|(?:executive )?summary|related topics"
    r"|response elements|request (?:body|syntax|parameters)|response syntax|parameters|return values?|properties|topics"
    r"|important|(?:general )?background|document history|next steps|additional (?:resources|information)|purpose|scope"
    r"|general|general information|abstract|conclusions?|results?|methods?|discussion|details?|more information|other"
    r"|misc(?:ellaneous)?|usage|tips?|warnings?|cautions?|changes|changelog|change log|todo|to do|open issues"
    r"|known issues"
    r"|history|copyright|licen[cs]e|disclaimer|glossary|terms|definitions?|index|preface|foreword|appendix(?: \w)?"
    r"|step \d+|prototype|arguments?|returns?|revision history|contact|contacts|questions"
    r"|frequently asked(?: questions)?|faq|other (?:issues|topics|functions)|precautions(?: and notes)?"
    r"|credits|authors?|links?"
    r"|quick guides?|options?|values?|fields?|input|output|requirements|prerequisites|limitations|new features"
    r"|resolved issues|deprecations?|rationale|motivation|goals?|design|implementation|status|version|standard)$",
    re.IGNORECASE,
)
_NO_WORDS = re.compile(
    r"[_=<>|{}\[\]$#@%^~\\/*;]|\w\(\)|\.\w|--|\bv?\d+\.\d+|\b(?:figure|fig\.|table) \d", re.IGNORECASE
)
_PREPOSITION = re.compile(r"\b(?:of|for|in|on|to|with|at|by|from|between|during|after|before|under|without|via|as)\b")
_FILE_LIKE = re.compile(r"[_|<>{}]|\.\w{2,4}$|\d{5}")


def word_heading(heading: str, title: str, text: str, place: int, *, ambiguous: bool = False) -> str | None:
    """Word the question that `text`, which is under `heading`, answers; None if the heading has no content.

    Args:
        title: of the document.
        place: chooses among the wordings.
        ambiguous: other texts are under the same heading: the question includes the title, or is dropped.
    """
    plain = _NUMBERING.sub("", heading.replace("`", "").strip()).strip(" .:–-")
    if not _has_meaning(plain):
        return None
    about = _find_topic(plain, title)
    if ambiguous and not about:
        return None
    if plain.endswith("?"):
        return plain if len(plain.split()) > 2 and _ASKS.match(plain) and not ambiguous else None
    short = len(plain.split()) < 3 and not _find_task(lower_first(_convert_to_sentence_case(plain, text)))
    topic = f" {about}" if about and (ambiguous or short) else ""
    return _choose_wording(_convert_to_sentence_case(plain, text), topic, text, place)


def _has_meaning(heading: str) -> bool:
    words = heading.split()
    if _EMPTY.match(heading) or len(heading) < 5 or len(words) > MAX_WORDS or _NO_WORDS.search(heading):
        return False
    # A number, a date or a code by itself; a heading that was cut off.
    letters = sum(character.isalpha() for character in heading)
    if letters < 0.7 * len(heading.replace(" ", "")) or words[-1].lower() in STOP_WORDS - {"off", "on", "out", "up"}:
        return False
    return any(word.lower() not in STOP_WORDS and len(word) > 2 for word in words)


def _find_topic(heading: str, title: str) -> str:
    """Find the document's topic, as in "in wafer handling"; empty where people would not say its title."""
    plain = re.sub(r"\s*[:(–|,].*$", "", title).strip(" .")
    held = heading.casefold() in plain.casefold() or plain.casefold() in heading.casefold()
    if held or not 1 <= len(plain.split()) <= 7 or _FILE_LIKE.search(plain) or _EMPTY.match(plain):
        return ""
    # Of a title in capitals, the first word is as much a part of the name as the others.
    named = any(word[:1].isupper() for word in plain.split()[1:])
    return f"in {plain if named else lower_first(plain)}"


def _choose_wording(heading: str, topic: str, text: str, place: int) -> str:
    if task := _find_task(lower_first(heading)):
        return (f"How do I {task}{topic}?", f"how to {task}{topic}", f"How can I {task}{topic}?")[place % 3]
    return _ask_about_case(heading, topic) or _ask_about_thing(heading, topic, text, place)


def _ask_about_case(heading: str, topic: str) -> str:
    """Word a heading that names a question, a case or a fault; empty for all others."""
    if found := re.match(r"(when|where|what|how much|how many|how often) to (.+)", heading):
        return f"{found[1].capitalize()} should I {_turn_to_reader(found[2])}{topic}?"
    if found := re.match(r"(read )?((?:if|before|after) .+)", heading):
        return f"What should I {'know' if found[1] else 'do'} {_turn_to_reader(found[2])}?"
    if found := re.match(r"(.+?) (?:vs\.?|versus) (.+)", heading):
        return f"What is the difference between {found[1]} and {found[2]}?"
    if heading.startswith("no "):
        return f"Why is there {heading}?"
    if _TROUBLE.search(heading):
        return f"What can I do if {_turn_to_reader(heading)}?"
    return f"{heading}{topic}" if _ASKS.match(heading) else ""


def _find_task(heading: str) -> str:
    """Find the task in a heading, as after "how to"; empty where it names none."""
    if found := re.match(r"(?:how (?:to|do i|can i|do you)|i want to) (.+)", heading, re.IGNORECASE):
        return _turn_to_reader(found[1])
    found = _GERUND.match(heading)
    if found and (f"{found[1]}ing" not in _NO_GERUNDS or _DOES_SOMETHING.match(heading)):
        # "Adding and removing users": the second one, too.
        rest = re.sub(r"^(and|or) ([a-z]+)ing\b", lambda other: f"{other[1]} {_derive_infinitive(other[2])}", found[2])
        return _turn_to_reader(f"{_derive_infinitive(found[1])} {rest}")
    first, *others = heading.split()
    tells = first in IMPERATIVES and others and others[0] not in ("before", "after", "of", "and")
    if tells and (first not in _AS_NOUNS or _TELLS.match(heading)):
        return _turn_to_reader(heading)
    return ""


def _ask_about_thing(thing: str, topic: str, text: str, place: int) -> str:
    thing = re.sub(r"^description of ", "", thing)
    bare = re.sub(r"^(?:(?:about|on) )?(?:(?:the|an?) )?", "", thing)
    head = _PREPOSITION.split(bare)[0].strip()
    several = bool(re.search(r"[^sui]s$", head)) and " and " not in thing and "," not in thing
    if place % 2 == 0:
        # "What are the networks?" lacks an owner.
        if several and (topic or " " in bare):
            return f"What are the {bare}{topic}?"
        # The article is the text's own: nobody asks "What is the wear levelling?"
        if found := re.search(rf"\b(the|an?)?\s*\b{re.escape(bare)}\b(?!\s+and\b)", text, re.IGNORECASE):
            article = f"{found[1].lower()} " if found[1] else "the " if thing != bare else ""
            if " and " not in bare and "," not in bare:
                return f"What is {article}{bare}{topic}?"
        return f"What do I need to know about {re.sub(r'^(?:about|on) ', '', thing)}{topic}?"
    return f"{bare}{topic}"


def _turn_to_reader(text: str) -> str:
    """Turn words to the reader ("your") into the reader's own ("my")."""
    return re.sub(r"\byourself\b", "myself", re.sub(r"\byour\b", "my", re.sub(r"\byou\b", "I", text)))


def _convert_to_sentence_case(heading: str, text: str) -> str:
    """Convert capitals as in a sentence: only names keep theirs, as the text has them."""
    return " ".join(_lower_word(word, text) for word in heading.split())


def _lower_word(word: str, text: str) -> str:
    if not word[:1].isupper() or not (word[1:].islower() or word == "A") or not re.sub("['’]", "", word).isalpha():
        return word
    # A name keeps its capital within a sentence.
    return word if re.search(rf"[a-z,] {word}\b", text) else word.lower()


def _derive_infinitive(stem: str) -> str:
    """Derive the infinitive of a gerund without "ing": "creat" -> "create", "runn" -> "run", "upload" -> "upload"."""
    if _DOUBLED.search(stem) and stem != "add":
        return stem[:-1]
    regular = _SILENT_E.search(stem) and not _NO_SILENT_E.search(stem)
    return f"{stem}e" if regular or stem in _ALWAYS_SILENT_E else stem


def lower_first(text: str) -> str:
    """Lower the first letter, unless the word is an abbreviation or a name with capitals inside."""
    first = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if first[1:].islower() or first in ("A", "I") else text
