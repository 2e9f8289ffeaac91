"""Configurations of an entrant: the whole grid, or its defaults and a draw."""

from itertools import chain

import papers.mesd_mope.entrants as mesd_mope
from papers.defc.rivals import RIVALS, Scale
from papers.entrants import OLPP_OBJECTIVE, Entrant, changed_parameters
from proxembed import MESD, MMC, OLPP, PCA, LabelScores

GRID = {"method__lam": (0.1, 1.0, 10.0), "weighting": ("none", "mimj")}


def facts(configurations):
    return [(each.method.lam, each.weighting) for each in configurations]


def test_the_whole_grid_leaves_the_estimator_as_it_is():
    start = MESD(MMC(lam=5.0))
    found = facts(Entrant("made", start, GRID).configurations())
    assert sorted(found) == [(lam, how) for lam in (0.1, 1.0, 10.0) for how in ("mimj", "none")]
    assert start.method.lam == 5.0


def test_under_a_limit_the_estimator_as_it_is_comes_first_and_none_comes_twice():
    entrant = Entrant("made", MESD(MMC()), GRID)
    found = facts(entrant.configurations(4, seed=3))
    assert found[0] == (1.0, "none") and len(found) == len(set(found)) == 4
    assert found == facts(entrant.configurations(4, seed=3))
    assert len(facts(entrant.configurations(100))) == 6  # the defaults are one of the grid


def test_without_a_grid_there_is_one_configuration():
    assert len(Entrant("PCA", PCA()).configurations()) == len(Entrant("PCA", PCA()).configurations(5)) == 1
    assert Entrant("none", None).configurations(5) == [None]


def test_what_is_told_of_a_configuration():
    assert changed_parameters(MESD(MMC(lam=0.5))) == {"method": "MESD(MMC)", "method__lam": 0.5}
    assert changed_parameters(None) == {"method": "none"}
    assert changed_parameters(LabelScores(penalty=2.0)) == {"method": "LabelScores", "penalty": 2.0}
    assert len(Entrant("label scores", LabelScores(), {"penalty": (1.0, 2.0)}).configurations()) == 2


def test_several_grids_are_joined():
    entrant = Entrant("made", MESD(MMC()), ({"weighting": ("none", "mimj")}, {"method__lam": (0.1, 10.0)}))
    assert sorted(facts(entrant.configurations(9))) == [(0.1, "none"), (1.0, "mimj"), (1.0, "none"), (10.0, "none")]
    assert entrant.describe()["grid"] == [{"weighting": ["'none'", "'mimj'"]}, {"method__lam": ["0.1", "10.0"]}]
    assert Entrant("made", MESD(MMC()), {"method__lam": (0.1,)}).describe()["grid"] == {"method__lam": ["0.1"]}


def test_the_objective_of_olpp_is_stated_and_is_that_of_every_configuration():
    """Where the plan names it, a folder that was made with another one is refused."""
    found = 0
    for entrant in chain(mesd_mope.supervised_entrants(), mesd_mope.partly_labelled_entrants()):
        for model in entrant.configurations(6):
            graph = model if isinstance(model, OLPP) else getattr(model, "unsupervised", None)
            if isinstance(graph, OLPP):
                named = "objective" if graph is model else "unsupervised__objective"
                assert graph.objective == OLPP_OBJECTIVE and entrant.describe()["grid"][named] == [repr(OLPP_OBJECTIVE)]
                found += 1
    assert found > 10
    assert RIVALS["OLPP"].model({"n_neighbors": 3, "tau": 1.0}, Scale(9, 3, 1.0)).objective == OLPP_OBJECTIVE
