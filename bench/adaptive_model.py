"""Stages 4 and 5 of the adaptive model as they are (rank matrices and products kept for all numbers of neighbours, one
Cholesky factor a lambda) against the ways of the other methods: friends and enemies from `proximity`, and a `Template`
that `solve` takes. Seconds of one candidate, mean over a generation of 25 settings of a model, with the stage cache;
the same eigenvalues in all three ways. Two classes, enemies of the other class.

A way that costs at most 10 % more is taken: see docs/decisions/0010.
"""

import time
from statistics import median

from measure import arguments, fix_threads, show, within

ROWS = {False: (150, 500), True: (60,)}
FEATURES, SETTINGS = 20, {False: 25, True: 3}
MOST = 1.1
EQUAL = 1e-6


def ways() -> dict:
    """The candidate of each way."""
    from scipy import sparse

    from proxembed.algebra.operators.structured import Laplacian, Sparse
    from proxembed.algebra.pencil.eigen import solve
    from proxembed.algebra.template import Template
    from proxembed.methods.adaptive import pairs
    from proxembed.methods.adaptive.candidate import NEVER_SINGULAR, Candidate
    from proxembed.proximity.labelled import enemies, friends

    class ByProximity(Candidate):
        def linked(self, graph):
            found = graph.astype(bool).astype(float)
            return found.toarray() if self.weights is None else found.multiply(self.weights).toarray()

        @property
        def friends(self):
            K = int(self.values["n_friends"])
            return self.setting.cached(
                self.keys[1], lambda: self.scatter(self.linked(friends(self.points[1].X, self.setting.labels, K)))
            )

        @property
        def enemies(self):
            K = int(self.values["n_enemies"])
            return self.setting.cached(
                self.keys[0], lambda: (self.scatter(self.linked(enemies(self.points[1].X, self.setting.labels, K))), K)
            )

    class ByTemplate(Candidate):
        def solved(self, k):
            B = pairs.friend_matrix(self.ranks, self.values["n_friends"], self.weights, self.setting.pairs)
            A, _ = pairs.enemy_matrix(self.ranks, self.values["n_enemies"], self.weights)
            L_A, L_B = (Laplacian(Sparse(sparse.csr_array(W))) for W in (A, B))
            width = self.space.dimensions if self.space.dimensions > self.space.T.shape[1] else None
            lam = self.values["lam"] + NEVER_SINGULAR
            found = solve(Template(L_A, L_B, b=0.0), self.space.T, k, ridge=lam, width=width)
            return found.eigenvalues, found.P

    return {"as it is": Candidate, "friends and enemies from proximity": ByProximity, "a Template by solve": ByTemplate}


def generation(n: int, quick: bool) -> tuple:
    """A part of the data, and the settings of one generation of the models of pairs in the reduced search."""
    import numpy as np

    from proxembed.methods.adaptive import Limits, StageRows, Switches, sample
    from proxembed.targets.labels import LabelMatrix

    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, FEATURES)) + 0.7 * np.outer(y, rng.normal(size=FEATURES))
    labels = LabelMatrix.of(y)
    limits, models = Limits.of(labels), [Switches(3, r, 0, 5, 1, 2, 2, 0) for r in (0, 5)]
    settings = [
        (switches, {**sample(switches, limits, rng), "lam": float(10.0 ** rng.uniform(-2, 1))})
        for switches in models
        for _ in range(SETTINGS[quick])
    ]
    for _, params in settings:  # at least one enemy in reach, and no list that is longer than its class
        params["n_enemies"] = min(params["n_enemies"], int(labels.nk.min()) - 1)
        params["n_friends"] = min(params["n_friends"], int(labels.nk.min()) - 1)
    return StageRows(X, labels), settings


def seconds_of(way, part, settings) -> tuple[float, list]:
    """Mean seconds of a candidate by one way, the cache empty at first, and the largest eigenvalues."""
    from proxembed.methods.adaptive import Stages
    from proxembed.study.defc.objective import StageCache

    stages = Stages(part, StageCache(), enemy_pool="other")
    found, start = [], time.perf_counter()
    for switches, params in settings:
        found.append(way(stages._setting, switches, dict(params), []).embed().eigenvalues[0])
    return (time.perf_counter() - start) / len(settings), found


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    options = parser.parse_args()
    fix_threads(1)
    import numpy as np

    repeats, lines = 1 if options.quick else options.repeats, []
    for n in ROWS[options.quick]:
        part, settings = generation(n, options.quick)
        rounds = [{name: seconds_of(way, part, settings) for name, way in ways().items()} for _ in range(repeats)]
        usual = rounds[0]["as it is"]
        before = median(each["as it is"][0] for each in rounds)
        for name, (_, values) in rounds[0].items():
            seconds = median(each[name][0] for each in rounds)
            apart = float(np.max(np.abs(np.array(values) / np.array(usual[1]) - 1)))
            same = "same eigenvalues" if apart < EQUAL else f"eigenvalues differ by {apart:.1e}"
            lines.append([n, name, 1e3 * seconds, seconds / before, within(seconds / before, MOST), same])
    show("One candidate of a generation", ["rows", "way", "ms", "ratio", "limit", "found"], lines)


if __name__ == "__main__":
    main()
