"""Links of a draft lead only where a passage leads."""

import pytest

from argot.tools.answering.draft_links import drop_unknown_targets

PASSAGE = "Ask [the porter](https://lockers.example/Porter_(pool)?n=7) or write to <mailto:porter@lockers.example>."


@pytest.mark.parametrize(
    ("draft", "kept"),
    [
        ("See [the porter](https://lockers.example/Porter_(pool)?n=7) [1].",) * 2,
        ("See [him](<https://lockers.example/porter_(pool)?n=7> \"him\").",) * 2,
        ("Write to [him](mailto:porter@lockers.example).",) * 2,
        ("See [the porter](https://lockers.example/Porter_(pool)?n=1) [1].", "See the porter [1]."),
        ("Write to [him](mailto:porter@lockers.test).", "Write to him."),
        ("See [him](https://lockers.example/Porter_(pool)).",) * 2,
        ("See [him](https://lockers.exam).", "See him."),
        ("See [him](https://lockers).", "See him."),
        ("See [him](//thief.example/x).", "See him."),
        ("See [him]( https://thief.example/x 'him' ).", "See him."),
        ("See [him [or her]](https://thief.example/x).", "See him [or her]."),
        ("See [him][p].\n\n[p]: https://thief.example/x\n", "See [him][p].\n\n"),
        ("Write to [him](mailto:ter@lockers.example).", "Write to him."),
        ("See [rules](rules.md#pool), `row[2](x)` and [1].",) * 2,
    ],
)  # fmt: skip
def test_a_link_to_an_unknown_address_is_only_its_words(draft: str, kept: str) -> None:
    assert drop_unknown_targets(draft, [PASSAGE, "Another."]) == kept


def test_a_hostile_draft_takes_no_quadratic_time() -> None:
    draft = "[a](https://" + "(" * 50_000 + "](" * 50_000 + "[" * 50_000 + "\n[x]: " * 50_000
    assert drop_unknown_targets(draft, [PASSAGE]) == draft
