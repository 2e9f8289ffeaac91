"""Dense data of middle size (28,596 x 500, 22 labels): every multi-label method against scikit-learn's PCA(22)."""

from contenders import data_file, timed_fits
from measure import arguments, fix_threads, median_seconds, show, within

LABELS = 22
GIVEN, SLOWER, AUTO = 1.5, 3.0, 10.0
SLOWER_METHODS = {"MORP", "MLSI", "DMLDA"}


def read_data(quick: bool):
    """tmc2007-500 where the real data are, else binary rows of the same size and density; float64, dense."""
    import numpy as np
    from scipy.sparse import csr_array

    path = data_file("tmc2007-500.npz")
    if path is not None:
        with np.load(path, allow_pickle=False) as file:
            X = csr_array((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"])).toarray()
            Y = np.asarray(file["Y"])
    else:
        rng = np.random.default_rng(0)
        X = rng.random((28596, 500)) < 0.045
        scores = X @ rng.standard_normal((500, LABELS)) + 0.5 * rng.standard_normal((28596, LABELS))
        Y = (scores > np.quantile(scores, 0.9, axis=0)).astype(np.uint8)
    rows = slice(0, 2000 if quick else None)
    return X[rows].astype(float), Y[rows], "tmc2007-500" if path else "synthetic rows of the size of tmc2007-500"


def main() -> None:
    options = arguments(__doc__, repeats=3).parse_args()
    fix_threads(options.threads)
    X, Y, origin = read_data(options.quick)
    from sklearn.decomposition import PCA

    repeats = 1 if options.quick else options.repeats
    rival, _ = median_seconds(lambda: PCA(LABELS).fit(X), repeats)
    rows = [[f"scikit-learn PCA({LABELS})", "", rival, 1.0, "", ""]]
    for name, ridge, seconds, solver in timed_fits(X, Y, options.methods, repeats):
        limit = AUTO if ridge == "auto" else SLOWER if name in SLOWER_METHODS else GIVEN
        rows.append([name, ridge or "", seconds, seconds / rival, within(seconds / rival, limit), solver])
    title = f"{__doc__}\n{origin}, {X.shape[0]} x {X.shape[1]}, {options.threads} threads, median of {repeats}"
    show(title, ["method", "ridge", "seconds", "ratio", "limit", "solver"], rows)


if __name__ == "__main__":
    main()
