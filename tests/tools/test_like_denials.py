"""A denial that a passage makes in other words is put to the model; a statement turned around is not."""

import pytest

from argot.tools.answering.cited_support import find_claim_objection
from argot.tools.answering.objections import is_soft

LAMPS = (
    "Lamps are filled at noon. Not when the bell rings. The wicks carry a mark (red, blue), but never the mark green."
)
CATS = "Cats: not at all, neither in the hall nor on the stairs.\n\nToll: none this year, the porter nods."
GLUE = "Please do not wipe the rims, don't press them together, and pack both rims dry. Paper is bad: it sticks."
SHELVES = (
    "- Jars: kept 5 weeks (was 2 weeks).\n- Corks: as before, not from the delivery.\n\nTime runs from the delivery."
)
FERRY = (
    "| Boat | Sails | Closed |\n|---|---|---|\n| Heron | Mon, Fri 10:00 | in fog over 3 h |\n| Stork | Sat | January |"
)
COINS = (
    "Within 20 days: money back. After 20 and up to 50 days: token only. Old tokens are changed into cash on Monday."
)
KNIVES = "Note that ropes longer than 9 m are prohibited."
PLAIN = "Lamps are filled at noon and are not lit before dusk."


@pytest.mark.parametrize(
    ("said", "text", "objection"),
    [
        ("Fill the lamps at noon, not when the bell rings.", LAMPS, True),
        ("The green mark is never used for wicks.", LAMPS, True),
        ("No, cats (all of them) are not allowed, neither in the hall nor on the stairs.", CATS, True),
        ("There is no toll this year: the porter nods.", CATS, True),
        ("Do not wipe the rims or press them together, and pack both dry, not in paper.", GLUE, True),
        ("Jars are now kept 5 weeks, counted from the delivery.", SHELVES, True),
        ("The Heron sails on Mon and Fri at 10:00, but not in fog over 3 h.", FERRY, True),
        ("After 20 and up to 50 days you get a token only, not cash.", COINS, True),
        # lies: a statement turned around, one more denial, a denial of a denial
        ("Lamps are not filled at noon.", PLAIN, False),
        ("Lamps are not filled at noon and are not lit before dusk.", PLAIN, False),
        ("Ropes longer than 9 m are not prohibited.", KNIVES, False),
        ("Jars are never kept 5 weeks.", SHELVES, False),
        ("Please wipe the rims and press them together.", GLUE, False),
        ("There is a toll this year: the porter does not nod.", CATS, False),
        ("The Heron does not sail on Mon and Fri at 10:00.", FERRY, False),
        ("The Stork's hours are not Sat 3:00.", FERRY, False),
        ("Jars are not kept 5 weeks from the delivery.", SHELVES, False),
    ],
)
def test_only_a_denial_that_the_passage_makes_may_be_put_to_the_model(said: str, text: str, objection: bool) -> None:
    assert is_soft(find_claim_objection(said, text, "How is it done?")) is objection


def test_another_objection_behind_the_denial_counts() -> None:
    said = "Fill the lamps at noon, not before the bell rings, at least 3 times."
    assert not is_soft(find_claim_objection(said, LAMPS, "How is it done?"))
