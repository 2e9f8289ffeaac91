"""Text of the size of the TPAMI paper's Reuters (3,328 x 24,012, 10 labels): seconds, beside TruncatedSVD(10).

The paper reports 300 to 2,500 seconds for its embeddings of these data. Label-only methods with a given ridge have one
second; methods with a term of the features, and every ridge="auto", have six.
"""

from pathlib import Path

from contenders import data_file, timed_fits
from measure import arguments, fix_threads, median_seconds, show, within

N, D, LABELS = 3328, 24012, 10
LABEL_ONLY_SECONDS, FEATURE_SECONDS = 1.0, 6.0
WITH_FEATURE_TERM = {"MVMD", "SLVM", "MORP", "MLSI"}


def read_reuters(path: Path, n: int):
    """Sublinear tf-idf of n random rows with one of the ten largest categories."""
    import numpy as np
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import TfidfTransformer

    with np.load(path, allow_pickle=False) as file:
        counts = csr_array((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"])).astype(float)
        rows, labels = file["r10_idx"], file["r10_label_idx"]
        Y = np.asarray(file["Y"])[:, labels]
    rows = np.sort(np.random.default_rng(0).permutation(rows)[:n])
    return csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts[rows])), Y[rows]


def read_data(quick: bool):
    """Real rows where they are, else planted ones of the same size."""
    n = 400 if quick else N
    path = data_file("reuters.npz")
    if path is not None:
        return *read_reuters(path, n), "Reuters-21578, ten largest categories"
    from planted import planted_text

    return *planted_text(n, D, LABELS, nnz=50, seed=0), "planted text"


def main() -> None:
    options = arguments(__doc__.partition("\n")[0], repeats=3).parse_args()
    fix_threads(options.threads)
    X, Y, origin = read_data(options.quick)
    from sklearn.decomposition import TruncatedSVD

    repeats = 1 if options.quick else options.repeats
    rival, _ = median_seconds(lambda: TruncatedSVD(LABELS, random_state=0).fit(X), repeats)
    rows = [[f"scikit-learn TruncatedSVD({LABELS})", "", rival, 1.0, "", ""]]
    for name, ridge, seconds, solver in timed_fits(X, Y, options.methods, repeats):
        limit = FEATURE_SECONDS if ridge == "auto" or name in WITH_FEATURE_TERM else LABEL_ONLY_SECONDS
        rows.append([name, ridge or "", seconds, seconds / rival, f"{within(seconds, limit)} s", solver])
    title = f"{__doc__}\n{origin}, {X.shape[0]} x {X.shape[1]}, {options.threads} threads, median of {repeats}"
    show(title, ["method", "ridge", "seconds", "ratio", "limit", "solver"], rows)


if __name__ == "__main__":
    main()
