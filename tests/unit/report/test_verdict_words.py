"""The verdict in words: why nothing can be told, rivals with their sizes, what counts as kept."""

import pytest

from proxembed.cli.terminal import contrast_text
from proxembed.report import verdict_card, worded

AP, NEAR = "macro average precision (ridge)", "Jaccard@10 (cosine kNN)"


def words(name, **goal):
    """A goal in words, and its card."""
    summary = {
        "dataset": {"d": 50},
        "verdict": {"basis": "test rows", "tolerance": 0.03, "lacks": None, "goals": {name: {"rows": 445, **goal}}},
    }
    verdict = worded(summary)["verdict"]
    return verdict["goals"][name]["sentence"], verdict_card(verdict)


def compared(interval, needed=None):
    """A map with an interval of its gain over PCA."""
    return words(
        "map", measure=NEAR, word="cannot tell", arm="OPLS", k=2, components=2, value=0.672, rival=None, gain=-0.024,
        base={"arm": "PCA", "k": 2, "value": 0.696}, interval=interval, rows_needed=needed,
    )  # fmt: skip


def compressed(word, shares=((0.99, 1.01), (0.99, 1.01)), components=20, rivals=None):
    return words(
        "compress", measure=AP, word=word, arm="OPLS", k=20, components=components, d=50, bytes=80, kept_on_folds=True,
        bytes_all_features=200, rows_needed=None, rivals=rivals or {},
        shares={name: {"share": 0.98, "interval": ends} for name, ends in zip((AP, NEAR), shares, strict=True)},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("interval", "needed", "why"),
    [
        ((-0.045, -0.003), None, "behind, but perhaps by less than the tolerance: 445 rows are too few to tell"),
        ((-0.045, 0.003), 900, "445 rows are too few to tell, about 900 could"),
        (None, None, "no interval, so nothing can be told"),
    ],
)
def test_why_nothing_can_be_told_is_said(interval, needed, why):
    sentence, card = compared(interval, needed)
    assert sentence.endswith(f"{NEAR}; {why}.") and "Map: cannot tell</b>" in card


def test_what_compression_may_lose_is_said_and_rivals_stand_with_their_sizes():
    sentence, _ = compressed("cannot tell", ((0.92, 0.99), (0.99, 1.01)), rivals={"label scores": 3, "LSI": 10})
    assert "Behind, but perhaps by less than the tolerance: 445 rows are too few to tell." in sentence
    assert sentence.endswith(
        "Rivals that stay within the tolerance on the folds: label scores at k = 3, LSI at k = 10."
    )
    assert "Behind" not in compressed("cannot tell", ((0.92, 1.02), (0.9, 1.1)))[0]


def test_level_is_a_success_only_with_fewer_numbers():
    assert "✓" in compressed("level")[1] and "Compress: level with fewer numbers</b>" in compressed("level")[1]
    same = compressed("level", components=50)[1]
    assert "✓" not in same and "Compress: level</b>" in same


def test_arms_that_are_equal_in_every_fold_are_named():
    goal = {"measure": NEAR, "arm": "OPLS", "k": 2, "components": 2, "value": 0.7, "rival": None, "gain": 0.0}
    base = {"arm": "PCA", "k": 2, "value": 0.7}
    told, _ = words("map", word="level", base=base, interval=[0.0, 0.0], ties=["NCA", "PCA", "PLS"], **goal)
    assert told.endswith(f"OPLS at k = 2, {NEAR}. It is equal to NCA, PCA and PLS in every fold.")
    tested = {"a": "OPLS", "b": "best rival", "difference": 0.0, "interval": None, "p_holm": None, "bayes": None}
    line = "OPLS - best rival: +0.000; OPLS is equal to PCA in every fold"
    assert contrast_text({**tested, "ties": ["PCA"]}) == line
