"""Text to stemmed counts: tokens, Porter's stems, the vocabulary of training texts, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from proxembed.data import DataError, text_counts

TEXTS = ["Relational databases, relating RELATIONS!", "", "a relation of 2 databases; 2", "naïve café"]


def table(texts, **options):
    counts, stems = text_counts(texts, **options)
    return {stem: counts[:, [j]].toarray().ravel().astype(int).tolist() for j, stem in enumerate(stems)}


def test_hand_counted():
    """Letters of any script make words; the stems are those of Porter's paper."""
    assert table(TEXTS, min_df=1) == {
        "2": [0, 0, 2, 0],
        "a": [0, 0, 1, 0],
        "café": [0, 0, 0, 1],
        "databas": [1, 0, 1, 0],
        "naïv": [0, 0, 0, 1],
        "of": [0, 0, 1, 0],
        "relat": [3, 0, 1, 0],
    }


def test_min_df_counts_texts_not_words():
    assert table(TEXTS) == {"databas": [1, 0, 1, 0], "relat": [3, 0, 1, 0]}


@pytest.mark.parametrize(
    ("word", "stem"),
    [("caresses", "caress"), ("ponies", "poni"), ("motoring", "motor"), ("conflated", "conflat"), ("happy", "happi")]
    + [("relational", "relat"), ("triplicate", "triplic"), ("adjustable", "adjust"), ("controlling", "control")]
    + [("generously", "gener")],
)
def test_the_stemmer_is_porters_original(word, stem):
    """Examples of Porter (1980); his later English stemmer gives "generous" for the last."""
    assert list(table([word], min_df=1)) == [stem]


def test_new_texts_keep_the_columns_of_the_training_texts():
    _, stems = text_counts(TEXTS)
    counts, again = text_counts(["unseen words", "relate the database", ""], stems, min_df=99)
    assert again == stems and counts.toarray().tolist() == [[0, 0], [1, 1], [0, 0]]
    turned, order = text_counts(["relate the database relation"], stems[::-1])
    assert order == ("relat", "databas") and turned.toarray().tolist() == [[2, 1]]


def test_the_form_of_the_counts():
    counts, stems = text_counts(iter(TEXTS))
    assert isinstance(counts, sparse.csr_array) and counts.dtype == np.float64 and counts.shape == (4, 2)
    assert type(stems) is tuple and all(type(stem) is str for stem in stems)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=5))
def test_counts_are_those_of_the_tokens_whatever_the_text(texts):
    texts = [*texts, "anchor"]
    counts, _ = text_counts(texts, min_df=1)
    bare = ("".join(c if c.isalnum() else " " for c in text.lower()) for text in texts)
    sums = [len(text.split()) for text in bare]
    assert counts.sum(axis=1).tolist() == sums


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ("one text", {}, "texts is the single text 'one text'; give a list with one text per row"),
        (["a", None], {}, "texts holds 'None' in row 1, which is not text; give a str"),
        (["a", float("nan")], {"vocabulary": ["a"]}, "texts holds 'nan' in row 1"),
        ([b"a"], {}, "in row 0, which is not text"),
        (["a", "b"], {}, "no word that occurs in at least min_df=2 of them; give texts with words, or a lower min_df"),
        ([], {"min_df": 1}, "no word that occurs in at least min_df=1"),
        (["", "! ?"], {"min_df": 1}, "no word that occurs"),
        (["a"], {"min_df": 0}, "min_df=0 must be a whole number of texts from 1 up"),
        (["a"], {"min_df": 0.5}, "min_df=0.5 must be a whole number"),
        (["a"], {"min_df": True}, "min_df=True must be a whole number"),
        (["a"], {"vocabulary": []}, "is not a list of stems"),
        (["a"], {"vocabulary": "abc"}, "vocabulary=''abc'' is not a list of stems"),
        (["a"], {"vocabulary": [1]}, "is not a list of stems"),
        (["a"], {"vocabulary": ["a", "b", "a"]}, "vocabulary holds 'a' twice; give every stem one column"),
    ],
)
def test_what_is_refused(texts, options, message):
    with pytest.raises(DataError) as caught:
        text_counts(texts, **options)
    assert message in str(caught.value) and str(caught.value).endswith(".")


def test_a_missing_stemmer_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(DataError, match=r"pip install 'proxembed\[text\]'"):
        text_counts(["a text", "a text"])


def test_the_stemmer_is_loaded_when_it_is_used(monkeypatch):
    code = "import sys, proxembed.data; print([m for m in ('snowballstemmer', 'sklearn') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
