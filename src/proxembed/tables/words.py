"""From a text to the stems of its words."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

TOKEN = re.compile(r"[^\W_]+")  # letters and digits of any script
CACHED_STEMS = 1 << 18


def stems() -> Callable[[str], list[str]]:
    """A function from a text to its stems in lower case, by Porter's stemmer; each distinct word is stemmed once.

    Raises
    ------
    ValueError
        The stemmer (snowballstemmer, extra ``proxembed[text]``) is not installed.

    Examples
    --------
    >>> from proxembed.tables.words import stems
    >>> stems()("Whales sing, na\u00efve whale")
    ['whale', 'sing', 'na\u00efv', 'whale']
    """
    try:
        from snowballstemmer import stemmer
    except ImportError as error:
        raise ValueError(
            "text columns need the stemmer snowballstemmer, which is not installed; install it "
            "(pip install 'proxembed[text]')."
        ) from error
    stem = lru_cache(CACHED_STEMS)(stemmer("porter").stemWord)
    return lambda text: [stem(token) for token in TOKEN.findall(text.lower())]
