"""A sentence of a model is weighed against the passages that it cites, all together."""

import pytest

from argot.tools.answering.citations import join_cited_text
from argot.tools.answering.cited_support import find_claim_objection, weigh_cited
from argot.tools.answering.lead_ins import is_lead_in
from argot.tools.answering.missing_answers import is_missing_answer
from argot.tools.answering.named_sources import find_named_sources, share_named_sources
from argot.tools.answering.premises import remove_conclusions
from argot.tools.answering.statement_parts import split_statement
from argot.types import Document, Hit, Passage

GATE = "Open the gate with the blue card or the key of the porter. The red card does not open it."
YARD = "The yard behind the gate is the depot of the trams. Trams older than 40 years are kept in Hall 3."
HOLIDAY = "Your final shift cannot be a bank holiday. Hand in your badge two weeks before."
LINERS = "Wheel liners: new 30 mm, order at 22 mm, change at 18 mm."
RUNS = "The first run is at 08:00. Be in the control room 110 minutes before."
STAGES = (
    "| Stage | What | Start no later than (after a stop) |\n|---|---|---|\n| A | Diesel | 15 min |\n"
    "| B | Rescue cabin | 30 min |"
)
DATES = "| Food | Give out up to … after the date |\n|---|---|\n| Crisps | 1 month |\n| Biscuits | 6 months |"
MINDERS = "**Can somebody under 18 be a minder?**\nNo. From 16 you may work at the lockers."
VAN = "Leave with at least 50 %, for the hill round (Thursdays) 80 %."
ICE = "Nothing runs below -25 °C. Ice thicker than 5 mm: the line is closed."
FETE = "| date | what |\n|---|---|\n| 2025-06-14 | Fete |\n| 2025-06-21 | Meeting |"
SPLASH = "Splash in the eye: eye wash for at least 15 minutes. Splash on skin: shower, 10 minutes."
CARD = (
    "HOIST CARD\n   Width ........... 3.10 m\n   Not for ......... rafts, any boat above 9 m\n"
    "   Crew ............ Ada, Bo. No others."
)
OFFERS = "Pupils get 20 % off rows 1 and 2. Cover for each crew goes up to £4 million."
SEASONS = "| Hut | Warm (1 Apr - 31 Oct) | Cold | Closed |\n|---|---|---|---|\n| Elm hut | daily | Sat, Sun | January |"
STORE = "Storage form\n\nAttach your papers, valid until the end of May."
GROUPS = "Visitors come in groups of 8 persons."
SWABS = "| RLU | Meaning |\n|---|---|\n| 0–150 | clean |\n| 151–300 | borderline: rinse and swab again |"
PLOTS = "A half plot costs £30 a year. The water charge is £9. A result under 350 is good. Over 350: block the batch."
TEAMS = "- Team Oak: a report is due each month.\n- Team Elm: a report is NOT due each month, but a call is."


def test_two_passages_bear_out_together_what_neither_has() -> None:
    said = "You must open the gate with the blue card, behind which is the depot of the trams."
    alone = [weigh_cited(said, [text], "How do I get to the trams?") for text in (GATE, YARD)]
    together = weigh_cited(said, [GATE, YARD], "How do I get to the trams?")
    assert all(one.objection or one.share < together.share for one in alone)
    assert not together.objection
    assert together.places == (0, 1)


@pytest.mark.parametrize(
    ("said", "text", "asked", "objection"),
    [
        ("A boat can be at most 3.10 m wide.", CARD, "How wide can my boat be?", "scope 'at most'"),
        ("A boat can be at most 3.20 m wide.", CARD, "How wide can my boat be?", "number 3.2 m"),
        ("It is not for rafts.", CARD, "Can it carry my raft?", ""),
        ("Only Ada and Bo are crew, and nobody else is allowed.", CARD, "Who is crew?", ""),
        ("Only Ada and Bo are crew, and nobody else gets the golden trophy.", CARD, "Who is crew?", "clause"),
        ("The 20 % pupils' reduction on rows 1 and 2 holds.", OFFERS, "What do pupils get?", ""),
        ("A crew needs cover of at least £4 million.", OFFERS, "How much cover does it need?", "scope 'at least'"),
        ("A crew needs cover of at least £4 million.", OFFERS, "What is new?", "scope 'at least' of 4"),
        ("The Elm hut is open daily in the warm season (1 Apr - 31 Oct), closed in January.", SEASONS, "When?", ""),
        ("If the boat is in storage, attach your papers.", STORE, "What do I need?", "condition"),
        ("If the director agrees, attach your papers.", STORE, "What do I need?", "clause"),
        ("A crew (hired hands) stays.", "A crew stays.", "Who stays?", ""),
        ("An HC (hoist crew) stays on board.", "An HC stays on board.", "Who stays?", ""),
        ("An HC (outside hands) stays on board.", "An HC stays on board.", "Who stays?", "clause"),
    ],
)
def test_what_is_said_otherwise_is_no_contradiction(said: str, text: str, asked: str, objection: str) -> None:
    passage = Passage("p", "d", "r", 0, 0, len(text), text, "d", ())
    hit = Hit(passage, Document("d", "x:///d.md", "d", "text/markdown", "r", "h", "t"), 0.5)
    found = find_claim_objection(said, join_cited_text(hit), asked)
    assert found.startswith(objection) and bool(found) is bool(objection)


