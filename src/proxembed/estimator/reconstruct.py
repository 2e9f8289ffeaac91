"""Reconstructs: rows of features again, from the embedding of a linear projection."""

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.pencil.linear import rows_of_least_norm


def _projects_rows(estimator: Any) -> bool:
    """Whether the embedding is a product of the rows; the error says why not."""
    if not estimator.multiplies_rows:
        raise AttributeError("its embedding is not a product of the rows, from which features could be reconstructed")
    return True


class Reconstructs:
    """``inverse_transform`` of projections of X itself."""

    components_: np.ndarray
    mean_: np.ndarray

    @available_if(_projects_rows)
    def inverse_transform(self, Z: Any) -> np.ndarray:
        """Rows of features whose embedding is Z: of all such rows those nearest to ``mean_``.

        These are mean + Z (P'P)^-1 P', which for rows X is the orthogonal projection of X on the span of the
        components about the mean: the least squares reconstruction. For orthonormal components it is mean + ZP', as
        that of scikit-learn's ``PCA``. What the components leave out of X is lost.

        Parameters
        ----------
        Z : (m, k) array
            As ``transform`` returns it.

        Returns
        -------
        (m, d) array in Z's float type

        Raises
        ------
        ValueError
            For Z of other than ``n_components_`` columns, or with entries that are not finite numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from proxembed import OPLS
        >>> from proxembed.data import digits
        >>> data = digits()
        >>> model = OPLS(n_components=3).fit(data.X, data.Y)
        >>> Z = model.transform(data.X[:5])
        >>> X = model.inverse_transform(Z)
        >>> X.shape, bool(np.allclose(model.transform(X), Z))
        ((5, 64), True)
        """
        check_is_fitted(self, "components_")
        Z = check_array(Z, dtype=(np.float64, np.float32), input_name="Z")
        k = len(self.components_)
        if Z.shape[1] != k:
            raise ValueError(f"Z has {Z.shape[1]} columns; pass the {k} components, as transform returns them.")
        X = rows_of_least_norm(self.components_, Z.astype(np.float64)) + self.mean_
        return X.astype(Z.dtype, copy=False)
