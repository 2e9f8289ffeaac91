"""Claims of the paper: each can come out, can come out otherwise, and cannot be told of entrants that failed."""

import pytest

from papers.mesd_mope.claims import partly_labelled_claims, supervised_claims
from papers.mesd_mope.entrants import partly_labelled_entrants, supervised_entrants

AS_PUBLISHED = {
    "LSI": 0.80, "PCA": 0.80, "OLPP": 0.80, "MDDM": 0.75, "CCA": 0.804, "MORP": 0.804, "MOPE G3, Dice": 0.809,
    "MOPE G3 and W, priority": 0.811, "MOPE G3 and W, weighted sum": 0.805, "MOPE W": 0.806,
    "MESD(LFDA)": 0.81, "no embedding": 0.9,
}  # fmt: skip
OTHERWISE = {
    "PCA": 0.84, "MDDM": 0.85, "CCA": 0.84, "MOPE G3, Dice": 0.70, "MOPE G3 and W, priority": 0.71, "MOPE W": 0.69,
    "MOPE G3 and W, Hadamard": 0.72, "MOPE G3 and W, weighted sum": 0.71,
}  # fmt: skip


def parts(scores, missing=()):
    entries = [
        {"entrant": each.name, "group": each.group, "test": scores.get(each.name, 0.808)}
        for each in supervised_entrants()
        if each.name not in missing
    ]
    return {"100 %": entries}


@pytest.mark.parametrize("claim", supervised_claims(), ids=lambda claim: claim.published)
def test_a_claim_of_experiment_1_can_come_out_and_can_fail(claim):
    assert claim.check(parts(AS_PUBLISHED))["came_out"] is True
    assert claim.check(parts(OTHERWISE))["came_out"] is False


@pytest.mark.parametrize("claim", supervised_claims(), ids=lambda claim: claim.published)
def test_of_failed_entrants_nothing_can_be_told(claim):
    found = claim.check({"100 %": [{"entrant": "CCA", "group": "existing multi-label", "test": None}]})
    assert found["came_out"] is None and found["ours"]


@pytest.mark.parametrize("claim", partly_labelled_claims(), ids=lambda claim: f"{claim.part}: {claim.published}")
def test_a_claim_of_experiment_2(claim):
    scores = {"SSMOPE": 0.8, "MOPE": 0.7, "OLPP": 0.7, "ML-LGC": 0.7}
    for value, came in ((0.8, True), (0.6, False)):
        entries = [
            {"entrant": each.name, "group": each.group, "test": (scores | {"SSMOPE": value}).get(each.name, 0.5)}
            for each in partly_labelled_entrants()
        ]
        found = claim.check({"40 %": entries, "80 %": entries})
        assert found["came_out"] is came and f"SSMOPE {value:.3f}" in found["ours"]
