"""scikit-learn's own checks on what has a smaller budget elsewhere, in default construction."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from contracts.estimators import BUDGETS, public
from test_sklearn_contract import expected_failures, run_check

SEARCHES = [cls() for cls in public() if cls.__name__ in BUDGETS]


@pytest.mark.filterwarnings("ignore:The neighbour graph has [0-9]+ connected components:UserWarning")
@parametrize_with_checks(SEARCHES, expected_failed_checks=expected_failures)
def test_check_search_in_default_construction(estimator, check):
    run_check(estimator, check)
