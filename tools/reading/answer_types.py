"""Type of the answer that a question wants, and the shape of sentences of that type."""

from __future__ import annotations

import re
from typing import Literal

from argot.language import AUXILIARIES, INTERROGATIVES
from argot.tools.text.quantities import find_quantities

AnswerType = Literal["quantity", "time", "person", "reason", "steps", "definition", "anything"]

# The first that fits decides, so question words come before the nouns of quantities: "what time" asks for a time, "who
# sets the limit?" for a person.
_QUESTIONS: tuple[tuple[AnswerType, str], ...] = (
    # "How do you know ...?" asks for no steps.
    ("steps", r"\bhow (?:do|can|should|would|could|must|to)\b(?! (?:you|we|i) (?:know|call|mean))"),
    ("steps", r"\b(?:procedure|instructions?) (?:for|to)\b|\bway to\b"),
    ("reason", r"\bwhy\b|\bwhat(?:'s| is| are| was)? the (?:reason|cause)|\bhow come\b|\bwhat for\b"),
    ("person", r"\bwho(?:m|se)?\b|\bwhich (?:person|team|group|department|role|company)\b"),
    (
        "time",
        # "What happens when it rains?" asks for no time.
        r"(?:^|[?!.,;:]|\b(?:and|or|by|until|since|from|about|exactly|just))\W*when\b"
        rf"|\bwhen(?:'s)? (?:{AUXILIARIES}|must|has|have)\b"
        r"|\b(?:what (?:time|day|date|weekday|month|year)|which (?:day|date|weekday|month|year)"
        r"|how often|how frequently)\b",
    ),
    (
        "quantity",
        r"\bhow (?:many|much|long|far|large|big|close|high|low|fast|slow|old|wide|thick|deep|hot|cold|heavy|soon|late"
        r"|near|small|strong|loud|few|quick(?:ly)?)\b",
    ),
    (
        "quantity",
        r"\b(?:limit|size"
        r"|temperature|voltage|current|time|period|range|rate|number|percent(?:age)?|share|speed|width|height|length"
        r"|distance|depth|weight|power|frequency|delay|latency|capacity|count|age|price|cost|value|threshold|level"
        r"|margin|amount|budget|duration|dose|pressure|resistance|tolerance|ratio|target|maximum|minimum|max|min|largest"
        r"|smallest|highest|lowest|deadline|radius|step|window|quota|voltage|temps?)s?\b",
    ),
    (
        "definition",
        # Up to five words are a term; longer phrases ask for more than a meaning.
        r"^\W*(?:what(?:'s| is| are| was| were)|who is|define|explain)\s+(?:a |an |the |our |meant by )?[\w/+#.'-]+"
        r"(?:\s+[\w/+#.'-]+){0,4}\s*\W*$|\bstand for\b|\bmeaning of\b|\bmeans?\b\W*$",
    ),
)
_PATTERNS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _QUESTIONS)

