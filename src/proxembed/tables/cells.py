"""Cells as plain values, and their words: empty ones, truth values, steps of known scales, stems of texts."""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>", "?")
TRUTHS = (
    *(("unchecked", "checked"), ("not selected", "selected"), ("absent", "present")),  # of REDCap and other surveys
    *(("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("nein", "ja"), ("n", "j"), ("non", "oui")),
    *(("no", "s\u00ed"), ("no", "s\u00ec"), ("no", "si"), ("n\u00e3o", "sim"), ("nao", "sim"), ("nee", "ja")),
    *(("nej", "ja"), ("nie", "tak"), ("\u043d\u0435\u0442", "\u0434\u0430")),
)
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
PLAIN = frozenset({str, int, bool, bytes})
NO_VALUE = ("NAType", "NaTType")  # of pandas
AS_TEXT = ("Period", "Interval")


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


def commonest_words(texts: Iterable[str], terms: Iterable[str]) -> tuple[str, ...]:
    """For each stem the word that occurs most often in the texts among those that have this stem, in lower case; the
    first in the alphabet of several."""
    counts = Counter(token for text in texts for token in TOKEN.findall(text.lower()))
    stem, found = stems(), dict[str, str]()
    for word in sorted(counts, key=lambda word: (-counts[word], word)):
        found.setdefault(stem(word)[0], word)
    return tuple(found.get(term, term) for term in terms)


def is_empty(value: Any) -> bool:
    """Whether a value is missing: None, NaN, NaT, pandas' NA or a masked entry."""
    kind = type(value)
    if kind in PLAIN:
        return False
    if kind is float:
        return bool(value != value)
    if value is None or value is np.ma.masked or kind.__name__ in NO_VALUE:
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and value != value


def plain_value(value: Any) -> Any:
    """A cell as Python has it: None where it is empty, a tuple of what a list, a buffer or a set (as names) holds."""
    if type(value) in PLAIN:
        return value
    value = _unwrapped(value)
    return None if is_empty(value) else value


def _unwrapped(value: Any) -> Any:
    """A value without what a library wraps it in; numbers in a list stay, NaN among them."""
    kind = type(value)
    if kind in PLAIN or value is None:
        return value
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        return value.item()
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return _unwrapped(value[()])
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(_unwrapped(each) for each in value)
    if isinstance(value, set | frozenset):
        return tuple(sorted(map(_name, value), key=str))
    if isinstance(value, memoryview | bytearray | array):
        return _buffer(value)
    if kind.__name__ in AS_TEXT:
        return str(value)
    if hasattr(value, "as_py"):
        return _unwrapped(value.as_py())
    for name in ("to_list", "tolist"):
        if hasattr(value, name):
            return _unwrapped(getattr(value, name)())
    return value


def _name(value: Any) -> Any:
    """An entry of a set; numbers as text, 7.0 like 7."""
    value = _unwrapped(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or is_empty(value):
        return value
    return str(int(value)) if value == value // 1 else str(value)


def _buffer(value: Any) -> Any:
    """The numbers of a buffer as a tuple; bytes as they are."""
    kind = value.typecode if isinstance(value, array) else value.format if isinstance(value, memoryview) else "B"
    return bytes(value) if kind.strip("<>=@") in ("B", "b", "c") else _unwrapped(value.tolist())
