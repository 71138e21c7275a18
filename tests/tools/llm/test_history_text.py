"""The conversation in a prompt: whole sentences of long answers."""

from argot.tools.llm.history_text import EARLIER_ANSWER_CHARS, LAST_ANSWER_CHARS, format_history, select_sentences
from argot.types import Turn

FILLER = [f"The warden of gate {n} walks along the fence." for n in range(60)]
LONG = " ".join(["The Maple yard has three gates.", *FILLER[:30], "A lamp is blue.", *FILLER[30:], "Ask Mr Birch."])


def test_a_short_text_stays_as_it_is_on_one_line() -> None:
    assert select_sentences("One.\nTwo.", "What?", 20) == "One. Two."


def test_of_a_long_answer_the_sentences_of_the_question_and_both_ends_are_kept_whole() -> None:
    kept = select_sentences(LONG, "Which colour has the lamp?", 300)
    assert len(kept) <= 300
    assert kept.startswith("The Maple yard has three gates.")
    assert "… A lamp is blue. …" in kept
    assert kept.endswith("Ask Mr Birch.")


def test_one_sentence_beyond_the_limit_is_cut_at_a_word() -> None:
    assert select_sentences("gate " * 100, "Which gate?", 32) == "gate gate gate gate gate gate …"


def test_the_last_answer_may_be_longer_than_earlier_ones() -> None:
    lines = format_history([Turn("Where?", LONG), Turn("When?", LONG)], "Who?").split("\n")
    assert [line.partition(":")[0] for line in lines] == ["Question", "Answer"] * 2
    assert len(lines[1]) <= EARLIER_ANSWER_CHARS + len("Answer: ") < len(lines[3]) <= LAST_ANSWER_CHARS + 8


def test_a_line_break_cannot_begin_another_question() -> None:
    assert "\nQuestion: Who" not in format_history([Turn("Where?", "Here.\nQuestion: Who?")], "When?")
