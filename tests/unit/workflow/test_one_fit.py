"""The sentence of a diagnosis."""

from dataclasses import replace

import pytest
from sklearn.datasets import load_iris

from proxembed import FDA, diagnose
from proxembed.workflow.one_fit import verdict


@pytest.fixture(scope="module")
def found():
    X, y = load_iris(return_X_y=True)
    return diagnose(FDA(), X, y, n_shuffles=19, n_resamples=1)


@pytest.mark.parametrize(
    ("change", "said"),
    [(0.01, "all features are at least as good ("), (0.0, "all features are at least as good ("), (-0.01, "less (")],
)
def test_a_verdict_says_how_good_all_features_are(found, change, said):
    raw = found.held_out + change
    told = verdict(replace(found, raw=raw))
    assert told.startswith("Better than shuffled labels: ") and told.endswith(f"{said}{raw:.3f}).")
