"""A whole comparison: 10 arms x 6 sizes x 15 folds on yeast, against the sum of its parts one after the other.

What is shared. Between arms of a split: the scaled features, the inner folds of thresholds and probabilities. Between
sizes of an arm: the fit (one for all k) and its kernel matrices; equal widths are read out once. Between folds: the
data (a memory map that the workers share) and whether an arm is bounded below the largest size. Kernels and Gram
matrices are not shared between folds: each fold scales its features by its own training rows, so that the distances
differ, and a kernel on the scale of all rows would let held-out rows in.

The rival is the same comparison with one fit for each size, on one repeat of two folds and without the kernel.
"""

import sys
import time
from dataclasses import replace

from contenders import data_file
from measure import arguments, fix_threads, median_seconds, show, within

LIMIT = 180.0
METHODS = ("opls", "cca", "mddm", "hsl", "mvmd", "kernelized")
RIVALS = ("all features", "PCA", "random projection", "label scores")
SIZES = (2, 5, 8, 10, 12, 14)


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    options = parser.parse_args()
    fix_threads(options.threads)

    from proxembed.data import digits, read
    from proxembed.evaluate.arms import method_arms, rival_arms
    from proxembed.evaluate.run import Protocol, run
    from proxembed.splits.splits import Splitting

    path = data_file("yeast.npz")
    dataset = digits() if options.quick or path is None else read(path)
    methods = [name for name in options.methods.split(",") if name] or METHODS
    arms = method_arms(methods) + tuple(arm for arm in rival_arms(dataset.X) if arm.name in RIVALS)
    folds = Splitting(n_folds=2) if options.quick else Splitting(n_folds=5, n_repeats=3)
    sizes = tuple(k for k in SIZES if k <= dataset.Y.shape[1])
    protocol = Protocol(arms, sizes, splitting=folds, n_jobs=options.jobs)
    started = time.perf_counter()
    results = run(protocol, dataset, lambda done, total, text: print(f"{done}/{total} {text}", file=sys.stderr))
    seconds = time.perf_counter() - started
    failed = sorted({row["arm"] for row in results.rows if row["failure"]})
    title = f"{dataset.name}: {len(arms)} arms x {len(sizes)} sizes x {len(results.folds)} folds"
    columns = ["processes", "seconds", "limit", "failed"]
    show(title, columns, [[options.jobs, seconds, within(seconds, LIMIT), ", ".join(failed) or "none"]])

    few = tuple(arm for arm in arms if not arm.name.startswith("Kernelized"))
    part = replace(protocol, arms=few, splitting=Splitting(n_folds=2), n_jobs=1)
    ours, _ = median_seconds(lambda: run(part, dataset), 1)
    theirs, _ = median_seconds(lambda: [run(replace(part, sizes=(k,)), dataset) for k in sizes], 1)
    columns = ["one fit for all sizes, s", "one fit a size, s", "ratio"]
    show("2 folds, no kernel, one process", columns, [[ours, theirs, ours / theirs]])


if __name__ == "__main__":
    main()
