"""What must agree between a sentence and its passage, by class of error, and what a paraphrase may change."""

import importlib.util
import sys
from functools import cache
from typing import Any

import pytest
from repository import ROOT

from argot.tools.answering.citations import match_references
from argot.tools.answering.objections import find_objection, is_soft
from argot.tools.answering.support import SupportScorer, is_quoted, support
from argot.tools.text.quantities import find_rates
from argot.types import Passage

PER_DIEM = "The per diem for domestic trips is 41 euros."
NOTICE = "Drawings are kept for 10 years from 3 May 2024. The gap is 41 mm. Visitors may park before 9 am."
LETTER = "The letter is valid for 12 months and names two officers. Read it twice. The course lasts more than one day."
CACHE = (
    "The cache is where host writes land first. Data that is written once goes to the slow area. It is not compressed."
)
LABEL = "Parts may be baked twice in a life. The height is limited to 1.6 mm. The die must read within 1.5 percent."
LICENCE = "The licence costs $12 per user per month. Maria Lindqvist of the office in Vienna approves up to 2 million."

TARIFFS = "| Tariff | Upload (Mbit/s) | Price per month (GBP) |\n| --- | --- | --- |\n| Student | 30 | 24.50 |"


def is_cited(said: str, source: str) -> bool:
    passage = Passage("p", "d", "r", 0, 0, len(source), source, "Title", ())
    return bool(match_references([said], [passage], SupportScorer(), threshold=0.5))


