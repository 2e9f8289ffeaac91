"""The registry of rivals: a class with a title joins it, states its limits, and stands in its place."""

import numpy as np
import pytest

from contracts.estimators import SMALL_RIVALS
from proxembed import LabelScores
from proxembed.estimator.traits import Traits
from proxembed.evaluate.arms import entrants
from proxembed.evaluate.costs import Shape, table
from proxembed.evaluate.rivals.forests import ForestProximity, ForestScores
from proxembed.evaluate.rivals.linear import AllFeatures
from proxembed.evaluate.rivals.numbers import ForestNumbers, RidgeNumbers
from proxembed.evaluate.rivals.rival import RIVALS, DataFacts, Rival, RivalEmbedding, rivals
from unit.classify.contract_cases import checked_in_turn

CHOOSES_BY_ROWS = (ForestNumbers, ForestProximity, ForestScores, LabelScores, RidgeNumbers)
FACTS = DataFacts(Shape(100, 5, 5.0, 3))


@pytest.fixture
def scratch_registry(monkeypatch):
    """Rivals made in a test leave no trace."""
    monkeypatch.setattr("proxembed.evaluate.rivals.rival.RIVALS", dict(RIVALS))


@checked_in_turn(*SMALL_RIVALS, LabelScores(n_components=1), of=1)
def test_scikit_learn_contract(estimator, check):
    name = getattr(check, "func", check).__name__
    if name == "check_classifiers_multilabel_output_format_predict_proba":
        pytest.skip("it has scores, no probabilities")
    if name.startswith("check_sample_weight_equivalence") and isinstance(estimator, CHOOSES_BY_ROWS):
        pytest.skip("a row is drawn, or left out, whole, and its repeats one by one")
    check(estimator)


def test_a_class_with_a_title_stands_last_unless_it_states_its_position(scratch_registry):
    class Nothing(AllFeatures):
        """Nothing but the features."""

        title = "nothing"
        position = Rival.position

    class Untitled(AllFeatures):
        """The same without a title."""

    assert rivals()[-1] is Nothing and Untitled not in rivals()
    (entrant,) = [entrant for entrant in entrants(np.eye(3)) if entrant.rival is Nothing]
    assert entrant.arm.name == "nothing" and entrant.arm.estimator is None


def test_a_title_belongs_to_one_module(scratch_registry):
    with pytest.raises(TypeError, match="A rival named 'all features' is already registered by proxembed"):
        type("Other", (Rival,), {"title": "all features", "__module__": "elsewhere"})


def test_positions_decide_and_all_features_come_first():
    positions = [rival.position for rival in rivals()]
    assert positions == sorted(positions) and rivals()[0] is AllFeatures
    assert len(set(positions)) == len(positions), "two rivals of one position"


@pytest.mark.parametrize("rival", rivals(), ids=lambda rival: rival.title)
def test_every_rival_has_a_forecast_or_a_line_in_the_table_of_costs(rival):
    estimator, more = rival.build(FACTS), FACTS._replace(splits=3)
    assert rival.cut in ("first", "late", "last", "never") and rival.goal in (None, "map") and 0 < rival.share <= 1
    if estimator is None:
        return
    if rival.forecast(FACTS):
        assert 0 < rival.forecast(FACTS) < rival.forecast(more)
    else:
        assert rival.name_of(estimator) in table() or f"MESD({rival.name_of(estimator)})" in table()
        shape = FACTS.shape
        assert 0 < rival.work(estimator, shape, 100) < rival.work(estimator, shape.rows(10_000), 100)


def test_a_rival_lacks_what_its_limits_say():
    class Limited(RivalEmbedding, abstract=True):
        most_rows = 50

    assert Limited.lacks(FACTS) == "100 rows; it takes up to 50"
    Limited.most_labels = 2
    assert Limited.lacks(FACTS) == "3 labels and 100 rows; it takes up to 2 and 50"
    Limited.reads_whole_rows = True
    assert "fewer than half" in Limited.lacks(FACTS._replace(whole_rows=False))
    Limited.class_traits = Traits(labels="single")
    assert "several labels or none" in Limited.lacks(FACTS)
    assert Limited.lacks(DataFacts(Shape(50, 5, 5.0, 2), one_class=True)) == ""
