"""Several processes: an arm that ends its process, Ctrl-C while workers are at work."""

import os

import pytest
from sklearn.base import BaseEstimator, TransformerMixin

from proxembed.evaluate.arms import Arm
from unit.evaluate import test_run_parallel as in_one
from unit.evaluate.test_run_parallel import dataset, deadly_is_a_loss, several  # noqa: F401


def deadly():
    """An estimator whose class workers get by value: they cannot import this file."""

    class Deadly(TransformerMixin, BaseEstimator):
        """Ends its process, as the system does for want of memory."""

        def __init__(self, parent=0, n_components=None):
            self.parent = parent
            self.n_components = n_components

        def fit(self, X, y=None):
            if os.getpid() == self.parent:
                raise RuntimeError("not in the first process")
            os._exit(9)

        def transform(self, X):
            return X

    return Deadly(os.getpid())


@pytest.mark.filterwarnings("ignore:A worker stopped:UserWarning")
def test_an_arm_that_ends_its_process_is_a_loss_and_the_others_go_on(dataset, several):  # noqa: F811
    reason = deadly_is_a_loss(dataset, several, Arm("deadly", deadly()))
    assert "its process was killed (A worker process" in reason


def test_interruption_keeps_what_is_done(dataset, several):  # noqa: F811
    in_one.test_interruption_keeps_what_is_done(dataset, several, None)
