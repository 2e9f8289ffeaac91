"""Which objective of OLPP gives the figures of the papers that state it: min P'X'LXP, or max P'X'HWHXP, P'P = I?

Three parts, each of which runs both objectives on the same rows, tuned alike on a validation part; the test part is
scored once. "rows": OLPP alone in the protocol of the DEFC experiment, three draws, beside the published scores and
numbers of components. "reuters": the second experiment of the MESD and MOPE paper on a quarter of its documents.
"pairs": SSDR's default pair, SSMOPE and the published pairs, one in ten of at most 2,000 training rows labelled.

    PYTHONPATH=src:. python bench/olpp_objective.py [PART ...]     # minutes, one process

Data from $PROXEMBED_DATA, or the folder shared/data beside the checkout.
"""

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from measure import show
from papers.defc.flda_trials import chosen_readout, compete
from papers.defc.parts import SOURCES, random_parts
from papers.defc.rivals import PUBLISHED, Rival
from papers.defc.trials import RivalTrials, Task, final_score, tune
from papers.entrants import Entrant
from papers.mesd_mope.reuters_ten import reuters_ten
from proxembed import FDA, MESD, MOPE, OLPP, SSDR, SSMOPE, MultiOutputRidge, ssdr_dne, ssdr_lfda, ssdr_mfa
from proxembed.data import read
from proxembed.features.scaling import scaling_apply, scaling_fit
from proxembed.measures.metrics import macro_average_precision
from proxembed.splits.splits import standard_split

DATA = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).parents[2] / "shared" / "data"))
OBJECTIVES = ("laplacian", "proximity")
CLASSIFIERS = {"1nn": "1-NN", "flda": "FLDA"}
DRAWS, SETTINGS = 3, 40
DOCUMENTS, SHARES, SIZES = 2258, (0.4, 0.8), (5, 10, 50, 100, 200)
PAPERS_K = {"satimage": (33, 3), "dna": (14, 70), "banana": (2, 2), "Swiss roll": (2, 2)}
TABULAR = [source for source in SOURCES if source.name in PAPERS_K]  # the paper has no OLPP of the documents
PAPERS_ROLL = (79.46, 71.00)  # of its own roll, whose formula is not given
PAIR_ROWS, LABELLED, MIXES = 2000, 0.1, (0.1, 0.3, 0.5, 0.7, 0.9)


def rows_alone() -> None:
    """OLPP tuned as in the DEFC experiment, on every draw; mean scores of the test parts."""
    _alone("any number of components", TABULAR, lambda source, paper: source.largest)
    _alone("no more components than the paper's", TABULAR[:2], lambda source, paper: paper)


def _alone(title: str, sources, largest) -> None:
    lines = []
    for source in sources:
        dataset = source.read(DATA)
        drawn = [random_parts(source, dataset, seed) for seed in range(DRAWS)]
        for place, (classifier, name) in enumerate(CLASSIFIERS.items()):
            line: list[Any] = [f"{source.name}, {name}"]
            paper = PAPERS_K[source.name][place]
            for objective in OBJECTIVES:
                found = [
                    one_draw(Task("OLPP", draw, classifier, parts, largest(source, paper), SETTINGS, draw), objective)
                    for draw, parts in enumerate(drawn)
                ]
                line += [float(np.mean([score for score, _ in found])), ", ".join(str(k) for _, k in found)]
            lines.append([*line, PUBLISHED["OLPP"].get(source.name, PAPERS_ROLL)[place] / 100, paper])
    head = ["set, classifier", "laplacian", "k", "proximity", "k", "paper", "k"]
    show(f"Share of right predictions, OLPP alone, {title}, mean of {DRAWS} draws", head, lines)


def one_draw(task: Task, objective: str) -> tuple[float, int]:
    """The test score at what is best on the validation part, and its number of components."""
    trials = RivalTrials(task)
    trials.rival = Rival(lambda: OLPP(objective=objective), trials.rival.ranges)
    tune(trials.domains, trials.score, task.evaluations, task.seed)
    assert trials.k is not None, trials.failures
    return final_score(trials.model, trials.k, task), trials.k


