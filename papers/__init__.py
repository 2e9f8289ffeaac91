"""Experiments of the papers as protocols, one folder per paper, the published figures beside ours.

``EXPERIMENTS`` names them; their modules load when they run.
"""

from __future__ import annotations

import difflib
from importlib import import_module

from papers.experiment import Experiment, Request

__all__ = ["EXPERIMENTS", "Experiment", "Request", "experiment"]


def _later(module: str, function: str):
    """The function of a module that is imported when it is called."""

    def run(request: Request) -> dict:
        return getattr(import_module(f"papers.{module}"), function)(request)

    return run


EXPERIMENTS: dict[str, Experiment] = {
    each.name: each
    for each in (
        Experiment(
            "mesd-mope-reuters",
            "Mu et al. 2012, experiment 1: MESD and MOPE beside existing methods on ten Reuters categories",
            ("reuters",),
            _later("mesd_mope.experiment", "run_supervised"),
            300,
            has_draws=True,
        ),
        Experiment(
            "mesd-mope-reuters-partly-labelled",
            "Mu et al. 2012, experiment 2: SSMOPE, MOPE, OLPP and ML-LGC with 40 and 80 % of the labels",
            ("reuters",),
            _later("mesd_mope.experiment", "run_partly_labelled"),
            240,
            has_draws=True,
        ),
        Experiment(
            "mesd-mope-features",
            "Mu et al. 2012, figures and costs: proximity matrices, relation features beside tf-idf rows, CPU seconds",
            ("reuters",),
            _later("mesd_mope.features", "run"),
            45,
            has_draws=True,
        ),
        Experiment(
            "defc",
            "Mu et al. 2012: adaptive embeddings (DEFC) beside nine methods on five data sets",
            ("satimage", "dna", "banana", "reuters"),
            _later("defc.experiment", "run"),
            360,
            has_draws=True,
        ),
        Experiment(
            "bayesian-multilabel",
            "Gönen 2014: BSML, BSML+ARD and BSSML beside reductions with a probit per label, on four sets",
            ("emotions", "scene", "yeast", "tmc2007-500"),
            _later("bsml.experiment", "run"),
            180,
            has_sets=True,
        ),
        Experiment(
            "ssdr-mc",
            "Qian and Davidson 2010: SSDR-MC beside a harmonic function, RankSVM and linear embeddings",
            ("emotions", "scene", "yeast", "tmc2007-500"),
            _later("ssdr_mc.experiment", "run"),
            90,
            has_draws=True,
        ),
        Experiment(
            "mvmd",
            "Xu et al. 2016: MVMD beside seven linear methods on nine sets, six measures of instances",
            ("emotions", "birds", "scene", "yeast", "enron", "corel5k", "tmc2007-500", "reuters", "wq"),
            _later("mvmd.experiment", "run"),
            60,
            has_sets=True,
        ),
    )
}


def experiment(name: str) -> Experiment:
    """The experiment of a name.

    Parameters
    ----------
    name : str

    Returns
    -------
    Experiment

    Raises
    ------
    ValueError
        There is none; the message lists near names.

    Examples
    --------
    >>> from papers import experiment
    >>> experiment("mvmd").minutes
    60
    """
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    near = difflib.get_close_matches(name, EXPERIMENTS, n=2, cutoff=0.4) or EXPERIMENTS
    raise ValueError(f"no experiment is named {name!r}; did you mean {' or '.join(near)}?")
