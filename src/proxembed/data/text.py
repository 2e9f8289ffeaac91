"""Texts as raw counts of Porter-stemmed words: the feature matrix that tf-idf is fitted on later."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy import sparse

from proxembed.data.errors import DataError
from proxembed.tables.cells import stems
from proxembed.tables.notes import shorten


def text_counts(
    texts: Iterable[str], vocabulary: Sequence[str] | None = None, min_df: int = 2
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """Counts of stemmed words: lower case, tokens of letters and digits, Porter's stemmer, no stop list.

    Counts are raw: a scaling such as tf-idf is fitted on training rows alone, so that nothing leaks from held-out ones.

    Parameters
    ----------
    texts : iterable of str
        One text per row; an empty text gives a row of zeros.
    vocabulary : sequence of str, optional
        Stems of the columns, as an earlier call returned them; words outside are left out. None takes every stem
        that occurs in at least `min_df` texts, in alphabetical order.
    min_df : int
        Least number of texts that a stem must occur in; not used where `vocabulary` is given.

    Returns
    -------
    counts : csr_array of shape (n, number of stems), float64
    vocabulary : tuple of str
        The stem of every column.

    Raises
    ------
    DataError
        Where a row is not text, no stem is frequent enough, the vocabulary is empty or repeats a stem, or the stemmer
        (snowballstemmer, extra ``proxembed[text]``) is not installed.

    Examples
    --------
    >>> from proxembed.data import text_counts
    >>> counts, stems = text_counts(["Whales sing songs.", "A whale sang", "Songs of the sea: a song"])
    >>> stems, counts.toarray().astype(int).tolist()
    (('a', 'song', 'whale'), [[0, 1, 1], [1, 0, 1], [1, 2, 0]])
    >>> text_counts(["The song of songs"], stems)[0].toarray().tolist()  # new rows, in the same columns
    [[0.0, 2.0, 0.0]]
    """
    from sklearn.feature_extraction.text import CountVectorizer  # costs over a second: only where it is used

    if vocabulary is not None:
        vocabulary = _distinct(vocabulary)
    elif isinstance(min_df, bool) or not isinstance(min_df, (int, np.integer)) or min_df < 1:
        raise DataError(f"min_df={min_df!r} must be a whole number of texts from 1 up; 2 drops stems seen once.")
    try:
        analyzer = stems()
    except ValueError as error:
        raise DataError(str(error)) from error
    counter = CountVectorizer(analyzer=analyzer, vocabulary=vocabulary, min_df=min_df if vocabulary is None else 1)
    try:
        counts = counter.fit_transform(_checked(texts))
    except DataError:
        raise
    except ValueError as error:  # scikit-learn refuses counts without a stem
        raise DataError(
            f"texts hold no word that occurs in at least min_df={min_df} of them; give texts with words, or a lower "
            "min_df."
        ) from error
    return sparse.csr_array(counts, dtype=np.float64), tuple(map(str, counter.get_feature_names_out()))


def _checked(texts: Iterable[str]) -> Iterator[str]:
    if isinstance(texts, (str, bytes)):
        raise DataError(f"texts is the single text {shorten(texts)}; give a list with one text per row.")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(
                f"texts holds {shorten(repr(text))} in row {row}, which is not text; give a str, '' for no text."
            )
        yield text


def _distinct(vocabulary: Sequence[str]) -> list[str]:
    stems = list(vocabulary)
    if isinstance(vocabulary, str) or not stems or not all(isinstance(stem, str) for stem in stems):
        raise DataError(
            f"vocabulary={shorten(repr(vocabulary))} is not a list of stems; give those of the training texts."
        )
    if len(set(stems)) < len(stems):
        twice = next(stem for place, stem in enumerate(stems) if stem in stems[:place])
        raise DataError(f"vocabulary holds {shorten(twice)} twice; give every stem one column.")
    return stems