# Also without a date: "every Monday", "within a week".
_TIME = re.compile(
    r"\b(?:\d{1,2}[:.]\d{2}|\d{1,2} ?(?:am|pm)|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march"
    r"|april|may|june|july|august|september|october|november|december|daily|weekly|monthly|yearly|annually|hourly|noon"
    r"|midnight|every \w+|each \w+|once|twice|(?:19|20)\d\d|(?:within|after|before|until|by) (?:the )?\w+)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|so that|otherwise|therefore|thus|as a result|in order to|due to|which (?:means|makes|would)"
    r"|to (?:avoid|prevent|keep|protect|ensure)|leads? to|causes?|hence|reason)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"\b(?:by|from|with|to) (?:the )?(?:\w+ )?(?:team|group|manager|officer|owner|lead|board|department|engineer"
    r"|committee|counsel|administrator|operator|director|desk|body|bodies|staff|head|office)\w*\b|\bowns?\b"
    r"|\b(?:manager|officer|owner|board|counsel|team|committee|director|administrator|desk|office|engineers?)\b",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"^\W*(?:\d+[.)]\s*)?(?:to \w+|click|select|press|choose|open|type|enter|run|go|tap|hold|set|turn|use|connect|start"
    r"|remove|insert|check|call|ask|send|add|create|copy|write|install|first|then|next|finally|make sure|if )",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"^\W*(?:an? |the )?[\w/+#.()' -]{1,60}? (?:is|are|means?|stands? for|refers? to|denotes?) ", re.IGNORECASE
)
_SHAPES: dict[AnswerType, re.Pattern[str]] = {
    # Numbers in figures are found by `find_quantities`.
    "quantity": re.compile(r"\b(?:one|once|twice|half|none|zero)\b", re.IGNORECASE),
    "time": _TIME,
    "reason": _REASON,
    "person": _PERSON,
    "steps": _STEP,
    "definition": _DEFINES,
}


_ASKS_WHETHER = re.compile(
    rf"(?:^|[.,:;!?]\s+)\W*(?:(?:and|but|so|or|also)\s+)?(?:{AUXILIARIES}|must|has|have|am|shall)(?:n['’]t)?\s+\w",
    re.IGNORECASE,
)
_DECIDES = re.compile(
    r"\b(?:yes|no|not|never|none|nobody|neither|cannot|\w+n['’]t|without|only|always|must|may|can|should|shall|requir\w+"
    r"|allow\w*|permit\w*|forbid\w*|prohibit\w*|need(?:s|ed)?|optional|mandatory|voluntary|except|unless|regardless"
    r"|eligible|entitled|support(?:s|ed)?|accept\w*|recommend\w*|encourag\w+|discourag\w+)\b",
    re.IGNORECASE,
)


def asks_whether(question: str) -> bool:
    """Return whether yes or no answers a question."""
    return _ASKS_WHETHER.search(question) is not None


def is_decisive(sentence: str) -> bool:
    """Return whether a sentence (plain text) allows, forbids, demands or denies something."""
    return _DECIDES.search(sentence) is not None


# "which codes can I give?", "what are the steps", "list all sites", "what all does the drive try"
_ALL_OF = re.compile(
    r"\b(?:what|which) (?:are|(?:(?!does|is|was|has)\w+ )?(?!does|was|has|this)\w+[^\Ws]s)\b"
    r"|\b(?:list|name|all) (?:of )?(?:the |our )?\w+s\b|\bwhat all\b|\bone after the other\b|\bstep by step\b"
    r"|\bin what order\b",
    re.IGNORECASE,
)


def asks_for_all(question: str) -> bool:
    """Return whether a question asks for everything there is of a kind, so that one item alone is no answer."""
    return _ALL_OF.search(question) is not None


# Amounts of time are no entries of a list.
_SEVERAL = re.compile(
    r"\bhow many (?!(?:\w+ )?(?:seconds|minutes|hours|days|nights|weeks|months|years)\b)"
    r"|\b(?:which|what) (?!(?:is|was|does|has)\b)(?:\w+ ){0,2}(?!does|was|has|this)\w+[^\Ws]s\b|\bwhat\b[^?]*? are\b",
    re.IGNORECASE,
)


def asks_for_several(question: str) -> bool:
    """Return whether several things may answer, so that a quoted part of a list has to be called a part."""
    return asks_for_all(question) or find_answer_type(question) == "steps" or _SEVERAL.search(question) is not None


_SECOND = re.compile(
    rf"\b(?:{INTERROGATIVES})\b.*?(?:\band\b|[,;?])\s+(?:and\s+|or\s+)?"
    rf"(?:(?:in|at|to|up to|from|by|for|of|with|within)\s+)?(?:{INTERROGATIVES})(?:'s)?\b",
    re.IGNORECASE,
)


def asks_twice(question: str) -> bool:
    """Return whether a second question is attached to the first: "How often does it leave, and where does it go?"."""
    return _SECOND.search(question) is not None


def find_answer_type(question: str) -> AnswerType:
    """Return the first type whose pattern the question fits."""
    return next((kind for kind, pattern in _PATTERNS if pattern.search(question)), "anything")


def has_shape(wanted: AnswerType, sentence: str) -> bool:
    """Return whether the sentence (plain text) looks like an answer of this kind."""
    if wanted in ("quantity", "definition") and find_quantities(sentence):
        return True  # "What is the X?" asks for its value as often as for its meaning
    return wanted in _SHAPES and _SHAPES[wanted].search(sentence) is not None
