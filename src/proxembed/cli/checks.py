"""What can be refused at once: limits that cannot be met, and data whose labels no embedding can serve."""

LEAST_ROWS = 4


def check_limits(jobs: int = 1, max_seconds: float | None = None, max_trials: int | None = None) -> None:
    """Refuse limits that leave nothing to run, by the names of their options.

    Examples
    --------
    >>> from proxembed.cli.checks import check_limits
    >>> check_limits(jobs=0)
    Traceback (most recent call last):
    ValueError: --jobs 0 must be a number of processes above 0, or -1 for one a core.
    """
    if jobs == 0 or jobs < -1:
        raise ValueError(f"--jobs {jobs} must be a number of processes above 0, or -1 for one a core.")
    if max_seconds is not None and not max_seconds > 0:
        raise ValueError(f"--max-seconds {max_seconds} must be a number of seconds above 0.")
    if max_trials is not None and max_trials < 1:
        raise ValueError(f"--max-trials {max_trials} must be a whole number of at least 1.")


def check_labels(dataset, file: object, least: int = LEAST_ROWS) -> None:
    """Refuse a file whose labels hold nothing to learn: none given, the same in every row, or too few rows.

    Examples
    --------
    >>> from proxembed.cli.checks import check_labels
    >>> from proxembed.data import digits
    >>> check_labels(digits(), "digits")
    """
    import numpy as np

    known = np.arange(dataset.Y.shape[0])
    if dataset.unknown is not None:
        known = known[np.asarray(dataset.unknown.sum(axis=1)).ravel() == 0]
    names = "which columns hold the labels (--labels)"
    if not len(known):
        raise ValueError(f"{file}: every row has an unknown label; label some rows in full, or check {names}.")
    Y = dataset.Y.tocsr()[known]
    row = "row" if dataset.unknown is None else "row whose labels are all known"
    if Y.nnz == 0:
        raise ValueError(f"{file}: no {row} has a label; check {names}.")
    if len(known) < least:
        few = f"rows whose labels are all known: {len(known)}, and at least {least} are needed"
        raise ValueError(f"{file}: {few}; label more rows.")
    held = np.asarray(Y.sum(axis=0)).ravel()
    if np.isin(held, (0, len(known))).all():
        raise ValueError(f"{file}: every {row} has the same labels, so that nothing tells rows apart; check {names}.")
