"""Tests of single components against R where it is installed, and their false alarms over many draws."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from proxembed import CCA, OPLS, PLS
from slow.unit.evaluate.axes_in_r import STORED, found, made
from unit.evaluate.test_component_tests import found_in

DRAWS = 400


def r_has_the_packages():
    asked = ["Rscript", "-e", "library(vegan); library(pls)"]
    return shutil.which("Rscript") is not None and subprocess.run(asked, capture_output=True).returncode == 0


def test_r_still_finds_what_is_stored():
    if not r_has_the_packages():
        pytest.skip("needs Rscript with vegan and pls (r-cran-vegan, r-cran-pls)")
    stored, data = json.loads(STORED.read_text()), made()
    assert {name: stored[name] for name in data} == data
    for name, values in found(data).items():
        tolerance = {"atol": 0.03} if name.endswith(".p") else {"rtol": 1e-9}
        np.testing.assert_allclose(values, stored[name], **tolerance, err_msg=name)


def drawn(seed, n=40):
    """Two features of six make y, z moves X and y, levels move y, the noise of y is skewed."""
    random = np.random.default_rng(seed)
    z, level = random.normal(size=n), random.integers(3, size=n)
    X = np.sqrt(n) * np.linalg.qr(random.normal(size=(n, 6)))[0]
    noise = random.exponential(size=(n, 3)) - 1
    return X, noise, z, level


def alarms(method, moved, effect, k, **options):
    """How often p is at most .05 for each of k components, with axes of some effect."""
    count = np.zeros(k)
    for seed in range(DRAWS):
        X, noise, z, level = drawn(seed)
        Y = noise + effect * X[:, :1] @ [[1.0, 1.0, -1.0]]
        given = {"none": None, "numbers": z, "levels": level.astype(str)}[moved]
        if moved != "none":
            shift = z if moved == "numbers" else level
            X, Y = X + shift[:, None], Y + 1.5 * shift[:, None]
        p = [each["p"] for each in found_in(method, X, Y, k, covariates=given, n_permutations=39, **options)]
        count[: len(p)] += np.array(p) <= 0.05
    return count / DRAWS


@pytest.mark.parametrize("method", [OPLS(), OPLS(ridge=1.0), CCA(), PLS()], ids=["opls", "ridge", "cca", "pls"])
@pytest.mark.parametrize("moved", ["none", "numbers", "levels"])
def test_false_alarms_are_as_many_as_the_level_says(method, moved):
    """400 draws of level .05: 20 on average, at most 36 in all but one case of 2,000."""
    assert 0.02 <= alarms(method, moved, 0.0, 1)[0] <= 36 / DRAWS


@pytest.mark.parametrize("method", [OPLS(), CCA(), PLS()], ids=["opls", "cca", "pls"])
def test_the_axis_after_a_true_one_is_no_more_often_found(method):
    first, second = alarms(method, "none", 1.5, 2)
    assert first == 1 and second <= 36 / DRAWS