@pytest.mark.parametrize(
    ("said", "source", "against"),
    [
        ("The per diem for international trips is 41 euros.", PER_DIEM, "'international'"),
        ("The per diem for domestic trips is 41 dollars.", PER_DIEM, "number 41 USD"),
        ("The per diem for domestic trips is £41.", PER_DIEM, "number 41 GBP"),
        ("The per diem for domestic trips is 41 euros per hour.", PER_DIEM, "rate h"),
        ("The per diem for domestic trips is 41 €/h.", PER_DIEM, "rate h"),
        ("The per diem for domestic trips is 41 euros an hour.", PER_DIEM, "rate h"),
        ("The licence costs $12 per user daily.", LICENCE, "rate day"),
        ("Only managers get a per diem of 41 euros for domestic trips.", PER_DIEM, "scope 'only'"),
        ("The per diem for domestic trips is 41 euros, except in May.", PER_DIEM, "number may"),
        ("The per diem for domestic trips is 41 euros, except for trainees.", PER_DIEM, "scope 'except'"),
        ("The per diem for domestic trips is 41 euros unless the trip is short.", PER_DIEM, "scope 'unless'"),
        ("The per diem for domestic trips is at least 41 euros.", PER_DIEM, "scope 'at least'"),
        ("The per diem for domestic trips is up to 41 euros.", PER_DIEM, "scope 'at most'"),
        ("The per diem for domestic trips is always 41 euros.", PER_DIEM, "'always'"),
        ("The per diem for domestic trips is never 41 euros.", PER_DIEM, "negation"),
        ("The per diem for domestic trips is 41 euros and the director was arrested.", PER_DIEM, "clause"),
        ("The per diem for domestic trips, which parliament abolished yesterday, is 41 euros.", PER_DIEM, "clause"),
        ("The per diem for domestic trips to Hamburg is 41 euros.", PER_DIEM, "name hamburg"),
        ("Karin Lindqvist of the office in Vienna approves up to 2 million.", LICENCE, "name karin"),
        ("Maria Lindqvist of the office in Zurich approves up to 2 million.", LICENCE, "name zurich"),
        ("Maria Lindqvist of the office in Vienna approves up to 2 billion.", LICENCE, "number 2000000000"),
        ("The upload speed of the tariff Student is 30 Mbit/h.", TARIFFS, "identifier"),
        ("The tariff Student costs 24.50 GBP per year.", TARIFFS, "rate year"),
        ("The gap is 41 cm.", NOTICE, "number 41 cm"),
        ("Drawings are kept for 10 years from 3 June 2024.", NOTICE, "number june"),
        ("Drawings are kept for 10 years from 2024-05-04.", NOTICE, "number 4"),
        ("Visitors may park after 9 am.", NOTICE, "'after'"),
        ("Visitors may park before 9 pm.", NOTICE, "number 21"),
        ("Visitors must park before 9 am.", NOTICE, "'must'"),
        ("Overtime is mandatory.", "Overtime is optional.", "'mandatory'"),
        ("Smoking is allowed.", "Smoking is forbidden.", "'allowed'"),
        ("The export is valid.", "The export is invalid.", "'valid'"),
        ("A label must be corrected, not cancelled.", "A label must be cancelled, not corrected.", "negation"),
        ("The switch goes on 8 ns after the start.", "It goes on 8 ns before the start, off after the end.", "'after'"),
        ("Phones may read mail.", "No phones may read mail.", "negation"),
        ("The per diem is 41 kroner.", "The per diem is 41 euros.", "number"),
        ("The plant in Lyon employs 300 robots.", "The plant in Lyon employs 300 people.", "noun of 300"),
        ("The tank holds 300 gallons.", "The tank holds 300 litres.", "number"),
        ("Leave may be carried over after 31 March.", "Leave may be carried over until 31 March.", "'after'"),
        ("Parts are shipped from Lyon by truck.", "Parts are shipped to Lyon by truck.", "'from'"),
        ("The board approved the merger.", "The board rejected the merger.", "'approved'"),
        ("The letter is valid for at least 12 months.", LETTER, "scope 'at least' of 12"),
        ("The letter is valid for more than 12 months and names two officers.", LETTER, "scope 'at least' of 12"),
        ("Read the letter at most twice.", LETTER, "scope 'at most' of twice"),
        ("The height is at least 1.6 mm.", LABEL, "scope 'at least' of 1.6"),
        ("Lines may stay open, unless the manager objects.", "Lines may stay open if he agrees.", "clause 'the m"),
        ("The cache is not where host writes land first; data is not compressed.", CACHE, "negation"),
        ("Host writes land last in the cache; data that is written once is not compressed.", CACHE, "'last'"),
        ("No parts may not be baked.", "No parts may be baked.", "'not'"),
        ("Not only managers get a per diem of 41 euros for domestic trips.", PER_DIEM, "negation"),
        ("Only hold them for 14 days.", "Drives without a number are held for 14 days.", "scope 'only'"),
        ("The die must be off by more than 1.5 percent, and visitors enjoy lemonade.", LABEL, "scope 'at least' of"),
        ("If the die is off by more than 1.5 percent, visitors get lemonade and cake.", LABEL, "clause"),
        ("The letter names two officers, and visitors enjoy free letter paper.", LETTER, "clause"),
        ("The rewards are 100 and 200 euro (400 in total).", "The rewards are 100 euro and 200 euro.", "number 400"),
    ],
)  # fmt: skip
def test_a_changed_statement_is_refused(said: str, source: str, against: str) -> None:
    assert find_objection(said, source).startswith(against)
    assert not is_cited(said, source)


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("On domestic trips you get €41 a day.", PER_DIEM),
        ("On domestic trips the daily allowance is EUR 41.", PER_DIEM),
        ("A user's licence is 12 dollars monthly.", LICENCE),
        ("Lindqvist approves 2,000,000 at most.", LICENCE),
        ("From 2024-05-03, drawings are kept for ten years.", NOTICE),
        ("Visitors can park before 9:00.", NOTICE),
        ("The gap measures 41 millimetres.", NOTICE),
        ("The office closes at 14:00.", "The office closes at 2 pm."),
        ("40 000 requests arrive every day.", "About 40,000 requests a day arrive."),
        ("Warpage must not exceed 100 µm.", "Warpage may be at most 100 micrometres."),
        ("Members of the United States team sign.", "The US team has members, who sign."),
        ("European offices sign.", "Offices in Europe sign."),
        ("Die Spesen für Reisen betragen 41 Euro am Tag.", "Je Tag gibt es 41 Euro als Spesen bei Reisen."),
        ("No. 20 is the room.", "The room is number 20."),
        ("Tickets are answered within 60 minutes.", "Tickets are answered within 1 hour."),
        ("The warranty lasts two years from delivery.", "The warranty lasts 24 months from delivery."),
        ("Phones are forbidden in the lab.", "Phones are not allowed in the lab."),
        ("The limit is 1.5 tonnes.", "The limit is 1,500 kg."),
        ("Leave ends after 5 working days.", "Leave ends after 5 business days."),
        ("A part is baked at most twice.", LABEL),
        ("The height may be up to 1.6 mm.", LABEL),
        ("The course lasts over a day.", LETTER),
        ("Trips are possible only once the month is over.", "You may make trips once the month is over."),
        ("The wire has only Tarn; there is no second source.", "| Material | Source | Second source |\n|---|---|---|\n"
         "| Wire | Tarn | none |"),
        ("Stops start at 144.", "| 144 | Stops | 16 | Ends without a notification |"),
        ("Never collect wafers by hand.", "Wafers are collected with tools, never by hand."),
        ("A job must not be started without asking.", "Ask before you start a job."),
        ("The rewards are 100 and 200 euro (300 in total).", "The rewards are 100 euro and 200 euro."),
    ],
)  # fmt: skip
def test_a_paraphrase_raises_no_objection(said: str, source: str) -> None:
    assert find_objection(said, source) == ""


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("See the guide to [trips](http://x.org/a_(b)?c=1) and the form.", "See the guide to **trips** and the form"),
        ("- Read _expire_at only once in has_expired().", "* Read `_expire_at` only once in `has_expired()`."),
        ("print(a[1][value])", "```\nprint(a[1][value])\n```"),
        ("The fastest parser *.", "Not slow. The fastest parser [\\*](#pure-python), they say."),
        ("![](docs/logo.png)", "![](docs/logo.png)"),
        ("</div>", "<div>\n</div>"),
        ("On the *North* lot.", "Only staff park on the North lot.<br>On the North lot."),
        ("the support of these people.", "It lives not without\nthe support of these [people][contributors]."),
    ],
)  # fmt: skip
def test_a_quotation_is_supported_whatever_its_markup(said: str, source: str) -> None:
    assert is_quoted(said, source)
    assert support(said, source) == 1
    assert find_objection(said, source) == ""


