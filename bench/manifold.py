"""Maps of a manifold against scikit-learn's: seconds and residuals, same rows, neighbours, components and tolerance.

Rows on a Swiss roll (a 2-D surface in 3-D) and in 20-dimensional clusters, overlapping and apart: the best route of
the eigenproblem differs. A residual is ||Mz - wz|| / ||M|| of the matrix that each side solves, largest over the
components; for Isomap that of the double-centred squared paths. Exact Isomap needs n x n; above 10,000 rows ours runs
with landmarks alone.
"""

import warnings

from measure import arguments, chosen, fix_threads, median_seconds, show, within

NEIGHBORS, COMPONENTS, LANDMARKS = 10, 2, 500
SIZES = {
    "LaplacianEigenmaps": (5000, 20000),
    "LLE": (5000, 20000),
    "Isomap": (5000, 10000),
    "Isomap landmarks": (20000,),
}
COLUMNS = ["method", "rows", "n", "ours s", "sklearn s", "ratio", "residual", "sklearn's", "solver"]
DENSE_RIVAL_UP_TO = 10000


def data(name: str, n: int):
    """The rows of one kind."""
    from sklearn.datasets import make_blobs, make_swiss_roll

    if name == "Swiss roll":
        return make_swiss_roll(n, random_state=0)[0]
    spread = 5.0 if name == "clusters that touch" else 1.0
    return make_blobs(n, 20, centers=10, cluster_std=spread, random_state=0)[0]


DATA = ("Swiss roll", "clusters that touch", "clusters apart")


def pair(method: str):
    """Ours and theirs, not fitted."""
    from sklearn import manifold

    from proxembed import LLE, Isomap, LaplacianEigenmaps

    common = {"n_neighbors": NEIGHBORS, "n_components": COMPONENTS}
    if method == "LaplacianEigenmaps":
        theirs = manifold.SpectralEmbedding(affinity="nearest_neighbors", random_state=0, **common)
        return LaplacianEigenmaps(weights="constant", **common), theirs
    if method == "LLE":
        theirs = manifold.LocallyLinearEmbedding(eigen_solver="arpack", tol=1e-12, random_state=0, **common)
        return LLE(**common), theirs
    ours = Isomap(n_landmarks=LANDMARKS if method == "Isomap landmarks" else None, **common)
    return ours, manifold.Isomap(**common)


def ours_residual(fitted, X) -> float:
    """The residual of our own solution, in the matrix of the template."""
    import numpy as np
    from sklearn.base import clone

    from proxembed.estimator.rows import Rows

    unfitted, rows = clone(fitted), Rows(X, None)
    unfitted.make_ready(rows)
    template = unfitted.template(rows)
    Z, w = fitted.embedding_, template.sense * np.asarray(fitted.eigenvalues_)
    if hasattr(fitted, "landmarks_"):
        Z = Z[fitted.landmarks_]
    d = np.ones(len(Z)) if template.B is None else template.B.diagonal()
    U = Z * np.sqrt(d)[:, None]
    length = np.linalg.norm(U, axis=0)
    product = (template.A @ Z) / np.sqrt(d)[:, None]
    return float(np.max(np.linalg.norm(product - U * w, axis=0) / length)) / size(template.A, d)


def size(A, d) -> float:
    """A norm of D^-1/2 A D^-1/2: its largest row sum where sparse, Frobenius' where dense."""
    import numpy as np
    from scipy import sparse

    from proxembed.algebra.pencil.direct import sparse_form

    if not hasattr(A, "terms") or hasattr(A, "A"):
        return float(np.linalg.norm(A.diagonal())) or 1.0
    scale = sparse.diags_array(1 / np.sqrt(d))
    return float(abs(scale @ sparse_form(A) @ scale).sum(axis=1).max())


def theirs_residual(method: str, fitted, X) -> float:
    """The residual of their embedding by Rayleigh quotients, in the matrix that they state."""
    import numpy as np
    from scipy import sparse
    from sklearn.manifold import _locally_linear as inner

    if method == "LaplacianEigenmaps":
        W = sparse.csr_array(fitted.affinity_matrix_).copy()
        W.setdiag(0)
        root = np.sqrt(W.sum(axis=1))
        M = sparse.eye_array(len(root)) - sparse.diags_array(1 / root) @ W @ sparse.diags_array(1 / root)
        U = fitted.embedding_ * root[:, None]
    elif method == "LLE":
        W = inner.barycenter_kneighbors_graph(fitted.nbrs_, n_neighbors=NEIGHBORS, reg=fitted.reg)
        difference = sparse.eye_array(W.shape[0], format="csr") - sparse.csr_array(W)
        M, U = difference.T @ difference, fitted.embedding_
    else:
        G = fitted.dist_matrix_.astype(np.float64) ** 2
        G -= G.mean(axis=0)
        G -= G.mean(axis=1)[:, None]
        G *= -0.5
        M, U = G, fitted.embedding_
    U = U / np.linalg.norm(U, axis=0)
    product = M @ U
    w = np.sum(U * product, axis=0)
    norm = float(abs(M).sum(axis=1).max()) if sparse.issparse(M) else float(np.linalg.norm(np.diag(M)))
    return float(np.max(np.linalg.norm(product - U * w, axis=0))) / norm


def row(method: str, kind: str, n: int, repeats: int) -> list:
    """One line of the table."""
    X = data(kind, n)
    ours, theirs = pair(method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # graphs in pieces: both sides say so, which is not the question
        seconds, fitted = median_seconds(lambda: ours.fit(X), repeats)
        residual = ours_residual(fitted, X)
        solver = fitted.solver_
        del fitted
        if n > DENSE_RIVAL_UP_TO and method.startswith("Isomap"):
            return [method, kind, n, seconds, "n x n", "", residual, "", solver]
        rival, other = median_seconds(lambda: theirs.fit(X), repeats)
        found = theirs_residual(method, other, X)
    ratio = seconds / rival
    return [method, kind, n, seconds, rival, f"{ratio:.2f} {within(ratio, 1.0)}", residual, found, solver]


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0], repeats=3)
    parser.add_argument("--sizes", default="", help="numbers of rows separated by commas; all when left out")
    options = parser.parse_args()
    fix_threads(options.threads)
    repeats = 1 if options.quick else options.repeats
    rows = []
    for method in chosen(SIZES, options.methods):
        sizes = [int(n) for n in options.sizes.split(",") if n] or ([1000] if options.quick else SIZES[method])
        rows += [row(method, kind, n, repeats) for n in sizes for kind in DATA]
        title = f"{method}, {NEIGHBORS} neighbours, {options.threads} threads, median of {repeats}"
        show(title, COLUMNS, [line for line in rows if line[0] == method])


if __name__ == "__main__":
    main()
