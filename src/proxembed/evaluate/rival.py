"""Rival: what the transformers share that a leaderboard sets beside the methods."""

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from proxembed.validation import checked_features


class Rival(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of a transformer of dense or sparse rows that learns from labels of any form.

    A subclass sets ``n_components_`` in fit.
    """

    def _new_rows(self, X):
        check_is_fitted(self, "n_components_")
        return checked_features(self, X, reset=False)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags
