"""Words that are no jargon: ordinary English, and widely known abbreviations."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_SHORTHAND = frozenset(
    re.findall(
        r"\w+",
        """abbr app approx apps appt arg args asst attn avg awk bcc bday bldg blvd brb btn btw calc cfg cfgs
        chmod chown cmd cmds cntr coeff conf const cont ctrl ctx cust dept depts desc descs dest dev devs
        diff dir dirs dist doc docs dst eng env esp expt ext fcn fmt fn freq func fwd gdb gen git gonna govt
        grep grp gzip hmm hols hosp hrs idk idx img imho imo impl init int intl ints irl kinda lang lbl len
        lgtm lib libs lmk lnk lol ls lst lvl mfg mfr mgmt mgr mins misc mkdir mktg msg msgs mtg mth mths nav
        ngl nite non npm num nvm obj omg org orig param pct pic pics pkg pkgs pls plz pos ppl pre prev proc
        ptr pwd pymt qtr qty rcvd rec recv regex repo reqd resp rev rly rm rofl rsync sched seq sftp sgd
        smth spec specs sqrt src srv std stmt str sudo svc sys syst tbh tbl temp tgz tho thru thurs thx tldr
        tmp tmrw tmux tot ttyl tues ty univ util utils val vals vars vendr ver vid vids vim viz wget wk
        wkend wks wrt wtf xfer xmas yep yr yrs yum zsh""",
    )
)
"""Short forms of everyday writing and of command lines, which no glossary would explain."""


@cache
def load_english_words() -> frozenset[str]:
    """Load the commonest English words and nearly all with up to four letters, in lower case (`words.txt`)."""
    return frozenset(word for block in _read_blocks("words.txt") for word in block)


@cache
def load_common_words() -> frozenset[str]:
    """Load the English words with rarer ones and names that most readers know (`common_words.txt`)."""
    return load_english_words().union(*_read_blocks("common_words.txt"))


@cache
def _load_function_words() -> frozenset[str]:
    # The first block of the file.
    return frozenset(_read_blocks("words.txt")[0])


@cache
def load_well_known() -> frozenset[str]:
    """Load abbreviations and names in capitals that need no explanation (`well_known.txt`), as usually written."""
    return frozenset(word for block in _read_blocks("well_known.txt") for word in block)


@cache
def _fold_well_known() -> frozenset[str]:
    return frozenset(word.casefold() for word in load_well_known())


def is_well_known(word: str) -> bool:
    """Return whether it is a widely known abbreviation, in singular or plural, in any case: USB, PDFs, pcie."""
    folded = word.casefold().removesuffix("'s")
    return folded in _fold_well_known() or folded.removesuffix("s") in _fold_well_known()


def is_shorthand(word: str) -> bool:
    """Return whether a lower-case word is a short form of everyday writing or of command lines: "apps", "mgmt"."""
    return word in _SHORTHAND


def is_everyday_word(word: str) -> bool:
    """Return whether a lower-case word needs no glossary: a common word, a name, or shorthand, also "etc" and "min"."""
    return is_common_word(word) or is_shorthand(word) or word in load_well_known()


def is_function_word(word: str) -> bool:
    """Return whether it is a function word ("it", "to", "does"); in lower case."""
    return word in _load_function_words()


def is_ordinary_word(word: str) -> bool:
    """Return whether a lower-case word is an ordinary English one, also inflected: "cells", "failed", "wafer's",
    "reading".
    """
    return _is_among(load_english_words(), word)


def is_common_word(word: str) -> bool:
    """Return whether it is ordinary, or one of the rarer words and names most readers know ("canteen", "boston").

    For text in which a word must be unusual to count. Terms may have the same spelling as one of these.
    """
    return _is_among(load_common_words(), word)


def _is_among(words: frozenset[str], word: str) -> bool:
    # A single letter ("plan b") is no term unless the glossary has exactly that spelling.
    if word in words or (len(word) == 1 and word.isalpha()):
        return True
    word = word.removesuffix("'s")
    return word in words or any(stem in words for stem in _guess_stems(word))


def _guess_stems(word: str) -> list[str]:
    """Return the words that an inflected word may come from."""
    stems: list[str] = []
    # Rough on purpose: a stem counts only if it is in the list of words.
    for ending in ("s", "es", "ed", "d", "ing", "er", "r", "est", "ly", "n't"):
        stem = word.removesuffix(ending)
        # At least three letters remain: "ads" and "ping" stay whole. "Maker" is from make, "numbr" not from numb.
        if stem != word and len(stem) >= 3 and (ending not in ("d", "r") or stem.endswith("e")):
            stems.append(stem)
            if ending in ("ing", "ed", "er", "es"):
                # "making" from make, "planned" from plan, "happier" from happy.
                stems += [stem + "e", stem[:-1] if stem[-1] == stem[-2] else stem, stem[:-1] + "y"]
    if word.endswith(("ies", "ied", "ier", "ily")) and len(word) > 5:
        stems.append(word[:-3] + "y")
    return stems


def _read_blocks(name: str) -> list[list[str]]:
    """Return the blocks of a data file, as lists of words; each line that begins with "#" opens a block."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return [block.partition("\n")[2].split() for block in re.split(r"(?m)^#", text)[1:]]