def reuters() -> None:
    """OLPP, MOPE and SSMOPE with 40 and 80 % of the labels, by their grids in that experiment."""
    mope = {"scheme": "classes", "similarity": "dice", "weights": "gaussian"}
    mixed = {"mix": (0.1, 0.5, 0.9), "balance": ("none", "trace"), "supervised__beta": (0.5, 2.0)}
    entrants = [Entrant("MOPE", MOPE(**mope), {"a": (0.5, 1.0), "beta": (0.5, 2.0, 8.0)})]
    for objective in OBJECTIVES:
        graph = OLPP(objective=objective)
        entrants.append(Entrant(f"OLPP, {objective}", graph, {"n_neighbors": (5, 15)}))
        entrants.append(Entrant(f"SSMOPE, {objective}", SSMOPE(MOPE(**mope), graph), mixed))
    lines: list[list[Any]] = [[entrant.name] for entrant in entrants]
    for share in SHARES:
        stages = [reuters_ten(DATA, seed, DOCUMENTS).with_labels(share, seed) for seed in range(DRAWS)]
        readouts = [chosen_readout(stage) for stage in stages]
        for line, entrant in zip(lines, entrants, strict=True):
            drawn = zip(stages, readouts, range(DRAWS), strict=True)
            found = [compete(entrant, stage, SIZES, readout, None, seed) for stage, readout, seed in drawn]
            line += [float(np.mean([each["test"] for each in found])), ", ".join(str(each["k"]) for each in found)]
    head = ["entrant", *(word for share in SHARES for word in (f"{share:.0%} labelled", "k"))]
    show(f"Macro F1, {DOCUMENTS:,} documents of ten Reuters categories, mean of {DRAWS} draws", head, lines)


def pairs() -> None:
    """SSDR's default pair and SSMOPE on several labels a row, the published pairs on one class a row."""
    several = {"SSDR(MESD(FDA), OLPP)": SSDR(MESD(FDA())), "SSMOPE": SSMOPE()}
    one = {make.__name__: make() for make in (ssdr_mfa, ssdr_lfda, ssdr_dne)}
    lines = []
    for names, methods, scored in (
        (("emotions", "scene", "yeast"), several, average_precision),
        (("satimage", "dna"), one, right),
    ):
        for title, method in methods.items():
            for name in names:
                parts = partly(name)
                found = [best_mix(method, objective, parts, scored) for objective in OBJECTIVES]
                lines.append([title, name, scored.__doc__, *(cell for pair in found for cell in pair)])
    head = ["pair", "set", "score", "laplacian", "mix", "proximity", "mix"]
    show(f"Test rows, {LABELLED:.0%} of at most {PAIR_ROWS:,} training rows labelled", head, lines)


def partly(name: str) -> tuple:
    """Standardised training rows with labels, NaN in those that are not labelled; validation rows; test rows."""
    data = read(DATA / f"{name}.npz")
    split, Y = standard_split(data), data.Y.toarray().astype(float)
    order = np.random.default_rng(0).permutation(split.train)
    train, validation = order[: min(PAIR_ROWS, 3 * len(order) // 4)], order[-len(order) // 4 :]
    state = scaling_fit("standard", data.X[train])
    X, X_validation, X_test = (scaling_apply(state, data.X[part]) for part in (train, validation, split.held_out))
    known = np.arange(round(LABELLED * len(train)))
    y = np.full((len(train), Y.shape[1]), np.nan)
    y[known] = Y[train][known]
    return X, y, known, X_validation, Y[validation], X_test, Y[split.held_out]


def best_mix(method, objective: str, parts: tuple, scored) -> tuple[float, float]:
    """The score of the test rows at the mix, the balance and the number of components of the validation rows."""
    X, y, known, X_validation, Y_validation, X_test, Y_test = parts
    single = scored is right
    best = (-1.0, 0.0, 0.0)
    for mix in MIXES:
        for balance in ("none", "trace"):
            given = method.supervised if method.supervised is not None else method.default_supervised()
            model = type(method)(given, OLPP(objective=objective), mix=mix, balance=balance)
            if not isinstance(model, SSMOPE):
                model.set_params(constraint=method.constraint, flip=method.flip)
            labels = np.where(np.isnan(y[:, 0]), np.nan, y.argmax(axis=1)) if single else y
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                model.set_params(n_components=min(10, X.shape[1])).fit(X, labels)
            Z, Z_validation, Z_test = (model.transform(rows) for rows in (X[known], X_validation, X_test))
            for k in (2, 5, 10):
                told = scored(Z[:, :k], y[known], Z_validation[:, :k], Y_validation)
                if told > best[0]:
                    best = (told, scored(Z[:, :k], y[known], Z_test[:, :k], Y_test), mix)
    return best[1:]


def average_precision(Z, Y, Z_new, Y_new) -> float:
    """macro AP"""
    model = MultiOutputRidge(penalty="auto").fit(Z, Y)
    return macro_average_precision(Y_new, model.decision_function(Z_new)).value


def right(Z, Y, Z_new, Y_new) -> float:
    """1-NN"""
    near = ((Z_new[:, None, :] - Z[None]) ** 2).sum(axis=2).argmin(axis=1)
    return float(np.mean(Y.argmax(axis=1)[near] == Y_new.argmax(axis=1)))


PARTS = {"rows": rows_alone, "reuters": reuters, "pairs": pairs}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