def test_a_truncated_number_is_not_a_quotation() -> None:
    assert not is_quoted("The price is 4", "The price is 41.")
    assert not is_quoted("The price is 4", "The price is 4.5 euros.")


# -- the written set --------------------------------------------------------------------------------------------------


@cache
def lies() -> Any:
    path = ROOT / "bench" / "lies.py"
    spec = importlib.util.spec_from_file_location("bench_lies", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def cited_of(kind: str) -> tuple[int, int]:
    said = [one for one in lies().select_unequal(lies().load_statements()) if one.kind == kind]
    return sum(lies().is_cited(one) for one in said), len(said)


@pytest.mark.parametrize(
    "kind",
    ["number", "unit", "currency", "rate", "opposite", "only", "bound", "exception", "negation", "name", "clause"],
)
def test_nearly_all_false_sentences_of_each_kind_are_refused(kind: str) -> None:
    passed, count = cited_of(kind)
    assert count
    assert passed <= max(1, 0.05 * count)


def test_nearly_all_true_sentences_are_kept() -> None:
    kept, quotations = cited_of("quotation")
    assert kept == quotations
    kept, paraphrases = cited_of("paraphrase")
    assert kept >= 0.98 * paraphrases


@pytest.mark.parametrize(
    "said", ["The upload speed of the tariff Student is 30 Mbit/s.", "The tariff Student costs 24.50 GBP per month."]
)
def test_the_header_of_a_column_gives_the_unit_of_its_numbers(said: str) -> None:
    assert find_objection(said, TARIFFS) == ""


def test_an_hour_with_minutes_is_one_number() -> None:
    passage = "The help desk is open from 07:30 to 17:00. The gate opens at 9 a.m."
    assert find_objection("The help desk is open from 7:30 am to 5 pm.", passage) == ""
    assert find_objection("The gate opens at 09:00.", passage) == ""
    assert find_objection("The help desk is open from 07:00.", passage) == "number 7"
    assert find_objection("The help desk is open until 17:30.", passage) == "number 17:30"


def test_an_abbreviation_with_a_slash_is_no_rate() -> None:
    passage = "| Drug | Route | Milk |\n| --- | --- | --- |\n| Penstrep-H | i/m | 5 days |"
    assert find_objection("The milk of Penstrep-H (i/m) is kept back for 5 days.", passage) == ""
    assert [find_rates(text) for text in ("(i/m)", "(MB/s)", "(doses/day)")] == [set(), {"s"}, {"day"}]


DEPOSITS = """# Deposits

The **Harbour Board** manages the quay. The landlord pays the deposit of the hall to Nordbank within 4 weeks.

- Level 3 members may book up to 12 hours a month.
- Level 2 members may book up to 5 hours a month.
- Kestrix can store files up to 9 GB.
- Ospry is meant for short notes. There is no regular cleaning of its folders.

Do not delete the receipt of the deposit. If your second deputy is on a long leave, your first deputy can sign for it.
"""


@pytest.mark.parametrize(
    ("said", "objects"),
    [
        ("The landlord pays the deposit of the hall to Nordbank within 4 weeks at most.", False),
        ("The landlord pays the deposit of the hall to the Harbour Board within 4 weeks.", True),
        ("Level 2 members may book up to 12 hours a month.", True),
        ("Members of Level 3 may book up to 12 hours a month.", False),
        ("Ospry can store files up to 9 GB.", True),
        ("Files of up to 9 GB can be stored in Kestrix.", False),
        ("The landlord pays the deposit of the hall to Nordbank within 4 months.", True),
    ],
)
def test_a_word_of_the_passage_does_not_take_the_place_of_another(said: str, objects: bool) -> None:
    assert bool(find_objection(said, DEPOSITS)) is objects


@pytest.mark.parametrize(
    ("said", "objects"),
    [
        ("Delete the receipt of the deposit.", True),
        ("Its folders get regular cleaning.", True),
        ("Do not delete the receipt.", False),
        ("Level 3 members are forbidden to book hours.", True),
        ("Only no, do not delete the receipt of the deposit.", True),
    ],
)
def test_what_the_passage_only_denies_is_not_affirmed(said: str, objects: bool) -> None:
    assert bool(find_objection(said, DEPOSITS)) is objects


LODGE = (
    "On the form of the lodge, 1. open the key page.\n2. Click the green button on the left to order a spare key.\n\n"
    "Rinse the filter once every 9 weeks, otherwise the pump stops. Nothing in the log is private. There is no reading "
    "of messages between guides. Your RNL (Not Later Than date) shows in the portal on the day after the stay."
)


@pytest.mark.parametrize(
    ("said", "against"),
    [
        ("On the key page of the lodge, click the green button on the left to order a spare key.", ""),
        ("On the key page of the lodge, never click the green button on the left to order a spare key.", "negation"),
        ("Rinse the filter at least once every 9 weeks.", "scope 'at least'"),
        ("Rinse the filter at most once every 9 weeks.", "scope 'at most' of once"),
        ("Nothing is private, not even the messages between guides.", ""),
        ("The log is private, even the messages between guides.", "negation"),
        ("It shows in the portal on the day after the stay.", ""),
        ("It does not show in the portal on the day after the stay.", "negation"),
    ],
)
def test_a_stressed_bound_a_repeated_denial_and_a_place_change_nothing(said: str, against: str) -> None:
    assert find_objection(said, LODGE) == against


def test_a_site_that_the_passage_links_to_is_no_missing_name() -> None:
    passage = "*  Do ask in [#branding](https://org-a.slack.com/archives/C04B) when you have questions."
    assert not find_objection("Ask in the #branding Slack channel.", passage)
    assert find_objection("Ask in the #branding Zulip channel.", passage) == "name zulip"
    assert find_objection("Ask in the #legal Slack channel.", passage)
    kept = "Backups are kept in Frankfurt. [Map](https://dublin.example.com/x)"
    assert find_objection("Backups are kept in Dublin.", kept) == "name dublin"


PRICES = (
    "| Service | {} |\n|---|---|\n| Microchip, cat | 19.50 |\n| Yearly booster, dog | 62.00 |\n"
    "| Yearly booster, cat | 56.00 |\n| Primary course, dog | 92.00 |\n| Primary course, cat | 84.00 |"
)


@pytest.mark.parametrize(
    ("said", "column", "soft"),
    [
        ("A microchip for a cat costs £19.50.", "Price", True),
        ("A microchip for a cat costs 19.50 pounds.", "Price", True),
        ("A microchip for a cat costs GBP 19.50.", "Price", True),
        ("A microchip for a cat costs £19.50.", "Price (EUR)", False),
        ("A microchip for a cat costs £19.50.", "Price (SEK)", False),
        ("A microchip for a cat costs £19.60.", "Price", False),
        ("A microchip for a cat weighs 19.50 kg.", "Price", False),
        ("A microchip for a cat costs £19.50 and takes 3 days.", "Price", False),
        ("A microchip for a cat costs £19.50 at NX-44.", "Price", False),
    ],
)
def test_a_currency_that_the_passage_never_names_may_stand_elsewhere(said: str, column: str, soft: bool) -> None:
    reason = find_objection(said, PRICES.format(column))
    assert reason
    assert is_soft(reason) is soft
    assert not find_objection("A microchip for a cat costs £19.50.", PRICES.format("Price (£)"))


@pytest.mark.parametrize(
    ("said", "against"),
    [
        ("A yearly booster for a cat costs 62.00.", "62 from another row"),
        ("Every yearly booster of a cat, given in spring, costs 62.00.", "62 from another row"),
        ("The primary course for a dog costs 84.00 and for a cat 92.00.", "84 from another row"),
        ("A yearly booster for a cat costs 56.00.", ""),
        ("The primary course for a dog costs 92.00 and for a cat 84.00.", ""),
        ("Yearly boosters cost 62.00 for a dog and 56.00 for a cat.", ""),
        ("A microchip for a cat costs 19.50, and its yearly booster 56.00.", ""),
        ("The puppy's booster costs 62.00.", ""),  # no row is named whole
    ],
)
def test_a_number_of_another_row_is_no_support(said: str, against: str) -> None:
    assert find_objection(said, PRICES.format("Price")) == against


@pytest.mark.parametrize(
    ("said", "table"),
    [
        ("An older dog pays 80.", "| Animal | Price |\n|---|---|\n| Dog | 60 |\n| Dog, senior | 80 |"),
        ("A dog pays 80.", "| Animal | Price |\n|---|---|\n| Dog | 60 |\n| Cat | 80 |\n\nAfter dark a dog pays 80."),
        ("A dog pays 80.", "| Animal | Price |\n|---|---|\n| Dog | 60 |\n| Dog | 80 |"),
        ("A dog pays 60, unlike the bird with 80.", "| Animal | Price |\n|---|---|\n| Dog | 60 |\n| Parrot | 80 |"),
    ],
)
def test_a_number_that_may_belong_to_the_row_is_no_objection(said: str, table: str) -> None:
    assert "another row" not in find_objection(said, table)
