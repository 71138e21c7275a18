"""Makes a follow-up question stand alone, without a language model.

Conservative: a complete question stays exactly as it is. In a follow-up, the pronoun is replaced by its term, or the
follow-up replaces its counterpart in the previous question ("and for the x8?"), or both questions are read together
("why?"). Nothing is taken from answers, which may be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from argot.language import AUXILIARIES, INTERROGATIVES, REQUESTS
from argot.languages.question_words import find_question_words
from argot.tools.text.quantities import find_quantities, find_units
from argot.tools.text.words import content_stems
from argot.types import Mention, Turn

TermFinder = Callable[[str], Sequence[Mention]]

_MAX_TURNS = 6
_MAX_FEW_STEMS = 2  # words: "How long does it take?" has as many and no subject
_MAX_CHARS = 600  # characters of the previous question that are still worth repeating

_PREPOSITIONS = "for in on at with without by of from to under over above below during after before within using as"
_PREPOSITION = re.compile(rf"(?:{'|'.join(_PREPOSITIONS.split())})\b", re.I)
# "What about its capacity?", "And in legal?"
_LEAD_IN = re.compile(
    r"^\s*(?:ok(?:ay)?|so|but|and|or|thanks|thank you|hm+)?[,.!]?\s*"
    r"(?:(?P<what>what about|how about|and what about|(?:the\s+)?same (?:question )?for|what if (?:it|they) (?:is|are))"
    r"|(?P<and>and|or|but))\s+(?P<rest>.+?)\s*\??\s*$",
    re.I | re.S,
)
# A message that asks the previous question for another case, and has no question of its own: "And what if I am a
# part-timer?", "even on Sundays?", "if she's ill?", "And when it's hot?"
_CASE = re.compile(
    r"^\s*(?:(?:ok(?:ay)?|and|but|so|or)[,.]?\s+){0,2}"
    rf"(?:what\s+if\s(?!(?:it|they)\s+(?:is|are)\b)|even\s+(?:if|when|while|{'|'.join(_PREPOSITIONS.split())})\s"
    rf"|(?:if|unless|while|(?<=and\s)when)\s+(?!{AUXILIARIES})(?!.*(?:,|\b(?:{INTERROGATIVES})\b)))",
    re.I | re.S,
)
# "What happens then?", "Does that include weekends?", "Is that also true for pups?", "Are pensioners cheaper?": about
# all that was asked.
_ABOUT_ALL = re.compile(
    r"^\s*(?:(?:and|but|so)\s+)?(?:(?!.*\b(?:if|when|once|after)\b)(?:\S+\s+){1,6}then\s*[?.!]*\s*$"
    r"|(?:is|does|do|did|would|will|can)\s+(?:that|this)\s+(?:also|still|really|only|always|includes?|appl(?:y|ies)|counts?"
    r"|covers?|affects?|holds?|go\s+for|true|the\s+same)\b"
    r"|(?:is|are|was|were|do|does|can|may)(?:\s+\S+){1,4}\s+(?:cheaper|dearer|different|included|excluded|exempt|too"
    r"|as\s+well)\s*\?*\s*$)",
    re.I,
)
# "And how do I apply?" names no subject; "and what is PUC?" asks for one.
_AND_ASKS = re.compile(
    rf"^\s*(?:and|but|so|or)\s+(?:{INTERROGATIVES})\b(?!\s*(?:['’]s|is|are|means?)\b|\s+do(?:es)?\s+\S+\s+(?:mean|stand)\b)",
    re.I,
)
_AMOUNT = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*\s?-?(?:[^\W\d_]+|[%°]\w?)")
_AMOUNT_ALONE = re.compile(rf"(?:(?:for|at|with|of|in)\s+)?(?:an?\s+)?({_AMOUNT.pattern})(?:\s+ones?)?", re.I)
# Complete messages that mean nothing without the previous question: "why?", "for example?", "are there exceptions?"
_BARE = re.compile(
    r"^\s*(?:and\s+|but\s+|so\s+)?(?:why(?:\s+not|\s+so|\s+is\s+that)?|how(?:\s+so|\s+come|\s+exactly)?|when|where|who"
    r"|which(?:\s+ones?)?|how\s+(?:much|many|long|often)|since\s+when|(?:can|could)\s+you\s+(?:explain|elaborate)"
    r"|explain|(?:tell|show)\s+me\s+more|more"
    r"|(?:please\s+)?(?:go\s+on|continue|carry\s+on|keep\s+going)|anything\s+else|for\s+example|such\s+as|(?:an?\s+)?examples?(?:\s+please)?"
    r"|(?:are|is)\s+there\s+(?:any\s+|an?\s+)?(?:other\s+|more\s+)?(?:exceptions?|alternatives?|others?|limits?|risks?"
    r"|exclusions?|way|ways)|what\s+else|and\s+then|then\s+what|what\s+then)\s*[?.!…]*\s*$",
    re.I,
)
# An asker who doubts an answer wants to see its basis: the same question, without the words of doubt.
_DOUBTS = re.compile(
    r"^\s*(?:(?:and|but|hm+|ok(?:ay)?|so)[,.]?\s+)?(?:are\s+you\s+(?:really\s+|quite\s+|very\s+)?(?:sure|certain)"
    r"(?:\s+(?:about|of)\s+(?:that|this|it))?|really|seriously|is\s+(?:that|this|it)\s+(?:true|right|correct|so))"
    r"\s*[?.!…]*\s*$",
    re.I,
)
# "thanks, and who approves?": the words before do not belong to the question.
_POLITE = re.compile(
    r"^\s*(?:(?:ok(?:ay)?|great|cool|perfect|nice|alright|all right|got it|i see|hm+|thx|thanks|thank you)"
    r"(?:\s+(?:a lot|so much|very much|again))?\s*[,.!;:–-]+\s*)+(?=\S)",
    re.I,
)
# "no, I meant sick leave", "no, the one for conferences": other words for a part of the previous question.
_CORRECTS = re.compile(
    r"^\s*(?P<no>(?:(?:no+|nope|sorry|wait|oops|actually|not (?:that|this|it)(?: one)?|wrong(?: one)?)\b[\s,.!;:–-]*)+)"
    r"?"
    r"(?:but\s+)?(?:(?P<mean>i\s+(?:meant|mean)(?:\s+to\s+ask)?(?:\s+about)?)\s+)?"
    r"(?P<one>(?:the\s+)?ones?\s+)?(?P<meant>\S.*?)[\s?.!]*$",
    re.I | re.S,
)
_PRONOUN = re.compile(
    r"\b(?P<owner>its|their)\b(?=\s+\w)"
    r"|\b(?P<thing>it|they|them|this one|that one|these ones|those)\b(?!['’])"
    # "How do I book one?"
    r"|(?<!which\s)(?<!this\s)(?<!that\s)(?<!each\s)(?<!no\s)(?P<single>\bone\b)(?=\s*[?.!]*\s*$)"
    # "this" and "that" only where no noun follows: "What does this mean?", not "this buffer".
    r"|\b(?P<pointer>this|that|these)\b(?=\s*(?:[?.!,]|$|is\b|are\b|was\b|were\b|does\b|do\b|did\b|can\b|could\b|will\b"
    r"|would\b|should\b|must\b|has\b|have\b|happens?\b|works?\b|means?\b|needs?\b|mean\b|work\b|happen\b))",
    re.I,
)
# Words for somebody, or a case, of the question before: "Can she also ride along?", "and if it's 340 euro, who signs?"
_OF_BEFORE = re.compile(
    r"\b(?:he|she|him|her|hers)\b|\b(?:he|she)['’]s\b|^\s*(?:and|but|so|or)\s+if\s+(?:it|that|they)['’](?:s|re)\b"
    r"|\b(?:on|about|for|of)\s+that\b(?=\s*(?:[?.!,]|$|and\b))",
    re.I,
)
# A time of the question before: "And who runs it that day?"
_THAT_TIME = re.compile(r"\bthat\s+(?:day|evening|night|morning|week|month|year|time)\b", re.I)
# "How do I fail over the office?": what "that" means in "Who decides that?"
_DEED = re.compile(
    r"^\s*how\s+(?:do|does|did|can|could|should|must|would|may)\s+(?:i|we|you|one|they)\s+(?P<deed>\w[^?]*?)\s*[?.!]*\s*$",
    re.I,
)
_DECIDING = re.compile(r"\s*(?:(?:and|but|so)\s+)?who\s+(?:decides|has\s+decided|may\s+decide|is\s+allowed)\s+", re.I)
# An "it" without a referent: "Is it possible to ...", "How long does it take?"
_EXPLETIVE = re.compile(
    r"\b(?:is|was|would|will|be)\s+it\s+(?:be\s+)?(?:\w+ly\s+)?(?:possible|true|necessary|ok|okay|allowed|safe|required|normal|enough"
    r"|better|best|worth|recommended|correct|important|likely|the case)\b|\b(?:does|did|will|would)\s+it\s+"
    r"(?:take|matter|make sense|help|hurt)\b|\bit\s+(?:is|was|takes|seems|makes sense|(?:rain|snow|freez)\w*)\b",
    re.I,
)
_CLAUSE = re.compile(r"\b(?:when|if|while|once|because)\s+\w+\s", re.I)
"""A clause that may say what a later word stands for: "If Ann is ill, who replaces her?"."""
_DETERMINER = re.compile(r"\b(?:the|a|an|my|our|your|this|that|each|every)\s+(?=[\w/.-])", re.I)
_NOUN_PHRASE = re.compile(r"\b(?:the|a|an|my|our|your|this|that|each|every)\s+((?:[\w/.-]+\s+){0,3}[\w/.-]+)", re.I)
_THING = r"(?:the|a|an|my|our|your)\s+(?:[\w/.-]+\s+){0,2}[\w/.-]+"
_THING_AT_END = re.compile(r"\b(?:of|for|about)\s+((?:(?:the|a|an|my|our|your)\s+)?(?:[\w/-]+\s+){0,2}[\w/-]+)$", re.I)
_BARE_THING = re.compile(r"(?:(?:the|a|an|my|our|your)\s+)?[\w/-]+(?:\s+[\w/-]+){0,2}", re.I)
_QUESTION_WORDS = re.compile(
    rf"^(?:{INTERROGATIVES}|{AUXILIARIES}|must|has|have|had|{REQUESTS}|if)\b",
    re.I,
)


def stand_alone(question: str, history: Sequence[Turn], terms: TermFinder) -> str:
    """Return the question, readable without its history; unchanged if it is complete or the first one.

    Earlier follow-ups are resolved on the way, so that a chain of them keeps its topic.
    """
    previous = ""
    for turn in history[-_MAX_TURNS:]:
        previous = _resolve(turn.question, previous, terms)
    return _resolve(question, previous, terms)


def _resolve(question: str, previous: str, terms: TermFinder) -> str:
    if not previous or len(previous) > _MAX_CHARS or len(question) > _MAX_CHARS or not question.strip():
        return question
    if pattern := find_question_words(question).follow_up:  # of another language than English
        return _join_questions(previous, question) if pattern.search(question) else question
    return _resolve_english(question, previous, terms)


def _resolve_english(question: str, previous: str, terms: TermFinder) -> str:
    polite = _POLITE.match(question)
    asked = question[polite.end() :] if polite else question
    if meant := _find_correction(asked):
        return _resolve_correction(meant, previous, terms)
    resolved = _resolve_follow_up(asked, previous, terms)
    return question if resolved == asked else resolved


def _resolve_correction(meant: str, previous: str, terms: TermFinder) -> str:
    if _QUESTION_WORDS.match(meant):
        return _resolve_follow_up(meant, previous, terms)
    return _replace_amount(meant, previous) or _replace_counterpart(meant, meant, previous, terms)


def _resolve_follow_up(question: str, previous: str, terms: TermFinder) -> str:
    doubts = _DOUBTS.match(question)
    if (
        doubts
        or _BARE.match(question)
        or _CASE.match(question)
        or _ABOUT_ALL.match(question)
        or (_EXPLETIVE.search(question) and len(content_stems(question)) <= _MAX_FEW_STEMS)
    ):
        return previous if doubts else _join_questions(previous, question)
    pronoun = _find_dangling_pronoun(question, terms)
    if pronoun is not None:
        return _replace_pronoun(question, pronoun, previous, terms)
    if _leans_on_before(question, terms):
        return _join_questions(previous, question)
    if _AND_ASKS.match(question) and len(content_stems(question)) < _MAX_FEW_STEMS and not terms(question):
        return _join_questions(previous, question)
    fragment = _find_fragment(question, terms)
    if not fragment:
        return question
    return _replace_amount(fragment, previous) or _replace_counterpart(question, fragment, previous, terms)


def _find_correction(question: str) -> str:
    """Return what was meant instead, in a message that corrects the previous question; empty if it corrects nothing."""
    found = _CORRECTS.match(question)
    if found is None or not content_stems(found["meant"]):
        return ""
    # "The one for conferences" needs a "no", or it may answer something.
    is_other_case = found["no"] and found["one"] and _PREPOSITION.match(found["meant"])
    return found["meant"] if found["mean"] or is_other_case else ""


def _join_questions(previous: str, question: str) -> str:
    """Return both questions, the earlier first: for a follow-up that cannot be merged into it."""
    ended = previous.rstrip()
    ended = ended if ended.endswith(("?", ".", "!")) else f"{ended}?"
    follow_up = question.strip()
    return f"{ended} {follow_up[:1].upper()}{follow_up[1:]}"


def _find_dangling_pronoun(question: str, terms: TermFinder) -> re.Match[str] | None:
    """Return the first pronoun, unless it can refer to something before it in the question."""
    for match in _PRONOUN.finditer(question):
        if any(e.start() <= match.start() < e.end() for e in _EXPLETIVE.finditer(question)):
            continue
        before = question[: match.start()]
        named_before = bool(terms(before)) or bool(_NOUN_PHRASE.search(before)) or len(content_stems(before)) > 1
        # Only the first pronoun counts: later ones may refer to the same thing.
        return None if named_before else match
    return None


def _leans_on_before(question: str, terms: TermFinder) -> bool:
    """Return whether a question has a word for somebody, a case or a time that nothing before it in the question
    names.
    """
    if (time := _THAT_TIME.search(question)) and not find_quantities(question[: time.start()]):
        return not _CLAUSE.search(question[: time.start()])
    found = _OF_BEFORE.search(question)
    before = question[: found.start()] if found else question
    return found is not None and not (terms(before) or _NOUN_PHRASE.search(before) or _CLAUSE.search(before))


def _replace_pronoun(question: str, pronoun: re.Match[str], previous: str, terms: TermFinder) -> str:
    before, behind = question[: pronoun.start()], question[pronoun.end() :]
    deed = _DEED.match(previous) if _DECIDING.fullmatch(before) and not behind.strip(" ?!.") else None
    if deed:
        return f"{before}to {deed['deed']}{behind}"
    topic = _find_topic(previous, terms)
    of_several = pronoun.group().lower() in {"they", "them", "their", "those", "these"}
    # "they" refers to several things. Both questions are then searched for as one.
    if not topic or (of_several and not topic.endswith("s")):
        return _join_questions(previous, question)
    if pronoun["owner"]:
        topic = f"{topic}'" if topic.endswith("s") else f"{topic}'s"
    return f"{question[: pronoun.start()]}{topic}{question[pronoun.end() :]}"


def _find_topic(previous: str, terms: TermFinder) -> str:
    """Return the subject of the previous question: its one term, else its one noun phrase; empty if that is unclear."""
    surfaces = list(dict.fromkeys(mention.surface for mention in terms(previous)))
    if surfaces:
        # "its" after "KPU and QMB" may be either.
        return surfaces[0] if len(surfaces) == 1 else ""
    phrases = [_trim_phrase(match.group(1)) for match in _NOUN_PHRASE.finditer(previous)]
    single = len(_DETERMINER.findall(previous)) == 1 and phrases and phrases[0]
    return f"the {phrases[0]}" if single else ""


def _trim_phrase(phrase: str) -> str:
    """Return the words of a noun phrase up to the first that cannot belong to it: "wafer lot" of "wafer lot stored"."""
    kept: list[str] = []
    for word in phrase.split():
        if not content_stems(word) or (kept and re.fullmatch(r"\w+ed|\w+ly", word)):
            break
        kept.append(word.rstrip(".,"))
    return " ".join(kept)


def _find_fragment(question: str, terms: TermFinder) -> str:
    """Return the words that replace a part of the previous question; empty if it asks something by itself."""
    lead_in = _LEAD_IN.match(question)
    # "And who signs it?" is a separate question, "and for the x8?" is not.
    if lead_in and not (lead_in["and"] and _QUESTION_WORDS.match(lead_in["rest"])):
        return lead_in["rest"]
    return question.strip().rstrip("?") if _is_fragment(question, terms) else ""


def _is_fragment(question: str, terms: TermFinder) -> bool:
    """Return whether a question is a few words that ask nothing by themselves: "at 85 °C?", "in days?"."""
    text = question.strip()
    if _AMOUNT_ALONE.fullmatch(text.rstrip("?").strip()):
        return True
    return (
        text.endswith("?")
        and len(text.split()) <= 6
        and not _QUESTION_WORDS.match(text)
        and bool(_PREPOSITION.match(text))
        # "IN" may be a term.
        and not terms(re.split(r"\W", text)[0])
    )


def _replace_counterpart(question: str, fragment: str, previous: str, terms: TermFinder) -> str:
    """Return the previous question with its counterpart replaced by the fragment; both questions if there is none."""
    body = previous.rstrip().rstrip("?.! ")
    preposition = _PREPOSITION.match(fragment)
    # "And in legal?" replaces "in manufacturing" at the end; without a counterpart it is added: "for suppliers?".
    if preposition:
        thing = re.fullmatch(rf"(?:for|of|with|in|on|at)\s+({_THING})", fragment.strip(), re.I)
        theirs_at_end = re.search(rf"\b(?:for|of|with|in|on|at)\s+({_THING})$", body, re.I)
        if thing and theirs_at_end:
            return f"{body[: theirs_at_end.start(1)]}{thing.group(1)}?"
        counterpart = re.search(rf"\b{preposition.group()}\s+(?:[\w/.'-]+\s*){{1,4}}$", body, re.I)
        return f"{body[: counterpart.start()] if counterpart else body + ' '}{fragment}?"
    theirs, ours = terms(previous), terms(fragment)
    if len({mention.surface for mention in theirs}) == 1 and len(ours) == 1:
        bare = re.sub(r"^(?:the|a|an)\s+", "", fragment.strip(), flags=re.I)
        if bare == ours[0].surface:
            return f"{_replace_all(body, theirs, bare)}?"
    phrases = list(_NOUN_PHRASE.finditer(body))
    if phrases and phrases[-1].end() == len(body) and fragment.lower().startswith(("the ", "a ", "an ")):
        return f"{body[: phrases[-1].start()]}{fragment}?"
    # "And safety?" after "phone number of the service desk", "what about adoption?" after "... about parental leave".
    theirs_at_end = _THING_AT_END.search(body)
    if theirs_at_end and _BARE_THING.fullmatch(fragment.strip()) and content_stems(fragment):
        return f"{body[: theirs_at_end.start(1)]}{fragment.strip()}?"
    return _join_questions(previous, question)


def _replace_amount(fragment: str, previous: str) -> str:
    """Return the previous question with its one amount of the fragment's unit replaced: "and for 35 kg?" after "a 27
    kilo dog"; empty if the fragment is more than an amount, or has no such counterpart.
    """
    found = _AMOUNT_ALONE.fullmatch(fragment.strip())
    if not found:
        return ""
    theirs = [one for one in _AMOUNT.finditer(previous) if find_units(one.group()) == find_units(found[1])]
    return f"{previous[: theirs[0].start()]}{found[1]}{previous[theirs[0].end() :]}" if len(theirs) == 1 else ""


def _replace_all(text: str, mentions: Sequence[Mention], new: str) -> str:
    # From the end, so that earlier offsets stay valid.
    for mention in reversed(mentions):
        if mention.end <= len(text):
            text = f"{text[: mention.start]}{new}{text[mention.end :]}"
    return text
