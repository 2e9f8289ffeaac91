"""proxembed: supervised, semi-supervised and multi-label dimensionality reduction.

Public names load on first use, so that ``import proxembed`` is cheap.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    "Sums": "sums",
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

if TYPE_CHECKING:  # the names once more, for type checkers and editors
    from .adaptive import EmbeddingModel as EmbeddingModel
    from .algebra.template import patch_alignment as patch_alignment
    from .bayes.bsml import BSML as BSML
    from .bayes.bssml import BSSML as BSSML
    from .bayes.probit import VariationalProbit as VariationalProbit
    from .classify import MLKNN as MLKNN
    from .classify import FLDAClassifier as FLDAClassifier
    from .classify import LabelKNN as LabelKNN
    from .classify import MultiOutputRidge as MultiOutputRidge
    from .classify import RankSVM as RankSVM
    from .classify import Thresholded as Thresholded
    from .defc import DEFC as DEFC
    from .evaluate import LabelScores as LabelScores
    from .evaluate.diagnose import diagnose as diagnose
    from .methods.around import ReadoutAxes as ReadoutAxes
    from .methods.around import Scaled as Scaled
    from .methods.class_preserving import DONPP as DONPP
    from .methods.class_preserving import OLPPR as OLPPR
    from .methods.class_preserving import ONPPR as ONPPR
    from .methods.class_preserving import SONPP as SONPP
    from .methods.dependence import CCA as CCA
    from .methods.dependence import MDDM as MDDM
    from .methods.dependence import OPLS as OPLS
    from .methods.dependence import PLS as PLS
    from .methods.dependence import SFEHS as SFEHS
    from .methods.fisher import DMLDA as DMLDA
    from .methods.fisher import FDA as FDA
    from .methods.fisher import MLDA as MLDA
    from .methods.fisher import MMC as MMC
    from .methods.fisher import CopyLDA as CopyLDA
    from .methods.forest import ForestLeaves as ForestLeaves
    from .methods.hypergraph import HSL as HSL
    from .methods.isomap import Isomap as Isomap
    from .methods.latent import MLLS as MLLS
    from .methods.latent import MLSI as MLSI
    from .methods.latent import MORP as MORP
    from .methods.latent import SLVM as SLVM
    from .methods.layout import Layout as Layout
    from .methods.local import DLA as DLA
    from .methods.local import DNE as DNE
    from .methods.local import LFDA as LFDA
    from .methods.local import MFA as MFA
    from .methods.manifold import ClassicalMDS as ClassicalMDS
    from .methods.mope import MOPE as MOPE
    from .methods.mope import DirectMOPE as DirectMOPE
    from .methods.multilabel import MESD as MESD
    from .methods.named_combinations import SELF as SELF
    from .methods.named_combinations import SSFDA as SSFDA
    from .methods.named_combinations import SSMMC as SSMMC
    from .methods.named_combinations import SSMOPE as SSMOPE
    from .methods.named_combinations import ssdr_dne as ssdr_dne
    from .methods.named_combinations import ssdr_donpp as ssdr_donpp
    from .methods.named_combinations import ssdr_lfda as ssdr_lfda
    from .methods.named_combinations import ssdr_mfa as ssdr_mfa
    from .methods.preserving import LPP as LPP
    from .methods.preserving import NPP as NPP
    from .methods.preserving import OLPP as OLPP
    from .methods.preserving import ONPP as ONPP
    from .methods.relation import Kernelized as Kernelized
    from .methods.relation import RelationFeatures as RelationFeatures
    from .methods.relation import Scaling as Scaling
    from .methods.semisupervised import SSDR as SSDR
    from .methods.spectral_maps import LLE as LLE
    from .methods.spectral_maps import LaplacianEigenmaps as LaplacianEigenmaps
    from .methods.table_encoder import TableEncoder as TableEncoder
    from .methods.variance import LSI as LSI
    from .methods.variance import MVMD as MVMD
    from .methods.variance import PCA as PCA
    from .methods.views import Views as Views
    from .persist import load as load
    from .persist import model_card as model_card
    from .persist import save as save
    from .proximity.reordering import covat as covat
    from .proximity.reordering import ivat as ivat
    from .proximity.reordering import vat as vat
    from .sources import RowBlocks as RowBlocks
    from .study import EmbeddingSearch as EmbeddingSearch
    from .study.optuna_study import to_optuna as to_optuna
    from .sums import Sums as Sums
    from .targets.labels import unlabelled as unlabelled
    from .transductive import MLGFHF as MLGFHF
    from .transductive import MLGRF as MLGRF
    from .transductive import MLLGC as MLLGC
    from .transductive import SMSE as SMSE
    from .transductive import SSDRMC as SSDRMC
    from .workflow.comparison import compare as compare
    from .workflow.main_job import search as search

    MultiLabel = MESD
    SemiSupervised = SSDR
    __version__: str
else:

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            return version("proxembed")
        target = _ALIASES.get(name, name)
        room = _NAMES.get(target) or _FUNCTIONS.get(target)
        if room is None:
            raise AttributeError(f"module 'proxembed' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        return getattr(import_module(f".{room}", __name__), target)


__all__ = sorted([*_NAMES, *_ALIASES, *_FUNCTIONS])


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__file__", "__name__", "__path__", "__version__"])
