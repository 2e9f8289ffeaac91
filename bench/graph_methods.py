"""Graph methods on dense data of middle size (28,596 x 500, K = 10): whole fits against a brute-force neighbour search.

The rival is scikit-learn's NearestNeighbors(algorithm="brute", n_jobs=2), fit and kneighbors, on the same matrix in the
same run. Supervised methods take the first label of each row as its class. Every contender runs in a process of its
own; memory is the peak resident size of that process, data and libraries included.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import arguments, chosen, fix_threads, median_seconds, show, within
from tmc2007 import read_data

K = 10
RIVAL = "NearestNeighbors brute"
METHODS = ("LPP", "OLPP", "NPP", "LFDA", "MFA", "DNE", "OLPPR")
RATIO_LIMIT, MEMORY_LIMIT = 1.5, 2.0
NEIGHBORS = ("n_neighbors", "n_friends")


def one_fit(folder: Path, name: str, repeats: int) -> None:
    """Fit in this process and print what was measured, as one line of JSON."""
    import numpy as np

    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    if name == RIVAL:
        from sklearn.neighbors import NearestNeighbors

        rival = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=2)
        seconds, _ = median_seconds(lambda: rival.fit(X).kneighbors(), repeats)
        solver = ""
    else:
        import proxembed

        method = getattr(proxembed, name)()
        method.set_params(**{option: K for option in NEIGHBORS if option in method.get_params()})
        seconds, fitted = median_seconds(lambda: method.fit(X, y), repeats)
        solver = fitted.solver_
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(json.dumps({"seconds": seconds, "gigabytes": gigabytes, "solver": solver}))


def measured(name: str, folder: Path, threads: int, repeats: int) -> dict:
    """What one contender measures in a fresh process."""
    command = [sys.executable, __file__, "--folder", str(folder), "--fit", name]
    command += ["--threads", str(threads), "--repeats", str(repeats)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{name} failed:\n{result.stderr}")
    found = json.loads(result.stdout.splitlines()[-1])
    print(f"{name}: {found['seconds']:.3g} s", file=sys.stderr, flush=True)
    return found


def options() -> argparse.Namespace:
    parser = arguments(__doc__.partition("\n")[0], repeats=1)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--fit", choices=(RIVAL, *METHODS), help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    given = options()
    fix_threads(given.threads)
    if given.fit:
        one_fit(given.folder, given.fit, given.repeats)
        return
    import numpy as np

    X, Y, origin = read_data(given.quick)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", Y.argmax(axis=1))
        repeats = 1 if given.quick else given.repeats
        names = [RIVAL, *chosen(METHODS, given.methods)]
        found = {name: measured(name, Path(folder), given.threads, repeats) for name in names}
    rows = []
    for name, run in found.items():
        ratio = run["seconds"] / found[RIVAL]["seconds"]
        limits = ["", ""] if name == RIVAL else [within(ratio, RATIO_LIMIT), within(run["gigabytes"], MEMORY_LIMIT)]
        rows.append([name, run["seconds"], ratio, limits[0], run["gigabytes"], limits[1], run["solver"]])
    title = f"{__doc__}\n{origin}, {X.shape[0]:,} x {X.shape[1]}, K = {K}, {given.threads} threads, median of {repeats}"
    show(title, ["method", "seconds", "ratio", "limit", "peak GB", "limit", "solver"], rows)


if __name__ == "__main__":
    main()
