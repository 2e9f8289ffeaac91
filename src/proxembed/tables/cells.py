"""Words of cells: those that say nothing, truth values, the steps of known scales; and the stems of texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>", "?")
TRUTHS = (("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("nein", "ja"), ("non", "oui"))
SCALES = (
    (
        "strongly disagree",
        "disagree",
        "neutral|neither|neither agree nor disagree|undecided",
        "agree",
        "strongly agree",
    ),
    ("very dissatisfied", "dissatisfied", "neutral|neither", "satisfied", "very satisfied"),
    ("very unlikely", "unlikely", "neutral|neither", "likely", "very likely"),
    ("never", "rarely|seldom", "sometimes|occasionally", "often|frequently", "always"),
    ("very poor", "poor", "fair|average", "good", "very good", "excellent"),
    ("very low", "low", "medium|moderate", "high", "very high", "critical"),
    ("none", "mild", "moderate", "severe"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("small", "medium", "large"),
)
TOKEN = re.compile(r"[^\W_]+")  # letters and digits of any script
CACHED_STEMS = 1 << 18


def truth_words(words: Iterable[str]) -> tuple[str, str] | None:
    """The pair (no, yes), in lower case, that all words are of; None for other words."""
    found = {word.casefold() for word in words}
    return next((pair for pair in TRUTHS if found <= set(pair)), None) if found else None


def scale_steps(words: Iterable[str]) -> tuple[str, ...] | None:
    """The words in the order of a known scale (agreement, frequency, quality, size ...); None for other words."""
    found = {word.casefold() for word in words}
    for scale in SCALES:
        place = {word: step for step, words in enumerate(scale) for word in words.split("|")}
        if len(found) > 2 and found <= set(place) and len({place[word] for word in found}) == len(found):
            return tuple(sorted(found, key=place.__getitem__))
    return None


def stems() -> Callable[[str], list[str]]:
    """A function from a text to its stems in lower case, by Porter's stemmer; each distinct word is stemmed once."""
    try:
        from snowballstemmer import stemmer
    except ImportError as error:
        raise ValueError(
            "text columns need the stemmer snowballstemmer, which is not installed; install it "
            "(pip install 'proxembed[text]')."
        ) from error
    stem = lru_cache(CACHED_STEMS)(stemmer("porter").stemWord)
    return lambda text: [stem(token) for token in TOKEN.findall(text.lower())]
