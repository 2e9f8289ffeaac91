"""More components than positive eigenvalues: OLPP on relation features of a third of the Reuters documents, P'P = I.

Directions of eigenvalue zero lie between the positive and the negative ones. Those that the rows map to zero are left
out of the one decomposition of X'WX. Rivals in the same run: the same fit in the coordinates of the row space
(solver="dual"), which decomposes two matrices of this size, and scipy.linalg.eigh of X'WX alone, which is the floor.

    PYTHONPATH=src:. python bench/negative_eigenvalues.py --threads 1
"""

from contenders import data_file
from measure import arguments, fix_threads, median_seconds, show

DRAW, K = 1, 1800


def main() -> None:
    parser = arguments(__doc__, repeats=3)
    options = parser.parse_args()
    fix_threads(options.threads)
    import numpy as np
    from scipy import linalg

    from papers.mesd_mope.reuters_ten import reuters_ten
    from proxembed import OLPP
    from proxembed.estimator.rows import Rows

    path = data_file("reuters.npz")
    if path is None:
        raise SystemExit("reuters.npz is needed; name its folder by $PROXEMBED_DATA.")
    R = reuters_ten(path.parent, DRAW, 900 if options.quick else None).R
    k = len(R) * 3 // 5 if options.quick else K
    repeats = 1 if options.quick else options.repeats
    fits = {name: OLPP(objective="proximity", n_components=k, solver=name) for name in ("auto", "dual")}
    A = fits["auto"].template(Rows(R, None)).A.sandwich(R)
    seconds, found = {}, {}
    for name, method in fits.items():
        seconds[name], found[name] = median_seconds(lambda method=method: method.fit(R), repeats)
    seconds["eigh"], (w, _) = median_seconds(lambda: linalg.eigh(A, driver="evd", check_finite=False), repeats)
    gap = np.abs(found["auto"].eigenvalues_ - found["dual"].eigenvalues_).max() / np.abs(w).max()
    lines = [
        [name, seconds[name], seconds[name] / seconds["dual"], seconds[name] / seconds["eigh"]]
        for name in ("auto", "dual", "eigh")
    ]
    head = ["contender", "seconds", "over coordinates", "over eigh alone"]
    show(f"OLPP, {len(R):,} rows, k = {k}; {np.count_nonzero(w > 0):,} positive eigenvalues", head, lines)
    print(f"largest difference of the eigenvalues, relative: {gap:.1e}")


if __name__ == "__main__":
    main()
