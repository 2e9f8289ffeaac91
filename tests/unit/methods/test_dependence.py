"""CCA as scikit-learn calls its own: ``transform`` takes a y that it ignores, and stays one product of the rows."""

import numpy as np
import pytest

import proxembed
from proxembed import CCA, PLS, fit_on
from proxembed.data import Dataset

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 5))
Y = (X[:, :3] + rng.standard_normal((60, 3)) > 0).astype(int)


@pytest.mark.default_configuration
def test_y_in_transform_changes_nothing():
    model = CCA().fit(X, Y)
    np.testing.assert_array_equal(model.transform(X, Y), model.transform(X))
    np.testing.assert_array_equal(CCA().fit_transform(X, Y), model.transform(X))
    frame = CCA().set_output(transform="pandas").fit(X, Y).transform(X, Y)
    assert list(frame) == ["cca0", "cca1", "cca2"]
    with pytest.raises(TypeError):
        PLS().fit(X, Y).transform(X, Y)


def test_its_rows_are_still_scaled_and_projected_in_one_product():
    model, mean, std = CCA().fit(X, Y), X.mean(axis=0), X.std(axis=0)
    found = model.transform_blockwise(3 * X + 1, 3 * mean + 1, 3 * std)
    np.testing.assert_allclose(found, model.transform((X - mean) / std), rtol=0, atol=1e-12)

    class _Mine(CCA):
        """With a transform of its own."""

        def transform(self, X, y=None):
            return 2 * super().transform(X)

    assert _Mine().fit(X, Y).transform_blockwise(X, mean, std) is None


def test_a_saved_model_of_cca_transforms(tmp_path):
    model = fit_on(CCA(n_components=2), Dataset(X, Y))
    proxembed.save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(proxembed.load(tmp_path / "model.skops").transform(X), model.transform(X))