def test_passages_together_do_not_hide_what_one_of_them_contradicts() -> None:
    said = "Open it with the red card, and behind the gate is the depot of the trams."
    assert weigh_cited(said, [GATE, YARD], "How do I get to the trams?").objection == "negation"
    said = "The yard behind the gate is the depot of the trams, and trams older than 30 years are in Hall 3."
    assert weigh_cited(said, [GATE, YARD], "Where are the trams?").objection.startswith("number 30")


@pytest.mark.parametrize(
    ("said", "text", "asked", "objects"),
    [
        ("No, your final shift cannot be a bank holiday, such as May 1st.", HOLIDAY, "Can I end on May 1st?", False),
        ("No, your final shift cannot be a bank holiday, such as May 2nd.", HOLIDAY, "Can I end on May 1st?", True),
        ("Hand in your badge 30 days before.", HOLIDAY, "Is the badge handed in 30 days before?", True),
        ("For Team Oak a report is due each month, which is not due for Team Elm.", TEAMS, "Who reports?", False),
        ("A report is due each month for Team Elm.", TEAMS, "Who reports?", True),
        ("Trams in Hall 3 are older than 40 years.", YARD, "Which trams are in Hall 3?", False),
        ("Trams in Hall 3 are older than 40 years if the director agrees.", YARD, "Which trams are in Hall 3?", True),
        ("If you lost the key, use the blue card.", GATE, "What if I lost the key?", False),
        ("But 20 mm is below the 22 mm at which liners are ordered.", LINERS, "Liner at 20 mm. Change it?", False),
        ("But 24 mm is below the 22 mm at which liners are ordered.", LINERS, "Liner at 24 mm. Change it?", True),
        ("Liners are changed at 20 mm.", LINERS, "Liner at 20 mm. Change it?", True),
        ("Be there at 06:10, since the first run is at 08:00 and you come 110 minutes before.", RUNS, "When?", False),
        ("Be there at 06:20, since the first run is at 08:00 and you come 110 minutes before.", RUNS, "When?", True),
        ("Stage B, the rescue cabin, starts no later than 30 min after a stop.", STAGES, "When?", False),
        ("Crisps are given out up to 1 month after the date, biscuits up to 6 months.", DATES, "How long?", False),
        ("Crisps are given out at least 1 month after the date.", DATES, "How long?", True),
        ("Nobody under 18 can be a minder.", MINDERS, "Is 16 enough?", False),
        ("Somebody under 18 can be a minder.", MINDERS, "Is 16 enough?", True),
        ("80 % for the hill round on Thursdays.", VAN, "How full for Thursday?", False),
        ("The line closes at more than 5 mm of ice.", ICE, "When is it closed?", False),
        ("On Saturday 14 June 2025 there is the fete.", FETE, "What is on?", False),
        ("On Sunday 14 June 2025 there is the fete.", FETE, "What is on?", True),
        ("Rinse your eye for at least 15 minutes.", SPLASH, "Lye in my eye?", False),
        ("At most 9 persons per group.", GROUPS, "How many in one group at most?", True),
        ("No, not yet: 151–300 is borderline.", SWABS, "Can we start?", False),
        ("Below minus 25 °C nothing runs.", ICE, "How cold?", False),
        ("Below 25 °C nothing runs.", ICE, "How cold?", True),
    ],
)
def test_only_a_claim_of_the_sentence_is_objected_to(said: str, text: str, asked: str, objects: bool) -> None:
    assert bool(find_claim_objection(said, text, asked)) is objects


