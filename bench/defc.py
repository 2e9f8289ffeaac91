"""DEFC on sparse counts of 69,593 Zipf-distributed terms (500 training, 1,230 validation rows, 11 classes): seconds of
one uncached candidate with all k, of the search of eight models and of the nested genetic search, the cache on against
off, two workers against one; and on two noisy arcs, what a minute of search is worth on rows that it has not seen.

Limits: 0.6 s a candidate on one core; 300 s for 200 settings of each of the eight models and 600 s for the genetic
search of 100 models or more with at most 8,000 evaluations, on two cores; 4 times fewer seconds by the cache and 1.6
times by a second worker, with the same leaderboard; 15 % fewer errors of 1-NN and 50 % fewer of Fisher discriminants on
the arcs, mean of three draws.
"""

import time
from functools import cache
from itertools import product

from measure import arguments, at_least, chosen, fix_threads, median_seconds, show, within

PARTS = ("candidate", "reduced", "ga", "cache", "workers", "arcs")
TRAIN, VALIDATION = {False: 500, True: 60}, {False: 1230, True: 80}
TERMS = {False: 69_593, True: 2000}
LENGTH = 60.0  # terms a document: none of the searches finds a perfect score, which would end it
CANDIDATE_SECONDS, REDUCED_SECONDS, GA_SECONDS = 0.6, 300.0, 600.0
CACHE_RATIO, WORKERS_RATIO = 4.0, 1.6
EVALUATIONS = {False: {"reduced": 1600, "ga": 8000, "cache": 1600, "workers": 1600}, True: dict.fromkeys(PARTS, 40)}
DRAWN = {False: 24, True: 4}
ARCS = {False: (400, 2000, 2900), True: (60, 80, 100)}
ARCS_NOISE = (1.0, 2.0)
ARCS_SECONDS = {False: 60.0, True: 2.0}
FEWER_ERRORS = {"1nn": 0.15, "flda": 0.5}


@cache
def documents(quick: bool):
    """Training rows and classes, validation rows and classes."""
    from proxembed.data import zipf_counts

    n, m = TRAIN[quick], VALIDATION[quick]
    data = zipf_counts(n + m, seed=0, n_features=TERMS[quick], mean_length=LENGTH)
    y = data.Y.toarray().argmax(axis=1)
    return data.X[:n], y[:n], data.X[n:], y[n:]


def candidates(quick: bool) -> list:
    """The eight models of the reduced search, and models drawn from all; parameters drawn."""
    import numpy as np

    from proxembed.methods.adaptive import Limits, Switches, sample
    from proxembed.study.defc.model_strategies import REDUCED, random_genome
    from proxembed.targets.labels import LabelMatrix

    rng, limits = np.random.default_rng(0), Limits.of(LabelMatrix.of(documents(quick)[1]))
    drawn = [random_genome(rng).canonical() for _ in range(DRAWN[quick])]
    return [(Switches.of(switches), sample(switches, limits, rng)) for switches in (*REDUCED, *drawn)]


