"""What a run writes beside its scores: the sections of the record, of test rows alone, enough for the page again."""

import json

import numpy as np

from proxembed import MVMD, OPLS
from proxembed.data import Dataset
from proxembed.evaluate.evidence import held_out_evidence
from proxembed.proximity.reordering import covat
from proxembed.report.matrices import unpacked
from proxembed.splits.splits import Split
from proxembed.workflow.record import evidence_sections, output_sections


def test_the_matrices_are_of_the_held_out_rows_and_their_labels():
    rng = np.random.default_rng(0)
    Y = np.eye(3, dtype=int)[rng.integers(0, 3, size=90)]
    X = np.hstack([Y, np.zeros((90, 9))]) + 0.2 * rng.normal(size=(90, 12))
    unknown = np.zeros(Y.shape, dtype=bool)
    unknown[60] = True
    data = Dataset(X, np.where(unknown, 0, Y), label_names=["a", "b", "c"], unknown=unknown)
    evidence = held_out_evidence(OPLS(n_components=2), data, Split("test", np.arange(50), np.arange(50, 90)))
    found = evidence_sections(evidence, data)["proximity"]
    assert (found["shown"], found["held_out"]) == (39, 39) and json.loads(json.dumps(found)) == found
    shown = np.delete(Y[50:], 10, axis=0)
    np.testing.assert_array_equal(unpacked(found["panels"][0]), 255 * (1 - covat(1 - shown).matrix))
    assert [panel["title"] for panel in found["panels"]][-2:] == ["OPLS", "OPLS on shuffled labels"]
    ours, shuffled = (panel["agreement"] for panel in found["panels"][-2:])
    assert ours > 0.9 > shuffled + 0.2


def test_the_model_of_numbers_tells_no_warning_that_the_comparison_told(recwarn):
    X = np.random.default_rng(0).normal(size=(60, 4))
    data, split = (
        Dataset.from_targets(X, np.column_stack([X[:, 0], np.ones(60)])),
        Split("a", np.arange(40), np.arange(40, 60)),
    )
    assert output_sections(OPLS(n_components=1), data, split, [split], {"leaderboard": []}, "OPLS")["measured"]
    assert not [each for each in recwarn if "left out of the fit" in str(each.message)]


def test_the_curve_has_r2_of_every_size_above_the_number_of_outputs_too():
    X = np.random.default_rng(0).normal(size=(60, 5))
    data, split = Dataset.from_targets(X, X[:, :2] ** 3), Split("a", np.arange(40), np.arange(40, 60))
    entries = [{"arm": "MVMD", "components": k, "scores": {}} for k in (1, 2, 4)]
    found = output_sections(MVMD(n_components=4), data, split, [split], {"leaderboard": entries}, "MVMD")
    fitted = [point[2] for point in found["measured"]["curve"]]
    assert 0 < fitted[0] < fitted[1] < fitted[2] <= 1
