"""Recognition of questions about a file of the conversation: "What does the file say about wages?".

Such a question is then searched for in that file alone, without the words that mention the file. Conservative, as in
`whole_file_questions.py`: "the manual" may be any document, "this document" and "rota.md" are attachments. English, as
small talk is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from argot.tools.reading.whole_file_questions import MAX_CHARS, Pointer

_SENT = r"(?:attached|uploaded|sent|added|shared|gave you)"
_PLAIN = (
    r"(?:pdf|word|excel|powerpoint|text|markdown|csv)? ?(?:file|document|doc|docx|pdf|attachment|upload|xlsx?|pptx|csv"
    r"|spreadsheet|presentation|slide deck|odt|ods|odp|rtf|msg|vsdx)"
)
# Such a word may mean any document; only with "this", "my" or "attached" it is a file of the conversation.
_OWN = (
    r"(?:report|paper|manual|article|letter|memo|note|contract|agreement|invoice|guide|text|table|page|slides?|sheet)"
)
_ONE = (
    rf"(?:the|this|that|my|our) (?:attached |uploaded |new |last |latest )?{_PLAIN}"
    rf"(?: (?:i|we)(?:'ve)? (?:just )?{_SENT})?"
    rf"|(?:this|my|the (?:attached|uploaded)) {_OWN}|the {_OWN} (?:i|we)(?:'ve)? (?:just )?{_SENT}"
)
_SEVERAL = (
    rf"(?:all |both )?(?:the|these|those|my|our) (?:attached |uploaded )?{_PLAIN}s|both (?:of them|{_PLAIN}s)|both"
)
_NAMED = rf"(?:(?:the|this|that|my|our) )?(?:{_PLAIN} )?(?:called )?(?P<name>name\d+)(?: {_PLAIN})?"
_FILE = rf"(?:{_NAMED}|(?P<files>{_SEVERAL})|(?P<file>{_ONE}))"
_ANY = rf"(?:{_FILE}|(?P<it>it|this|that|they|these))"
_ABOUT = r"(?:about|on|regarding|concerning|as to)"
_SAY = r"(?:say|tell(?: me| us)?|state|mention|write|specify|explain|report|have to say|recommend|require|advise)"
_SOMETHING = r"(?:anything|something|(?:any )?information|info|a section|a word)"

_OF_A_TOPIC = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"what (?:else |exactly )?(?:does|do|did) {_ANY} {_SAY} {_ABOUT} (?P<topic>.+)",
        rf"what(?:'s| is| are)(?: (?:said|written|stated|there))? (?:in|inside) {_FILE} {_ABOUT} (?P<topic>.+)",
        rf"what(?:'s| is) (?:said|written|stated) {_ABOUT} (?P<topic>.+) in {_FILE}",
        rf"what {_ANY} (?:says?|states?|mentions?|writes?|tells? (?:me|us)) {_ABOUT} (?P<topic>.+)",
        rf"(?:does|do|did) {_FILE} (?:say|tell(?: me| us)?|mention|state|contain|cover|have|include)(?: {_SOMETHING})?"
        rf"(?: {_ABOUT})? (?P<topic>.+)",
        rf"(?:does|do|did) {_ANY} (?:say|state|mention)(?: {_SOMETHING})? {_ABOUT} (?P<topic>.+)",
        rf"is there {_SOMETHING} {_ABOUT} (?P<topic>.+) in {_FILE}",
        rf"is there {_SOMETHING} in {_FILE} {_ABOUT} (?P<topic>.+)",
        rf"(?:find|look up|look for|search for) (?P<topic>.+) in {_FILE}",
        rf"search {_FILE} for (?P<topic>.+)",
    )
)
# "According to rota.md, who works on Monday?", and the other way round.
_OF_A_QUESTION = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:according to|based on|in|from|as per|using(?: only)?) {_FILE} ?[,:]? (?P<question>\S+ .+)",
        rf"(?P<question>\S+ .+?),? (?:according to|based on|in|from|as per|using(?: only)?) {_FILE}",
    )
)
# "And in rota.md?": the previous question, asked of another file.
_SAME_AGAIN = re.compile(
    rf"(?:what about|how about|and|now|same (?:question )?for|and what about)(?: (?:in|for|from))? {_NAMED}",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"^(?:(?:please|hi|hello|hey|ok|okay|so|and|but|now|then|well|(?:can|could|would|will) you(?: please)? tell me"
    r"|tell me|i want to know|do you know)[,:]? )+(?=\S+ \S)",
    re.IGNORECASE,
)
_LEANS = re.compile(r"(?:it|this|that|them|these|those)", re.IGNORECASE)
_END = re.compile(r"[\s?.!…]*(?:,? (?:please|pls|thanks))?[\s?.!…]*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FileQuestion:
    """A question and the file it is about. An empty `question` means the previous one.

    `leans`: the question may refer to earlier messages.
    """

    pointer: Pointer | int
    question: str
    leans: bool = False


def parse_file_question(message: str, names: Sequence[str]) -> FileQuestion | None:
    """Return the question that the message asks of a file; None if it mentions none.

    names: of the available files; the pointer is the number of one that the message names.
        names: of the files there are; the pointer is the number of one that the message names.
    """
    # The limit applies to the asker's own words, whatever the length of a file's name.
    if len(message) > MAX_CHARS + max(map(len, names), default=0):
        return None
    said = _replace_names(_END.sub("", " ".join(message.replace("’", "'").split())), names)
    if found := _SAME_AGAIN.fullmatch(said):
        return FileQuestion(_read_pointer(found), "")
    said = _POLITE.sub("", said)
    if found := _match_first(_OF_A_TOPIC, said):
        topic = _restore_names(found["topic"], names)
        # In the words of the topic only: "what does the file say" would be searched for as well.
        return FileQuestion(_read_pointer(found), f"What about {topic}?", leans=_LEANS.fullmatch(topic) is not None)
    if found := _match_first(_OF_A_QUESTION, said):
        question = _restore_names(found["question"], names).rstrip(",;: ")
        return FileQuestion(_read_pointer(found), f"{question[:1].upper()}{question[1:]}?", leans=True)
    return None


def _match_first(patterns: Sequence[re.Pattern[str]], said: str) -> re.Match[str] | None:
    return next((found for one in patterns if (found := one.fullmatch(said))), None)


def _read_pointer(found: re.Match[str]) -> Pointer | int:
    groups = found.groupdict()
    if groups.get("name"):
        return int(groups["name"].casefold().removeprefix("name"))
    return "files" if groups.get("files") else "file" if groups.get("file") else "it"


def _replace_names(said: str, names: Sequence[str]) -> str:
    """Return each file's name replaced by one word. Only with its extension: "puc.md" is a file, "PUC" is a term."""
    # The longest first, so that "rota.md" is not found within "old rota.md".
    for number, name in sorted(enumerate(names), key=lambda one: -len(one[1])):
        if PurePosixPath(name).suffix:
            spelt = re.escape(" ".join(name.split()))
            said = re.sub(rf"(?<!\w)[\"'“”„`]?{spelt}[\"'“”`]?(?!\w)", f"name{number}", said, flags=re.IGNORECASE)
    return said


def _restore_names(said: str, names: Sequence[str]) -> str:
    return re.sub(r"\bname(\d+)\b", lambda mark: names[int(mark[1])] if int(mark[1]) < len(names) else mark[0], said)
