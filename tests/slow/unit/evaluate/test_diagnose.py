"""Diagnosis of rows and labels that nothing relates."""

import numpy as np

from proxembed import OPLS
from proxembed.evaluate.diagnose import diagnose
from unit.evaluate.test_diagnose import noise


def test_p_is_uniform_enough_where_there_is_nothing():
    passed = [diagnose(OPLS(), *noise(seed, n=60), n_shuffles=9, n_resamples=1).p for seed in range(20)]
    assert np.mean(np.array(passed) <= 0.1) <= 0.35 and np.mean(np.array(passed) > 0.5) >= 0.2
