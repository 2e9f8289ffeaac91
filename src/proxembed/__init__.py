"""proxembed: supervised, semi-supervised and multi-label dimensionality reduction.

Public names load on first use, so that ``import proxembed`` is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_NAMES = {
    "PCA": "methods.variance",
    "LSI": "methods.variance",
    "MVMD": "methods.variance",
    "LPP": "methods.preserving",
    "OLPP": "methods.preserving",
    "NPP": "methods.preserving",
    "ONPP": "methods.preserving",
    "ClassicalMDS": "methods.manifold",
    "Isomap": "methods.isomap",
    "LLE": "methods.spectral_maps",
    "LaplacianEigenmaps": "methods.spectral_maps",
    "FDA": "methods.fisher",
    "MMC": "methods.fisher",
    "LFDA": "methods.local",
    "MFA": "methods.local",
    "DLA": "methods.local",
    "DNE": "methods.local",
    "OLPPR": "methods.class_preserving",
    "SONPP": "methods.class_preserving",
    "DONPP": "methods.class_preserving",
    "ONPPR": "methods.class_preserving",
    "CopyLDA": "methods.fisher",
    "MLDA": "methods.fisher",
    "DMLDA": "methods.fisher",
    "CCA": "methods.dependence",
    "PLS": "methods.dependence",
    "OPLS": "methods.dependence",
    "MDDM": "methods.dependence",
    "SFEHS": "methods.dependence",
    "HSL": "methods.hypergraph",
    "SLVM": "methods.latent",
    "MORP": "methods.latent",
    "MLSI": "methods.latent",
    "MLLS": "methods.latent",
    "MESD": "methods.multilabel",
    "SSDR": "methods.semisupervised",
    "SELF": "methods.named_combinations",
    "SSFDA": "methods.named_combinations",
    "SSMMC": "methods.named_combinations",
    "SSMOPE": "methods.named_combinations",
    "MOPE": "methods.mope",
    "DirectMOPE": "methods.mope",
    "Kernelized": "methods.relation",
    "ForestLeaves": "methods.forest",
    "Views": "methods.views",
    "Layout": "methods.layout",
    "ReadoutAxes": "methods.around",
    "Scaled": "methods.around",
    "RelationFeatures": "methods.relation",
    "Scaling": "methods.relation",
    "TableEncoder": "methods.table_encoder",
    "SMSE": "transductive",
    "MLGRF": "transductive",
    "MLLGC": "transductive",
    "MLGFHF": "transductive",
    "SSDRMC": "transductive",
    "FLDAClassifier": "classify",
    "LabelKNN": "classify",
    "MLKNN": "classify",
    "MultiOutputRidge": "classify",
    "RankSVM": "classify",
    "Thresholded": "classify",
    "BSML": "bayes.bsml",
    "BSSML": "bayes.bssml",
    "VariationalProbit": "bayes.probit",
    "EmbeddingModel": "adaptive",
    "LabelScores": "evaluate",
    "DEFC": "defc",
    "EmbeddingSearch": "study",
}
_ALIASES = {"MultiLabel": "MESD", "SemiSupervised": "SSDR"}
_FUNCTIONS = {
    "RowBlocks": "sources",
    "search": "workflow.main_job",
    "compare": "workflow.comparison",
    "unlabelled": "targets.labels",
    "save": "persist",
    "to_optuna": "study.optuna_study",
    "load": "persist",
    "model_card": "persist",
    "diagnose": "evaluate.diagnose",
    "ssdr_mfa": "methods.named_combinations",
    "ssdr_lfda": "methods.named_combinations",
    "ssdr_dne": "methods.named_combinations",
    "ssdr_donpp": "methods.named_combinations",
    "patch_alignment": "algebra.template",
    "vat": "proximity.reordering",
    "ivat": "proximity.reordering",
    "covat": "proximity.reordering",
}

__all__ = sorted([*_NAMES, *_ALIASES, *_FUNCTIONS])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("proxembed")
    target = _ALIASES.get(name, name)
    room = _NAMES.get(target) or _FUNCTIONS.get(target)
    if room is None:
        raise AttributeError(f"module 'proxembed' has no attribute {name!r}")
    return getattr(import_module(f".{room}", __name__), target)


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__file__", "__name__", "__path__", "__version__"])
