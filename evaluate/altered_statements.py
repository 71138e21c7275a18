"""True sentences made false by one change of a number, unit, bound, negation or name, or by an added clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SWAPS = {
    "unit": "ns:ms ms:s seconds:minutes mV:V V:mV mm:cm percent:degrees days:weeks hours:days degrees:percent "
    "weeks:hours kiloohm:ohm milliohm:kiloohm g:mg micrometres:millimetres months:weeks %:kg MB/s:GB/s",
    "currency": "euros:dollars euro:pounds EUR:USD €:$ $:€",
    "rate": "a day:a month|per night:per month|a month:a week|per month:per day|a week:a day|weekly:hourly"
    "|per period:per hour|per sector:per minute|per block:per second|annually:daily",
    "opposite": "on:off before:after below:above first:last more:less newest:oldest allowed:forbidden "
    "domestic:international outside:inside optional:mandatory shortens:lengthens rise:fall good:bad dried:wet "
    "longer:shorter warmest:coldest",
}
_INVENTED_CLAUSES = (
    " and the director was arrested",
    ", which the ministry of transport forbade in spring",
    ", and visitors enjoy free lemonade afterwards",
    " because the previous supplier went bankrupt",
    " while the orchestra rehearses downstairs",
    ", so that penguins can swim faster",
)
_NAMES = ("Bremen", "Gustafsson", "Osaka", "Petrova")


def alter_sentence(sentence: str, place: int) -> Iterator[tuple[str, str]]:
    """Yield the results of changing a sentence in one way each, with the kind of the change. A change that does not
    apply yields the sentence itself.

    `place`: the sentence's index in its set; it selects among names, bounds and invented clauses.
    """
    body = sentence.rstrip(".")
    yield "number", re.sub(r"(?<![\w-])\d+(?![\w-])", lambda found: str(int(found[0]) * 3 + 7), sentence, count=1)
    for kind in ("unit", "currency", "rate", "opposite"):
        pairs = _SWAPS[kind].split("|" if kind == "rate" else None)
        for one, other in (pair.split(":") for pair in pairs):
            before = r"(?<=\d )" if kind == "unit" else r"(?<!\w)"
            yield kind, re.sub(before + re.escape(one) + r"(?![\w/])", other, sentence, count=1)
    if "only" not in sentence.lower():
        yield "only", f"Only {sentence[0].lower() if not sentence[1:2].isupper() else sentence[0]}{sentence[1:]}"
    if not re.search(r"\b(?:except|unless|exempt)\b", sentence):
        yield "exception", f"{body}, {('except on Mondays', 'unless the manager objects')[place % 2]}."
    if not re.search(
        r"most|least|up to|more than|below|above|about|less|capped|limit|after|within|ahead|last", sentence
    ):
        bound = ("at least", "at most", "up to", "more than")[place % 4]
        yield "bound", re.sub(r" (?=\d+ (?!May|January))", f" {bound} ", sentence, count=1)
    yield "negation", re.sub(r"\b(is|are|may|must|can|will|has)\b(?! not)", r"\1 not", sentence, count=1)
    yield "name", re.sub(r"(?<=\w )[A-Z][a-z]{3,}\b", _NAMES[place % len(_NAMES)], sentence, count=1)
    yield "identifier", re.sub(r"\b[A-Z]{2,}(?:-\w+)?\b", "QX-77", sentence, count=1)
    yield "clause", f"{body}{_INVENTED_CLAUSES[place % len(_INVENTED_CLAUSES)]}."


FROM_NOWHERE = (
    "The head of the department received an award for this in spring.",
    "A second review by the insurance company is required as well.",
    "Visitors may take part in a guided tour afterwards.",
)
"""Claims that no document of an evaluation makes."""
FROM_NOWHERE_KIND = "from nowhere"
"""The kind of a lie that is such a claim: it is added to the true sentences, and replaces none."""


def make_lie(sentence: str, place: int) -> tuple[str, str]:
    """Return one false sentence made from a true one, and the kind of its change; if none applies, an unfounded claim.

    The kinds take turns with `place`, so that a set holds all of them.
    """
    lies = [(kind, text) for kind, text in alter_sentence(sentence, place) if text != sentence]
    lies.append((FROM_NOWHERE_KIND, FROM_NOWHERE[place % len(FROM_NOWHERE)]))
    kind, text = lies[place % len(lies)]
    return text, kind
