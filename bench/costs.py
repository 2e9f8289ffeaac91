"""What do the steps of a search cost?  Measures the table of `proxembed.evaluate.costs` anew (minutes, one core).

    python bench/costs.py [--write] [STEP ...]     # without --write the table stays; without names every step

Printed: seconds, and forecast / measured of shapes left out of the fit.

Non-negative least squares on the relative error, a few shapes each; CPU seconds of one core, of which the table keeps
those of the machine on which the probe of `machine_speed` takes ``costs.PROBE``.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from scipy.optimize import nnls  # noqa: E402
from sklearn.base import clone  # noqa: E402

from proxembed.classify.ridge import fit_readout  # noqa: E402
from proxembed.estimator.base import Embedder  # noqa: E402
from proxembed.evaluate import costs  # noqa: E402
from proxembed.evaluate.arms import Arm, entrants  # noqa: E402
from proxembed.evaluate.part import Part  # noqa: E402
from proxembed.evaluate.results import RIDGE  # noqa: E402
from proxembed.evaluate.scoring import Measures, Readings, embed  # noqa: E402
from proxembed.features.scaling import scaling_apply  # noqa: E402
from proxembed.features.table import features_fit  # noqa: E402
from proxembed.measures.measures import MEASURES, NUMBERS  # noqa: E402
from proxembed.measures.metrics import average_precision  # noqa: E402
from proxembed.measures.neighbors import neighbor_weights  # noqa: E402
from proxembed.measures.statistics import drawn_weights, precision_gain  # noqa: E402
from proxembed.methods.dependence import OPLS  # noqa: E402
from proxembed.methods.forest import ForestLeaves  # noqa: E402
from proxembed.methods.layout import Layout  # noqa: E402
from proxembed.methods.pipeline import embedding_pipeline, fit_model  # noqa: E402
from proxembed.methods.target_space import TargetSpace  # noqa: E402
from proxembed.methods.views import Views  # noqa: E402
from proxembed.study.candidates import candidates, component_sizes, suited  # noqa: E402
from proxembed.targets.labels import LabelMatrix  # noqa: E402

MOST = 12.0  # seconds: larger shapes of a step are left out once one took this long
SHAPES = (
    (250, 30, 5, 1.0),
    (500, 300, 12, 1.0),
    (1000, 60, 40, 1.0),
    (1000, 1000, 50, 0.05),
    (2000, 300, 6, 1.0),
    (2500, 100, 150, 1.0),
    (4000, 500, 20, 0.05),
    (3000, 8000, 60, 0.005),
    (4500, 300, 60, 1.0),
    (9000, 150, 20, 1.0),
    (20_000, 500, 20, 0.05),
)
FEW = 400  # prototypes of the kernels that are measured a second time
MANY = ((1500, 20, 1500), (3000, 250, 2000), (1500, 60, 9000), (6000, 60, 9000), (4000, 200, 5000))  # n, d, labels
MANY_TERMS = "1", "nw", "nwq", "nwc", "nc"
MANY_LEFT_OUT = ((2500, 100, 4000), (6000, 20, 7000))
LEFT_OUT = ((700, 150, 20, 1.0), (1500, 4000, 30, 0.01), (3500, 200, 30, 1.0))


def drawn(n: int, d: int, c: int, density: float) -> Part:
    """Rows and labels of these sizes, and a fifth as many held-out rows."""
    random = np.random.default_rng(n + d + c)
    m = max(n // 5, 50)
    X = random.normal(size=(n + m, d))
    Y = X[:, : min(d, 20)] @ random.normal(size=(min(d, 20), c)) + random.normal(size=(n + m, c))
    Y = (np.quantile(Y, 0.9, axis=0) <= Y).astype(np.uint8)
    if density < 1:
        X = sp.csr_array(np.where(random.random(X.shape) < density, np.abs(X), 0.0))
    return Part(X[:n], LabelMatrix.of(Y[:n]), X[n:], Y[n:] > 0, rows=np.arange(m))


def drawn_many(n: int, d: int, c: int) -> Part:
    """The same of thousands of labels: of few rows most, 16 a row."""
    random = np.random.default_rng(n + d + c)
    m = max(n // 4, 50)
    share = 1.0 / (np.arange(c) + 10.0) ** 0.9
    count = np.maximum((16 * (n + m) * share / share.sum()).astype(int), 1)
    cells = random.integers(0, n + m, count.sum()), np.repeat(np.arange(c), count)
    Y = sp.csr_array(sp.coo_array((np.ones(len(cells[0])), cells), shape=(n + m, c))) > 0
    X, Y = random.normal(size=(n + m, d)), Y.astype(np.uint8)
    return Part(X[:n], LabelMatrix.of(Y[:n]), X[n:], Y[n:].toarray() > 0, rows=np.arange(m))


def seconds(task) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.process_time()
        task()
        return time.process_time() - started


def steps() -> dict:
    """Each step: the terms that it may have, and what makes the task of a part."""

    def fitted(estimator):
        def make(part, p=None):
            ready = suited(clone(estimator), part.X.shape[0], 0) if isinstance(estimator, Embedder) else estimator
            ready = ready if p is None else clone(ready).set_params(n_prototypes=p, random_state=0)
            return lambda: embed(Arm("", ready), part, component_sizes(part.Y.shape[1]))

        return make

    def embedding(part, k=20):
        random = np.random.default_rng(0)
        return random.normal(size=(part.X.shape[0], k)), random.normal(size=(len(part.rows), k))

    def decisions(part):
        Z, Z_held_out = embedding(part)  # that tells of the labels, as maps to probabilities take longer then
        R = np.random.default_rng(1).normal(size=(part.Y.shape[1], Z.shape[1]))
        readings = Readings(Z + part.Y @ R, Z_held_out + part.Y_held_out @ R, part)
        _ = readings.scores
        pairs = tuple((measure, RIDGE) for measure in MEASURES.values() if measure.further and measure.takes != NUMBERS)
        measures = Measures(pairs, (20,))
        return lambda: readings.measured(measures, pairs)

    def redrawn(part):
        n = len(part.rows)
        S = np.random.default_rng(0).normal(size=(n, part.Y.shape[1]))
        return lambda: precision_gain(part.Y_held_out, S, S + 1, drawn_weights(n))

    def many_precision(part):
        readings = Readings(part.X, part.X_held_out, part)
        _ = readings.readout
        return lambda: average_precision(part.Y_held_out, readings.scores)

    def last_fit(part):
        pipe = embedding_pipeline(candidates(["opls"])[0].default().set_params(n_components=5), part.X)
        return lambda: fit_model(pipe, part.X, part.labels)

    def layout(part):
        Z, Z_held_out = embedding(part)
        Layout(OPLS(), features=0).fit(Z[:100], part.labels.take(np.arange(100)))  # imports
        return lambda: Layout(OPLS(), features=0).fit(Z, part.labels).transform(Z_held_out)

    def quantile(part):
        if sp.issparse(part.X):
            raise ValueError("normal scores of sparse features are never drawn")
        return lambda: scaling_apply(features_fit("quantile", part.X), part.X)

    found = {
        each.title: (costs.KERNEL if "Kernelized" in each.title else costs.GRAPH, fitted(each.default()))
        for each in candidates(None)
        if each.cls not in (ForestLeaves, TargetSpace, Views)  # what they are made of has its forecasts
    }
    found |= {  # rivals that do not forecast themselves
        each.arm.name: (costs.LINEAR, fitted(each.arm.estimator))
        for X in (np.eye(3), sp.csr_array(np.eye(3)))
        for each in entrants(X, n_rows=1000)[1:]
        if not each.work
    }
    found["forest proximity"] = ("1", "nw", "nc", "nwc"), found["forest proximity"][1]
    found["step:all features"] = costs.LINEAR, lambda part: lambda: fit_readout(part.X, part.Y.toarray() > 0)
    found["step:readout"] = ("1", "nw", "nc"), lambda part: lambda: fit_readout(embedding(part)[0], part.Y.toarray())
    found["step:neighbours"] = ("1", "nn"), lambda part: lambda: neighbor_weights(*embedding(part)[::-1], 10)
    found["step:near features"] = (
        ("1", "nn", "nnw"),
        lambda part: lambda: neighbor_weights(part.X_held_out, part.X, 10),
    )
    found["step:decisions"] = ("1", "nc"), decisions
    found["step:precision"] = (
        ("1", "nc"),
        lambda part: (
            lambda: average_precision(part.Y_held_out, np.random.default_rng(0).normal(size=part.Y_held_out.shape))
        ),
    )
    found["step:redrawn"] = ("1", "nc"), redrawn
    found["step:last fit"] = costs.LINEAR, last_fit
    found["many:readout"] = MANY_TERMS, lambda part: lambda: fit_readout(part.X, part.targets)
    found["many:precision"] = MANY_TERMS, many_precision
    found["many:decisions"] = ("1", "nc", "nwc"), decisions
    found["many:redrawn"] = ("1", "nc"), redrawn
    found["many:last fit"] = MANY_TERMS, last_fit
    found["step:layout"] = ("1", "nc", "nn"), layout
    found["step:targets"] = ("1", "nc", "nn", "nnw", "nnc"), fitted(TargetSpace(bases=["ridge", "neighbors"]))
    found["step:quantile"] = ("1", "nw"), quantile
    return found


def shape(part: Part) -> costs.Shape:
    return costs.shape_of(part.X, part.Y.shape[1])


def values(step: str, part: Part, terms, p: int | None = None) -> list[float]:
    """The terms of a step on a part: of the neighbours m n in place of n^2, of what looks at held-out rows m."""
    own = shape(part)._replace(p=p)
    if step.removeprefix("step:").removeprefix("many:") in ("precision", "redrawn"):
        own = own.rows(len(part.rows))
    if step in ("step:readout",):
        own = own._replace(d=20, w=20.0)
    if step == "step:layout":
        own = own._replace(c=1)
    found = own.terms()
    if step in ("step:neighbours", "step:near features"):
        m = len(part.rows)
        found |= {"nn": m * own.n, "nnw": m * own.n * own.w}
    return [float(found[term]) for term in terms]


def measured(step: str, terms, make, parts, **given) -> tuple[list, list]:
    rows, took = [], []
    for part in parts:
        try:
            spent = seconds(make(part, **given))
        except Exception as error:  # a method that cannot take a shape says nothing of it
            print(f"  {step} {shape(part)}: {type(error).__name__} {str(error)[:80]}", flush=True)
            continue
        rows.append(values(step, part, terms, **given))
        took.append(max(spent, 1e-4))
        if spent > MOST:
            break  # later shapes are larger still for most steps
    return rows, took


def main() -> None:
    place, asked = Path(costs.__file__).with_name("costs.json"), [name for name in sys.argv[1:] if name != "--write"]
    of_many = [name.startswith("many:") for name in asked]
    wanted = not asked or not all(of_many), not asked or any(of_many)
    usual, many = (
        [[make(*sizes) for sizes in group] for group in groups] if used else [[], []]
        for used, make, groups in zip(
            wanted, (drawn, drawn_many), ((SHAPES, LEFT_OUT), (MANY, MANY_LEFT_OUT)), strict=True
        )
    )
    seconds(lambda: embed(Arm("", candidates(["opls"])[0].default()), drawn(*SHAPES[0]), (2,)))  # imports
    table, ratios = dict(costs.table()) if asked else {}, {}
    for step, (terms, make) in steps().items():
        if asked and step not in asked:
            continue
        parts, others = many if step.startswith("many:") else usual
        rows, took = measured(step, terms, make, parts)
        if terms == costs.KERNEL:
            few = [part for part in parts if part.X.shape[0] > FEW]
            rows, took = (a + b for a, b in zip((rows, took), measured(step, terms, make, few, p=FEW), strict=True))
        if not rows:
            continue
        A, b = np.array(rows), np.array(took)
        scale = np.abs(A).max(axis=0)
        weights, _ = nnls(A / b[:, None] / scale, np.ones(len(b)))
        weights = weights / scale
        table[step] = {term: float(f"{w:.3g}") for term, w in zip(terms, weights, strict=True) if w > 0}
        checked, spent = measured(step, terms, make, others)
        ratios[step] = [float(np.dot(row, weights) / s) for row, s in zip(checked, spent, strict=True)]
        print(f"{step:28s} {np.round(b, 3)} ratio {np.round(ratios[step], 2)} {table[step]}", flush=True)
    every = np.array([ratio for each in ratios.values() for ratio in each])
    print(f"{len(every)} forecasts of shapes left out: {np.mean((every > 0.5) & (every < 2)):.0%} within a factor of 2")
    if "--write" in sys.argv:
        probes = [costs.speed_probe(time.process_time) for _ in range(costs.PROBES)]
        units = costs.PROBE / float(np.median(probes))
        written = {
            step: {term: float(f"{units * w if step in ratios else w:.3g}") for term, w in weights.items()}
            for step, weights in table.items()
        }
        place.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
