"""Recognition of questions that are not in English, by their function words and letters."""

from __future__ import annotations

import re

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.tools.text.words import fold_words

_FUNCTION_WORDS = frozenset(
    word
    for line in (
        # German, French, Spanish, Italian, Dutch, Portuguese.
        "wie viel viele vielen ich habe hat haben der das und ist sind nicht ein eine einen einem einer für",
        "mit auf von zu zum zur den dem wer wann warum wo kann darf muss welche welcher welches gibt wird",
        "werden mein meine wir bei combien de le les des est et un une pour avec qui quand où comment je nous",
        "quel quelle quels quelles puis dois mon ma mes au aux du dans sur pas que ce cette peut faut il elle",
        "à ai cuánto cuánta cuántos cuántas el los las es y con quién cuándo dónde cómo qué mi mis tengo",
        "puedo debo en por del al una hay son está cuál cuáles quanto quanti quante quando come dove chi",
        "perché lo gli della dei sono ho posso mio mia hoeveel het een wanneer waar waarom hoe kan mag heb",
        "mijn zijn voor met van niet quantos quantas dias tenho não uma com para onde quem meu minha",
    )
    for word in line.split(" ")
) - frozenset(STOP_WORDS)
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_MIN_WORDS = 2


def is_foreign(question: str) -> bool:
    """Return whether a question is surely in another language than English: mostly in other letters, or with several
    function words of another language and fewer English ones.
    """
    letters = _LETTER.findall(question)
    if 2 * sum(_LATIN.fullmatch(letter) is not None for letter in letters) < len(letters):
        return True
    spoken = fold_words(question)
    foreign = sum(word in _FUNCTION_WORDS for word in spoken)
    return foreign >= _MIN_WORDS and foreign > sum(word in STOP_WORDS for word in spoken)