def one_candidate(quick: bool, repeats: int) -> None:
    """Seconds of each candidate without a cache, all k scored, by both classifiers; median of some runs."""
    from proxembed.study.defc.objective import Objective
    from proxembed.targets.labels import LabelMatrix

    X, y, X_val, y_val = documents(quick)
    labels, further = LabelMatrix.of(y), (X_val, LabelMatrix.of(y_val))
    lines = []
    for classifier in ("1nn", "flda"):
        objective = Objective(X, labels, further, classifier=classifier, all_k=True, cache_bytes=0)
        spent = []
        for switches, params in candidates(quick):
            seconds, found = median_seconds(lambda s=switches, p=params: objective.evaluate(s, p), repeats)  # noqa: B023
            spent.append((seconds, " ".join(map(str, switches.as_tuple())), found.failed or f"k = {found.k}"))
        spent.sort()
        for words, (seconds, switches, told) in (("median", spent[len(spent) // 2]), ("slowest", spent[-1])):
            lines.append([classifier, words, switches, seconds, within(seconds, CANDIDATE_SECONDS), told])
    columns = ["classifier", f"of {len(spent)}", "switches", "seconds", "limit", "found"]
    show("One uncached candidate with all k, one core", columns, lines)


def search(quick: bool, name: str, part: str, n_jobs: int, cache_bytes: int = 2**30):
    """Seconds of a search, and the fitted estimator."""
    from proxembed import DEFC

    X, y, X_val, y_val = documents(quick)
    model = DEFC(
        name,
        max_evals=EVALUATIONS[quick][part],
        refit="train",
        cache_bytes=cache_bytes,
        n_jobs=n_jobs,
        random_state=0,
    )
    started = time.perf_counter()
    model.fit(X, y, X_val, y_val)
    return time.perf_counter() - started, model


def whole_search(quick: bool, name: str, part: str, limit: float) -> None:
    """A search on two cores, beside its limit."""
    seconds, model = search(quick, name, part, n_jobs=2)
    stats = model.cache_stats_
    share = stats["hits"] / max(1, stats["hits"] + stats["misses"])
    line = [model.n_models_, model.n_evaluations_, seconds, within(seconds, limit), share, model.best_score_]
    columns = ["models", "evaluations", "seconds", "limit", "share of stages met in the cache", "best score"]
    show(f"DEFC(search={name!r}), two workers", columns, [line])


def compared(quick: bool, part: str, title: str, sides: dict[str, dict], least: float) -> None:
    """The search of eight models in two ways: seconds, their ratio, and whether both leaderboards are the same."""
    found = {words: search(quick, "reduced8", part, **options) for words, options in sides.items()}
    (slow, one), (fast, other) = found.values()
    same = without_seconds(one.leaderboard_) == without_seconds(other.leaderboard_)
    verdict = at_least(slow / fast, least)
    line = [one.n_evaluations_, slow, fast, slow / fast, verdict, "same" if same else "DIFFERENT"]
    show(title, ["evaluations", *(f"{words}, s" for words in found), "ratio", "limit", "leaderboards"], [line])


def without_seconds(leaderboard: list[dict]) -> list[dict]:
    return [{name: value for name, value in entry.items() if name != "seconds"} for entry in leaderboard]


def arcs(quick: bool) -> None:
    """Shares of wrong test rows before and after a search of a minute, two workers; mean of three draws."""
    import numpy as np

    from proxembed import DEFC
    from proxembed.data import banana
    from proxembed.study.defc.prefixes import PrefixClassifier
    from proxembed.targets.labels import LabelMatrix

    lines = []
    for noise, (classifier, least) in product(ARCS_NOISE, FEWER_ERRORS.items()):
        errors = []
        for seed in range(3):
            drawn = [banana(n, 10 * seed + part, noise) for part, n in enumerate(ARCS[quick])]
            (X, y), (X_val, y_val), (X_test, y_test) = ((data.X, data.Y.toarray().argmax(axis=1)) for data in drawn)
            before = PrefixClassifier(classifier).fit(X, LabelMatrix.of(y)).predict(X_test)
            seconds = ARCS_SECONDS[quick]
            model = DEFC(classifier=classifier, max_evals=None, max_seconds=seconds, refit="train", n_jobs=2)
            model.fit(X, y, X_val, y_val)
            errors.append((np.mean(before != y_test), 1 - model.score(X_test, y_test)))
        before, after = np.mean(errors, axis=0)
        lines.append([noise, classifier, before, after, 1 - after / before, at_least(1 - after / before, least)])
    columns = ["noise", "classifier", "errors before", "after", "fewer by", "limit"]
    show(f"Two arcs, a search of {ARCS_SECONDS[quick]:g} s", columns, lines)


def main() -> None:
    parser = arguments(__doc__.partition("\n\n")[0], repeats=3)
    parser.add_argument("--parts", default="", help=f"of {', '.join(PARTS)}, separated by commas; all when left out")
    given = parser.parse_args()
    fix_threads(1)
    parts, quick = chosen(PARTS, given.parts), given.quick
    if "candidate" in parts:
        one_candidate(quick, 1 if quick else given.repeats)
    if "reduced" in parts:
        whole_search(quick, "reduced8", "reduced", REDUCED_SECONDS)
    if "ga" in parts:
        whole_search(quick, "ga", "ga", GA_SECONDS)
    if "cache" in parts:
        sides = {"off": {"n_jobs": 1, "cache_bytes": 0}, "on": {"n_jobs": 1}}
        compared(quick, "cache", "Cache off and on, one worker", sides, CACHE_RATIO)
    if "workers" in parts:
        sides = {"one worker": {"n_jobs": 1}, "two": {"n_jobs": 2}}
        compared(quick, "workers", "One worker and two", sides, WORKERS_RATIO)
    if "arcs" in parts:
        arcs(quick)


if __name__ == "__main__":
    main()
