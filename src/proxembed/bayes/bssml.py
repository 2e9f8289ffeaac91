"""BSSML: the coupled model with unlabelled rows and cells, whose scores are kept out of a band between the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from proxembed.targets.labels import LabelMatrix

from ..params import param
from ..rows import Rows
from .ascent import Ascent
from .bsml import BSML, LARGEST
from .coupled import Coupled
from .prediction import probit_log_odds
from .targets import Targets


class BSSML(BSML):
    """Bayesian semi-supervised multi-label learning: BSML in which scores of unlabelled cells avoid -gap < t < gap.
    [gonen2014bsml]

    Unlabelled cells push the decision boundary of their label to regions with few rows. All rows are used, also those
    without any label. The default follows the published implementation (known labels require t beyond 0);
    ``margin=0.5`` follows the printed equations.

    Attributes
    ----------
    transduction_ : labels of all rows of fit in the form of y: the known ones, and those predicted for the unknown.
    transductive_scores_ : (n, c) array, the means of the scores t of all rows of fit before they are cut; 0 for labels
        that no row has.
    components_, weights_, bias_, precision_projection_, precision_weights_, precision_bias_, lower_bound_, n_active_,
    n_iter_, converged_, classes_ : as in BSML.

    Raises
    ------
    ValueError
        For more than 5,000 rows and features (10,000 with ard), arrays of another shape in init, bad X or y.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import BSSML
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> X, Y = (data.X - data.X.mean(axis=0)) / 4, data.Y.toarray().astype(float)
    >>> Y[900:] = np.nan
    >>> fit = BSSML(tol=1e-4).fit(X, Y)
    >>> bool(np.mean(fit.transduction_[900:] != data.Y[900:].toarray()) < 0.15)
    True
    """

    gap: float = param(
        default=0.5, above=0, high=LARGEST, doc="Half the width of the band that scores of unlabelled cells avoid."
    )
    class_prior: float | str | Sequence[Any] = param(
        default=0.5,
        above=0,
        below=1,
        choices=("empirical",),
        kind=(list, tuple, np.ndarray),
        doc="Probability that an unlabelled cell is positive: a number, one per label, or 'empirical': a label's "
        "(positive + 1) / (known + 2) known cells (rare labels may then never be predicted).",
    )

    def _usable(self, rows: Rows) -> Rows:
        return rows

    def _targets(self, labels: LabelMatrix) -> Targets:
        return Targets.of(labels, float(self.margin), float(self.gap), self._log_prior(labels))

    def _log_prior(self, labels: LabelMatrix) -> np.ndarray:
        """log c- and log c+ of every label, (2, L)."""
        if isinstance(self.class_prior, str):
            positive = (labels.nk + 1.0) / (labels.known_counts + 2.0)
        else:
            positive = _numbers(self.class_prior)
            if labels.kept is not None and positive.shape == labels.classes_.shape:
                positive = positive[labels.kept]
        if positive.shape not in ((), (labels.c,)) or not np.all((positive > 0) & (positive < 1)):
            raise ValueError(
                f"{type(self).__name__}: class_prior={self.class_prior!r} is not allowed; it must be one number in "
                f"(0, 1), one for each of the {len(labels.classes_)} labels, or 'empirical'."
            )
        positive = np.broadcast_to(positive, labels.c)
        return np.log([1.0 - positive, positive])

    def _store(self, found: Ascent, model: Coupled, rows: Rows) -> None:
        super()._store(found, model, rows)
        labels = rows.labels
        scores = found.state.Z @ self.weights_ + self.bias_
        odds = probit_log_odds(scores, np.ones_like(scores), self._gap(), self._prior)
        chosen = odds > 0
        if labels.form == "classes":
            chosen = np.arange(labels.c) == odds.argmax(axis=1)[:, None]
        known = labels.Y.toarray()
        hidden = np.zeros(known.shape, dtype=bool) if labels.unknown is None else labels.unknown.toarray()
        self.transduction_ = labels.decode(labels.expand(np.where(hidden, chosen, known)))
        self.transductive_scores_ = labels.expand(scores)

    def _gap(self) -> float:
        return float(self.gap)


def _numbers(values: Any) -> np.ndarray:
    """An array of floats; one of no entries, which no labels have, for what is none."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
