"""Searches by pynndescent itself, which numba compiles for a quarter of a minute, and by several libraries at once."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy import sparse

import proxembed
from proxembed.proximity.backends import nearest
from unit.proximity.test_backends import MANY, SMOOTH, agree

WITH_DESCENT = """
import warnings
warnings.simplefilter("error")
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from sklearn.cluster import KMeans
from proxembed import LPP
from proxembed.proximity.backends import nearest

X = np.random.default_rng(0).standard_normal((2500, 12))
exact = nearest(X, 5)
KMeans(8, n_init=1, random_state=0).fit(X)
with ThreadPoolExecutor(3) as workers:
    found = list(workers.map(lambda name: nearest(X, 5, algorithm=name), ["faiss-ivf", "pynndescent", "pynndescent"]))
KMeans(8, n_init=1, random_state=0).fit(X)
for result in found:
    assert np.mean(result.distance <= exact.distance[:, -1:]) > 0.85 and 0.85 < result.recall <= 1.0
np.testing.assert_array_equal(found[1].index, found[2].index)
assert found[1].index.shape == (2500, 5) and np.all(found[1].index != np.arange(2500)[:, None])
fitted = LPP(n_components=2, algorithm="pynndescent").fit(X)
assert fitted.algorithm_ == "pynndescent" and fitted.recall_ > 0.85
print("done")
"""


def run(script):
    """What a script prints in a process of its own, where numba compiles without optimising: that takes half as
    long."""
    environment = os.environ | {"NUMBA_OPT": "0", "PYTHONPATH": str(Path(proxembed.__file__).parents[1])}
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_openmp_of_three_libraries_and_two_searches_at_once():
    """scikit-learn, faiss and numba each bring an OpenMP; numba's does not bear two searches at a time."""
    assert run(WITH_DESCENT) == "done"


def test_descent_of_sparse_rows_and_of_queries():
    X = sparse.csr_array(np.where(np.abs(MANY) > 0.5, MANY, 0.0))
    agree(nearest(X, 5, algorithm="pynndescent"), nearest(X, 5), 0.9)
    agree(nearest(X, 5, queries=X[:40], algorithm="pynndescent"), nearest(X, 5, queries=X[:40]), 0.9)
    queries = MANY[:40] + 0.1
    agree(nearest(MANY, 5, queries=queries, algorithm="pynndescent"), nearest(MANY, 5, queries=queries), 0.9)


def test_few_rows_are_searched_exactly():
    found = nearest(SMOOTH, 5, algorithm="pynndescent")
    np.testing.assert_array_equal(found.index, nearest(SMOOTH, 5).index)
    assert found.recall == 1.0 and found.algorithm == "pynndescent"
