"""Bayesian multi-label methods: embedding and probit classifiers learned together by variational inference."""

from .bsml import BSML, BSSML
from .probit import VariationalProbit

__all__ = ["BSML", "BSSML", "VariationalProbit"]