def test_the_limit_that_is_asked_for_may_be_put_otherwise() -> None:
    said = "At most 8 persons per group."
    assert find_claim_objection(said, GROUPS, "How many in one group at most?") == "scope 'at most'"
    assert find_claim_objection(said, GROUPS, "How do visitors come?") == "scope 'at most' of 8"


@pytest.mark.parametrize(
    ("said", "asked", "left"),
    [
        (
            "You pay £39 a year: £30 rent plus £9 for water.",
            "What do I pay?",
            "You pay   a year: £30 rent plus £9 for water.",
        ),
        ("The water is £22 cheaper than the rent of £30 and not £9.", "By how much?", None),
        (
            "A result under 350 is good, so at 220 it may leave.",
            "It came out at 220, may it leave?",
            "A result under 350 is good",
        ),
        (
            "A result under 350 is good, so at 230 it may leave.",
            "It came out at 220, may it leave?",
            "A result under 350 is good, so at   it may leave.",
        ),
        ("If it is yours: a half plot costs £30 a year.", "What does it cost?", "a half plot costs £30 a year."),
        ("A half plot costs £31 a year.", "What does it cost?", None),
        ("So 220 it is.", "Is it 220?", None),
        (
            "No, you can't have it by Friday: a half plot costs £30 a year.",
            "Can I have it by Friday?",
            "a half plot costs £30 a year.",
        ),
        ("No, you can't have it by Friday, and it floods: pay £30.", "Can I have it by Friday?", None),
        ("The water charge is £9, so yours is due too.", "Is mine due?", "The water charge is £9"),
        ("The water charge is £9, so yours is due too and the director was arrested.", "Is mine due?", None),
        ("The water charge is £19, so yours is due too.", "Is mine due?", "The water charge is £19"),
        ("The water charge is £9, so that herons can swim.", "Is mine due?", None),
        ("Without such a result (over 350) the batch is good.", "What else?", "the batch is good."),
        ("Without a result the batch is good.", "What else?", None),
    ],
)
def test_only_what_is_concluded_for_the_asker_is_left_to_the_model(said: str, asked: str, left: str | None) -> None:
    assert remove_conclusions(said, PLOTS, asked) == (said if left is None else left)


# -- the sources that a draft names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draft", "sentences", "expected"),
    [
        ("Use the card [2], the yard is there [1].", ["Use the card, the yard is there."], [(1, 0)]),
        ("It opens. [1] It closes [3].", ["It opens.", "It closes."], [(0,), (2,)]),
        ("According to [2], it opens.", ["According to the documents, it opens."], [(1,)]),
        ("It opens [1][9]. It **opens** again [2].", ["It opens.", "It **opens** again."], [(0,), (1,)]),
        ("Call `row[2]` first [1].", ["Call `row[2]` first."], [(0,)]),
        ("No marks at all.", ["No marks at all."], [()]),
    ],
)
def test_the_marks_tell_which_passages_a_sentence_names(
    draft: str, sentences: list[str], expected: list[tuple[int, ...]]
) -> None:
    assert find_named_sources(draft, sentences, 3) == expected


def test_a_mark_behind_several_sentences_is_of_all_in_the_paragraph() -> None:
    assert share_named_sources([(), (2,), (), (0,)], ["", " ", "\n\n", "\n\n"]) == [(2,), (2,), (), (0,)]


def test_a_mark_above_a_list_is_of_its_entries_without_a_mark() -> None:
    sentences = ["Bring one of these:", "- a badge", "- a key", "Then go in."]
    gaps = ["", "\n\n", "\n", "\n\n"]
    assert share_named_sources([(1,), (), (), (0,)], gaps, sentences) == [(1,), (1,), (1,), (0,)]
    assert share_named_sources([(1,), (0,), (2,), ()], gaps, sentences) == [(1,), (0,), (2,), ()]
    assert share_named_sources([(1,), (), (), ()], gaps, ["Bring these.", *sentences[1:]]) == [(1,), (), (), ()]


# -- what no passage can contain ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The passages do not tell which card the guards use.", True),
        ("The documents don't say how the key is made, or who keeps it.", True),
        ("However, none of the passages mentions a price.", True),
        ("The passages do not tell what to do then, such as how long to wait or whom to call.", True),
        ("The passages do not tell why the card costs 70 euros.", False),
        ("The passages do not tell the price, but the guards sell it.", False),
        ("The passages do not tell whether a guard, for neither gate nor yard, needs one.", True),
        ("The passages do not tell whether it opens when H. Lund or P. Moss is away, or a price for it.", True),
        ("The passages do not tell the price, or it is free.", False),
        ("The passages do not tell the price. Guards sell it.", False),
        ("The passages tell how the key is made.", False),
        ("The guards do not tell the price.", False),
    ],
)
def test_a_sentence_says_only_what_the_passages_lack(said: str, expected: bool) -> None:
    assert is_missing_answer(said, "What does the card cost?", GATE) is expected


