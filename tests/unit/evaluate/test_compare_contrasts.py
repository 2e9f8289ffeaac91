"""Contrasts: sides and choices of size, what is left out and what is refused."""

import json

import numpy as np
import pytest

from proxembed.evaluate.compare import contrasts
from proxembed.measures.statistics import nadeau_bengio, nadeau_bengio_p

VALUES = {
    ("OPLS", 2): [0.60, 0.62, 0.58, 0.60],
    ("OPLS", 5): [0.70, 0.71, 0.69, 0.72],
    ("MDDM", 2): [0.50, 0.52, 0.53, 0.51],
    ("all features", None): [0.65, 0.66, 0.67, 0.63],
    ("PCA", 5): [0.40, 0.42, 0.41, 0.43],
}
RIVALS = {"all features", "PCA"}
FOLDS = {str(fold): {"train": 75, "held_out": 25} for fold in range(1, 5)}


def summary(values=VALUES, measure="macro average precision", rivals=RIVALS):
    name = f"{measure} (ridge)"
    entries = [
        {"arm": arm, "k": k, "rival": arm in rivals, "scores": {name: {"by_fold": row}}}
        for (arm, k), row in values.items()
    ]
    return {"measures": [name], "leaderboard": entries, "folds": list(FOLDS), "fold_sizes": FOLDS}


def test_an_arm_is_taken_at_the_size_best_on_the_other_folds():
    (found,) = contrasts(summary(), [("OPLS", "all features")])
    gain = np.subtract(VALUES["OPLS", 5], VALUES["all features", None])
    assert found["difference"] == pytest.approx(gain.mean())
    assert found["interval"] == pytest.approx(nadeau_bengio(gain, 75, 25))
    assert found["p"] == found["p_holm"] == pytest.approx(nadeau_bengio_p(gain, 75, 25))
    assert (found["n"], found["unit"], found["measure"]) == (4, "fold", "macro average precision (ridge)")
    assert found["bayes"]["better"] > 0.9
    assert json.loads(json.dumps(found)) == found


def test_the_best_rival_is_an_embedding():
    (found,) = contrasts(summary(), [("best method", "best rival")])
    assert found["difference"] == pytest.approx(np.mean(VALUES["OPLS", 5]) - np.mean(VALUES["PCA", 5]))


def test_several_pairs_are_adjusted_by_holm():
    found = contrasts(summary(), [("OPLS", "all features"), ("MDDM", "PCA")])
    raw = sorted(entry["p"] for entry in found)
    adjusted = sorted(entry["p_holm"] for entry in found)
    assert adjusted == pytest.approx([2 * raw[0], max(2 * raw[0], raw[1])])


def test_a_failure_counts_as_a_loss():
    values = {**VALUES, ("MDDM", 2): [0.9, 0.0, 0.9, 0.9]}
    (found,) = contrasts(summary(values), [("MDDM", "all features")])
    assert found["difference"] == pytest.approx(2.7 / 4 - np.mean(VALUES["all features", None]))


def test_of_a_loss_the_smaller_value_is_chosen():
    values = {("OPLS", 2): [0.3, 0.3, 0.3], ("OPLS", 5): [0.1, 0.1, 0.1], ("all features", None): [0.2, 0.2, 0.2]}
    (found,) = contrasts(summary(values, measure="Hamming loss"), [("OPLS", "all features")])
    assert found["difference"] == pytest.approx(-0.1)


def test_folds_without_a_scored_label_are_left_out():
    values = {key: [*row, float("nan")] for key, row in VALUES.items()}
    (found,) = contrasts(summary(values), [("OPLS", "PCA")])
    assert found["n"] == 4 and np.isfinite(found["difference"])


def test_a_pair_without_an_arm_is_left_out():
    values = {key: row for key, row in VALUES.items() if key[0] == "OPLS"}
    assert contrasts(summary(values), [("best method", "all features"), ("OPLS", "best rival")]) == []


def test_a_side_that_is_no_arm_is_refused():
    with pytest.raises(ValueError, match="'OPLSS' is not an arm"):
        contrasts(summary(), [("OPLSS", "PCA")])


EQUAL_RIVALS = VALUES | {
    ("PLS", 5): VALUES["OPLS", 5],
    ("NCA", 2): [v + 1e-14 for v in VALUES["OPLS", 5]],
    ("PCA", 5): [0.95, 0.62, 0.62, 0.62],  # chosen on some folds, it is below ours on the others
}


def tied(values, pairs, rivals=("PCA", "PLS", "NCA", "all features")):
    return contrasts(summary(values, rivals=rivals), pairs)


def test_a_method_is_not_better_than_rivals_that_equal_it_in_every_fold():
    without = {key: row for key, row in EQUAL_RIVALS.items() if key[0] not in ("PLS", "NCA")}
    (ahead,) = tied(without, [("best method", "best rival")])
    assert ahead["difference"] > 0 and ahead["ties"] == []
    found = tied(EQUAL_RIVALS, [("best method", "best rival"), ("best rival", "best method"), ("OPLS", "PLS")])
    for entry in found:
        assert entry["difference"] == 0 and entry["p"] == 1 and entry["bayes"] == {"worse": 0, "rope": 1, "better": 0}
    assert [entry["ties"] for entry in found] == [["NCA", "PLS"], ["OPLS"], ["PLS"]]


def test_an_equal_rival_hides_no_other_one_that_is_ahead():
    ahead = EQUAL_RIVALS | {("PCA", 5): [0.80, 0.81, 0.79, 0.82]}
    (found,) = tied(ahead, [("best method", "best rival")])
    assert found["difference"] == pytest.approx(-0.1) and found["ties"] == ["NCA", "PLS"]
