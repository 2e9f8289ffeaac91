"""scikit-learn's own checks on every public estimator in default construction.

One estimator of each role runs every third check, the others a smaller share, and a third of what may fail, all in
rotation; with `designs.WHOLE` all of them run every check. The searches run them with small budgets here, and with
their default ones in `tests/slow`.
"""

from unittest import SkipTest

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_regressor_multioutput, check_regressors_train, parametrize_with_checks

from configurations import NAMED
from contracts.estimators import REPRESENTATIVES, build, public
from designs import WHOLE
from proxembed import CCA, OPLS, SELF, ForestLeaves, Kernelized, TargetSpace
from proxembed.methods.pipeline import embedding_pipeline

UNROUTED = (
    "under metadata routing the Pipeline of scikit-learn passes sample_weight to every score, also to that of its own "
    "PCA, which takes none"
)
OF_EITHER = "it takes numbers too, is a regressor then, and no error is due"
DRAWN = (
    "it draws the distinct rows of each tree by their order, which the check changes; repeats in the order of the "
    "weights give the same in the unit tests"
)
EQUIVALENCE = ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"]
ZEROS = (
    "of the rows of the check each class has at most as many as neighbours and dimensions, which reconstruct it: the "
    "directions of eigenvalue 0 are not defined one by one"
)
CUT = "a label is predicted above its cut of largest F1, not above a probability of one half"
SEARCHED = "labels are those that the searched classifier predicts, here of the nearest row, not the probable ones"
FEW_DISTINCT = "four of the rows of the check are distinct, and the five neighbours of a row are distinct rows"
# Class name -> {check name: why it may fail}. Nothing else is excused.
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "DEFC": {
        "check_classifier_multioutput": SEARCHED,
        **({"check_pipeline_consistency": UNROUTED} if NAMED == "routing" else {}),
    },
    **dict.fromkeys(
        ("ForestLeaves", "Views"),
        dict.fromkeys(EQUIVALENCE, DRAWN),
    ),
    "TargetSpace": {**dict.fromkeys(EQUIVALENCE, DRAWN), "check_classifiers_regression_target": OF_EITHER},
    **dict.fromkeys(("Thresholded", "EmbeddingSearch"), {"check_classifier_multioutput": CUT}),
    "SONPP": dict.fromkeys(EQUIVALENCE, ZEROS),
    "LaplacianEigenmaps": dict.fromkeys(
        ["check_sample_weights_shape", "check_sample_weights_not_overwritten"], FEW_DISTINCT
    ),
    **dict.fromkeys(("BSML", "MLGFHF", "MLGRF", "MLLGC", "SMSE"), {"check_classifiers_regression_target": OF_EITHER}),
}
# (class name, check name) -> why scikit-learn skips it.
EXPECTED_SKIPS: dict[tuple[str, str], str] = {
    (name, "check_classifiers_multilabel_output_format_predict_proba"): "it has scores, no probabilities"
    for name in ("MultiOutputRidge", "FLDAClassifier", "LabelKNN", "RankSVM")
} | {("DEFC", "check_classifiers_multilabel_output_format_decision_function"): "the nearest row has no scores"}


def estimators() -> list[BaseEstimator]:
    return [build(cls) for cls in public()]


def expected_failures(estimator: BaseEstimator) -> dict[str, str]:
    """Without those that TargetSpace passes for numbers."""
    found = EXPECTED_FAILURES.get(type(estimator).__name__, {})
    passes = EQUIVALENCE if isinstance(estimator, TargetSpace) and estimator.target_type == "real" else ()
    return {check: why for check, why in found.items() if check not in passes}


NAMED_LIKE_OTHERS = [CCA(), SELF()]  # scikit-learn has a CCA, and "self" is no name for a step of a pipeline


@parametrize_with_checks(NAMED_LIKE_OTHERS)
def test_every_check_of_names_that_scikit_learn_takes_apart(estimator, check):
    run_check(estimator, check)


def test_there_are_estimators_to_check():
    assert {"PCA", "OPLS", "MESD"} <= {type(estimator).__name__ for estimator in estimators()}


SHARE, SHARE_OF_A_ROLE = 40, 3


def with_checks(of: list[BaseEstimator]) -> pytest.MarkDecorator:
    """`parametrize_with_checks` with a share of the checks in rotation, or with all of them."""
    mark = parametrize_with_checks(of, expected_failed_checks=expected_failures).mark
    kinds: dict[str, int] = {}

    def kept(estimator, check) -> bool:
        kind = f"{check.func.__name__} {check.keywords}"
        turn = kinds.setdefault(kind, len(kinds)) + of.index(estimator)
        excused = EXPECTED_FAILURES.get(type(estimator).__name__, {})
        often = type(estimator) in REPRESENTATIVES or check.func.__name__ in excused
        return WHOLE or turn % (SHARE_OF_A_ROLE if often else SHARE) == 0

    pairs = [pair for pair in mark.args[1] if kept(*getattr(pair, "values", pair))]
    return pytest.mark.parametrize("estimator, check", pairs, ids=mark.kwargs["ids"])


# The checks fit blobs, whose neighbour graphs fall into pieces: the methods on graphs say so.
@pytest.mark.filterwarnings("ignore:The neighbour graph has [0-9]+ connected components:UserWarning")
@with_checks(estimators())
def test_check_estimator(estimator, check):
    run_check(estimator, check)


def of_numbers() -> list[BaseEstimator]:
    """The methods that take numbers, by whose y the checks are of classes: with this word they are numbers."""
    return [build(cls, target_type="real") for cls in public() if build(cls).traits.takes_numbers]


@pytest.mark.filterwarnings("ignore:The neighbour graph has [0-9]+ connected components:UserWarning")
@with_checks(of_numbers())
def test_check_estimator_of_numbers(estimator, check):
    run_check(estimator, check)


def run_check(estimator, check):
    """The check; a skip needs a written reason."""
    try:
        check(estimator)
    except SkipTest as skipped:
        key = (type(estimator).__name__, getattr(check, "func", check).__name__)
        if key not in EXPECTED_SKIPS:
            pytest.fail(f"{key} was skipped without a written reason: {skipped}")
        pytest.skip(EXPECTED_SKIPS[key])


IN_PLACE = "a Pipeline, that of scikit-learn too, fits its steps in place, which are its parameter `steps`"
MODELS = [
    embedding_pipeline(method, np.ones((2, 2)), scaling="standard", numbers=True)
    for method in (
        OPLS(ridge=1.0, target_type="real"),
        Kernelized(OPLS(ridge=1.0), target_type="real"),
        ForestLeaves(n_estimators=5, target_type="real"),
    )
]


@parametrize_with_checks(
    MODELS[:1] if not WHOLE else MODELS,
    expected_failed_checks=lambda _: {"check_estimators_overwrite_params": IN_PLACE},
)
def test_check_models_of_numbers(estimator, check):
    run_check(estimator, check)


@pytest.mark.parametrize("model", MODELS[1:], ids=["Kernelized", "ForestLeaves"])
def test_models_of_numbers_are_multi_output_regressors(model):
    check_regressor_multioutput("EmbeddingPipeline", model)
    check_regressors_train("EmbeddingPipeline", model)