@pytest.mark.parametrize(
    ("said", "entries", "expected"),
    [
        ("You can open the gate in two ways:", 2, True),
        ("You can open the gate in three ways:", 2, False),
        ("To open the gate, use one of these:", 2, True),
        ("The red card does open it:", 2, False),
        ("You can open the gate in two ways.", 2, False),
        ("The director of the museum was arrested in spring near Lyon:", 2, False),
    ],
)
def test_a_lead_in_counts_its_entries_and_claims_nothing_else(said: str, entries: int, expected: bool) -> None:
    assert is_lead_in(said, GATE, "How can I open the gate?", entries) is expected


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("Open the gate and lock the yard.", ("Open the gate", "and lock the yard")),
        ("For Oak, a report is due, which ends the month.", ("For Oak, a report is due", "which ends the month")),
        ("Open the gate if the guards sleep.", ("Open the gate if the guards sleep",)),
        ("Ask the guards; if nobody answers, ring the bell.", ("Ask the guards", "if nobody answers, ring the bell")),
        ("Gates open (yard, depot, hall).", ("Gates open (yard, depot, hall)",)),
    ],
)
def test_a_sentence_is_split_into_what_it_states(sentence: str, parts: tuple[str, ...]) -> None:
    assert split_statement(sentence) == parts


# -- phrasings of capable models ---------------------------------------------------------------------------------------

LOCKERS = (
    "Lockers of the pool. Please note, only approved bags and boxes can be stored in a locker. A bag, which has been "
    "weighed by the porter, is stored for a day. 1. You may empty the locker _after_ telling the porter. Tell them "
    "early.\n\n"
    "Some visitors don't need a FLP stamp. This includes\n\n- Visitors with fewer than 3 bags.\n- Visitors with "
    "a season card.\n\nKeys roll over from one day to the next, and they never expire. Only members of the "
    "[crew](/crew) can take and keep keys."
)
RULES = (
    "Ownership of a locker can be moved but this has to be done by the porter. **Can I use the voucher for a "
    "friend?**\n\nNo, at this time the $40 voucher is for members.\n\nIt isn&rsquo;t refunded if the season is over. "
    "200 current points \\+ 150 more points in the year \\= 350 points. "
    "350 points - 300 point cap \\= 50 points that are lost."
)


