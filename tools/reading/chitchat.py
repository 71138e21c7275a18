"""Recognition of small talk: greetings, thanks, and questions about Argot, which ask the documents nothing.

A message counts as small talk only if every word of it does: "Hello, what is a PUC?" is a question. The caller looks up
first whether such a word is a term of the glossary ("HI").
"""

from __future__ import annotations

import re
from typing import Literal

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.tools.text.words import fold_words

SmallTalk = Literal["greeting", "thanks", "farewell", "reply", "about", "unasked", "no_file", "recall", "library"]
"""`no_file`: about a missing file (`tools/reading/whole_file_questions.py`); `recall`: about earlier questions
(`tools/reading/history_questions.py`); `library`: about the available documents (`library_questions.py`)."""

MAX_CHARS = 100
"""Characters: a longer message is more than small talk."""

# The most telling kind first: "hello, what can you do?" is answered as a question about Argot.
_PHRASES: dict[SmallTalk, tuple[str, ...]] = {
    "about": (
        r"(?:who|what)(?:'s| are| is| r)? (?:you|u|argot|this(?: (?:bot|app|thing|tool|site|assistant))?)",
        r"who (?:am i (?:talking|speaking) (?:to|with)|made you|is this)",
        r"(?:what(?:'s| is) your name|do you have a name|introduce yourself|tell me about yourself)",
        r"are you (?:a |an )?(?:real|human|person|bot|robot|ai|machine|there|real person|chatgpt|llm|language model)",
        r"what (?:can|could|do|are) (?:you|u|argot)(?: able to)? (?:do|know|answer|help(?: me)? with|for)(?: about)?"
        r"(?: for me)?",
        r"what (?:can|could|should|do|may) i (?:ask|do|say|type|write)(?: you| argot| here)?(?: about)?",
        r"what (?:kind of |sort of )?(?:questions|things) (?:can|could|should|may) (?:i ask|you answer)(?: you)?",
        r"what (?:else )?(?:are|is) you(?:r)? (?:for|good at|purpose|job)",
        r"how (?:do|can|should) (?:i|we) (?:use|ask|talk to|start)(?: (?:you|this|argot|it))?(?: something)?",
        r"how (?:does|do) (?:this|you|argot|it)(?: (?:bot|app|thing|tool|site))? work",
        r"(?:can|could|will|would) you (?:please )?help(?: me| us)?(?: out)?",
        r"(?:i need |please |some )?help(?: me| us)?(?: out)?",
        r"(?:which|what) (?:documents|files|sources|topics|subjects) (?:do|can) you (?:have|know|cover|read)",
    ),
    "thanks": (
        r"(?:ok |okay |great |no |many |thank you |cool )?(?:thanks|thx|thank you|thank u|cheers|ty|much appreciated)"
        r"(?: a (?:lot|million|bunch)| (?:very|so) much| again)?(?: for (?:all )?(?:your|the) (?:help|answer|info))?",
        r"(?:that|this|it) (?:was |is |'s )?(?:very |really |so )?(?:helped|helps|helpful|great|perfect|useful)",
    ),
    "farewell": (
        r"(?:good ?)?bye(?: bye)?(?: for now)?",
        r"see (?:you|ya|u)(?: later| soon| tomorrow)?",
        r"(?:good ?night|cya|take care|have a (?:nice|good|great) (?:day|evening|weekend|one))",
    ),
    "greeting": (
        r"(?:hel+o+|hi+|he+y+|hiya|howdy|yo|greetings|welcome|moin|salut|hallo|hola|bonjour)(?: (?:hi|hello|hey))?",
        r"good (?:morning|afternoon|evening|day)",
        r"how (?:are|r) (?:you|u|things)(?: (?:doing|today|going))*",
        r"how(?:'s| is) (?:it going|everything|life|your day)|how do you do|what's up|whats up|wass?up|sup",
        r"(?:nice|pleased|glad) to meet you",
    ),
    "reply": (
        r"(?:yes|yeah|yep|yup|no|nope|nah|ok(?:ay)?|k|sure|fine|alright|all right|right|got it|i see|understood|cool"
        r"|nice|great|good|perfect|awesome|excellent|wow|hm+|ah+|oh+|never ?mind|forget it|lol|ha(?:ha)+|done"
        r"|good (?:job|bot|work)|well done|of course|exactly|correct|sorry)",
    ),
}
# Words that may occur anywhere between phrases and have no kind of their own.
_FILLERS = r"there|argot|everyone|everybody|all|team|folks|bot|again|please|and|so|well|then|friend|mate|dear|man"
_READ = {kind: re.compile("|".join(f"(?:{phrase})" for phrase in phrases)) for kind, phrases in _PHRASES.items()}
_FILLER = re.compile(_FILLERS)
_BREAKS = re.compile(r"[^\w']+")
_POINTS_BACK = re.compile(r"\b(?:this|that|it)\b", re.IGNORECASE)


def identify_small_talk(message: str) -> SmallTalk | None:
    """Return the kind of small talk that the message is, the most telling of several; None if it is none.

    `unasked`: the message has only words that join others ("why?", "and?"), so that nothing can be searched.
    """
    if len(message) > MAX_CHARS:
        return None
    said = " ".join(_BREAKS.sub(" ", message.casefold().replace("’", "'")).split())
    found = _find_kinds(said)
    if found:
        return next(kind for kind in _PHRASES if kind in found)
    return "unasked" if _has_only_joining_words(message) else None


def may_lean(message: str, kind: SmallTalk) -> bool:
    """Return whether a message within a conversation may refer to earlier ones: "why?", "how does this work?"."""
    return kind == "unasked" or (kind == "about" and _POINTS_BACK.search(message) is not None)


def _has_only_joining_words(message: str) -> bool:
    # "who is IT" asks about a department; in "WHY IS IT SO" capitals carry no information.
    if not message.isupper() and any(len(word) > 1 and word.isupper() for word in _BREAKS.split(message)):
        return False
    words = fold_words(message)
    return bool(words) and all(word in STOP_WORDS for word in words)


def _find_kinds(said: str) -> set[SmallTalk]:
    """Return the kinds of all its phrases; empty unless every word belongs to one. The longest phrase is read first."""
    words = said.split()
    found: set[SmallTalk] = set()
    first = 0
    while first < len(words):
        last, kind = _match_phrase(words, first)
        # One word that belongs to no phrase makes the message a question.
        if last == first:
            return set()
        first = last
        found |= {kind} if kind else set()
    return found


def _match_phrase(words: list[str], first: int) -> tuple[int, SmallTalk | None]:
    """Return the end and the kind of the longest phrase that begins at this word; `first` and None if none does."""
    # Longest first: "how do you do" is a greeting, though "how" alone would belong to nothing.
    for last in range(len(words), first, -1):
        text = " ".join(words[first:last])
        kind = next((kind for kind, pattern in _READ.items() if pattern.fullmatch(text)), None)
        if kind or _FILLER.fullmatch(text):
            return last, kind
    return first, None