@pytest.mark.parametrize(
    ("said", "text", "objects"),
    [
        ("Only approved bags and boxes, weighed by the porter, can be stored in a locker.", LOCKERS, False),
        ("Only bags with a season card, weighed by the porter, can be stored in a locker.", LOCKERS, True),
        ("Tell the porter before you empty the locker.", LOCKERS, False),
        ("Empty the locker before you tell the porter.", LOCKERS, True),
        ("Visitors with fewer than 3 bags don't need it, nor do visitors with a season card.", LOCKERS, False),
        ("They never expire, but only members of the crew can keep keys.", LOCKERS, False),
        ("They never expire, but only visitors with a stamp can keep keys.", LOCKERS, True),
        ("Some visitors need no FLP (First Locker Permit) stamp.", LOCKERS, False),
        ("Ownership of a locker can only be moved by the porter.", RULES, False),
        ("Ownership of a locker can only be moved by the owner.", RULES, True),
        ("No, the $40 voucher cannot be used for a friend.", RULES, False),
        ("The $40 voucher can be used for a friend.", RULES, True),
        ("Not necessarily: it isn't refunded if the season is over.", RULES, False),
        ("Not necessarily: it is refunded if the season is over.", RULES, True),
        ("You would have 350 points, so 50 points are lost.", RULES, False),
        ("You would have 350 points, so 60 points are lost.", RULES, True),
    ],
)
def test_a_right_phrasing_is_told_from_a_wrong_one(said: str, text: str, objects: bool) -> None:
    assert bool(find_claim_objection(said, text, "What holds for lockers?")) is objects


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Log visits in HR Boards each day.", "All guides log visits in HRBoards each day."),
        ("Ask the Help Desk about it.", "Ask about it at helpdesk@lockers.example."),
        ("If the failure is in the installation, read the log.", "When it fails in installation, read the log."),
        ("It stays open with a night reach of 3 h.", "| Name | Day reach | Night reach |\n|-|-|-|\n| It | 1 h | 3 h |"),
        ("Write 5pm, not 5.00pm.", "| We use | We do not use |\n| --- | --- |\n| 5pm | 5.00pm |\n| noon | 12pm |"),
        ("The key expires after 30 days.", "| Key | For | Expires |\n|-|-|-|\n| The key | used before | 30 days |"),
        ("Two: guests may keep two keys.", "Guests may keep a maximum of two keys."),
        ("Not at once: with redundancy the rate stays.", "With redundancy the rate stays for six months."),
        ("Leave out names of vendors.", "No names of vendors."),
        ("A guest isn't listed and pays 5 euros as others do.", "Others pay 5 euros. A guest pays 5 euros."),
        ("Guild-funded lockers are free.", "Lockers funded by the guild are free."),
        ("It is open if you say it's OK.", "It is open if you say so."),
        ("Only if the sign is part of a name.", "Write and instead of the sign, unless it is part of a name."),
        ("No, for hall lockers (H4) we do not take a deposit.", "## Hall lockers (H4)\n\nWe do not take a deposit."),
        ("Let those who are neither store their own bags.", "Visitors that are neither may store their own bags."),
        ("Before the season end date, empty it.", "Empty it before the locker season end date, not after season rest."),
        ("It sets `lid.on`, and opens without reading keys.", "It opens without reading keys after setting `lid.on`."),
    ],
)  # fmt: skip
def test_a_right_phrasing_raises_no_objection(said: str, text: str) -> None:
    assert not find_claim_objection(said, text, "What holds?")


YAKS = (
    "Can riders feed the yaks? Riders feed the yaks at noon. Is wool sold? No wool is sold. Sledges "
    "must be greased by the smith. Licences of sledges can be moved, but this has to be done by the warden. Bells are "
    "worn unless it snows. Tar is heated at once. Do not omit the name of the yak."
)
CARTS = (
    "The GRC, Goat Riding Club, owns eight carts. The FLP stamp costs 3 euros. Tie the goat before you load the cart "
    "of the club. Riders wait at the cart after they tie the goat of the smith. Drivers of the club may paint carts. "
    "Cooks may not paint carts of guests."
)
WORDS = "| We say | We do not say |\n| --- | --- |\n| yak | yack |\n| sledge | sled |"
FEED = "Do not touch the yaks. Riders feed these herds:\n\n- Goats of the farm\n- Geese of the farm"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Yaks do not sleep in the lane.", "Do yaks sleep in the lane? No problem, yaks sleep in the lane."),
        ("Wool is sold.", YAKS),
        ("Sledges must only be greased by the warden.", YAKS),
        ("Only if it snows.", YAKS),
        ("Only if the smith wears a bell.", YAKS),
        ("Not at once: the tar is heated later.", YAKS),
        ("Leave out the name of the yak.", YAKS),
        ("Eight: the FLP stamp costs euros.", CARTS),
        ("The GRC (Goat Rescue Club) owns eight carts.", CARTS),
        ("The FLP (Fee of 9 Lire and a Pound) stamp costs 3 euros.", CARTS),
        ("Load the cart before tying the goat.", CARTS),
        ("Drivers of the club may not paint carts of guests.", CARTS),
        ("Goats are not named in the list.", "Goats are named in the list and sheep are counted."),
        ("Goats are listed in the book.", "Goats are not listed in the book and sheep are counted."),
        ("Say sled, not sledge.", WORDS),
        ("Do not feed the geese of the farm.", FEED),
    ],
)
def test_a_lie_in_a_phrasing_of_capable_models_is_objected_to(said: str, text: str) -> None:
    assert find_claim_objection(said, text, "What holds for the herd?")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Riders feed the yaks.", YAKS),
        ("Licences of sledges can only be moved by the warden.", YAKS),
        ("Eight: the GRC (Goat Riding Club) owns eight carts.", CARTS),
        ("The FLP (First Llama Permit) stamp costs 3 euros.", CARTS),
        ("Say sledge, not sled.", WORDS),
        ("We say yak.", WORDS),
    ],
)
def test_a_right_sentence_beside_such_a_lie_raises_no_objection(said: str, text: str) -> None:
    assert not find_claim_objection(said, text, "What holds for the herd?")
