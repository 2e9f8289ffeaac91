"""OPLS on 2,000,000 x 100 float32 in 20 Parquet files, 20 labels: two dask workers of one thread against one.

Paths are sent, and sums come back; every worker has imported the package before. "killed" ends one of two workers after
a third of the time that two take. "this process" reads the same files one after another, without dask.
"""

import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

from blocks import LABELS, PART, TAGS, write_data
from measure import arguments, chosen, fix_threads, show

FILES = {False: 20, True: 4}
HERE, KILLED = "this process", "two workers, one killed"
WORKERS = {"one worker": 1, "two workers": 2, KILLED: 2}


def pieces(paths: list[str]):
    """The files, each to be read by the worker that it falls to."""
    from dask import delayed

    from proxembed import RowBlocks
    from proxembed.data import parquet_blocks

    return RowBlocks.from_dask([delayed(parquet_blocks)(path, TAGS) for path in paths])


def loaded() -> int:
    """The process of a worker, which has imported what a fit needs."""
    import pyarrow.parquet  # noqa: F401

    import proxembed.estimator.sums
    import proxembed.methods.latent  # noqa: F401

    return os.getpid()


def timed(rows) -> tuple[float, bytes]:
    """Seconds of a fit, and the bits of its components."""
    from proxembed import OPLS

    begin = time.perf_counter()
    components = OPLS(ridge=0.1).fit(rows).components_
    return time.perf_counter() - begin, components.tobytes()


def on_workers(paths: list[str], n_workers: int, repeats: int, kill_after: float | None = None) -> tuple[float, bytes]:
    """The least seconds over repeated fits on a cluster of its own."""
    from distributed import Client, LocalCluster

    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**options, silence_logs="ERROR") as cluster, Client(cluster) as client:
        processes = list(client.run(loaded).values())
        if kill_after is not None:
            threading.Timer(kill_after, os.kill, (processes[0], signal.SIGKILL)).start()
        return min(timed(pieces(paths)) for _ in range(1 if kill_after is not None else repeats))


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0], repeats=3)
    given = parser.parse_args()
    fix_threads(1)
    names, repeats = chosen([HERE, *WORKERS], given.methods), 1 if given.quick else given.repeats
    runs: dict[str, tuple[float, bytes]] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/rows{number:02}.parquet" for number in range(FILES[given.quick])]
        for number, path in enumerate(paths):
            write_data(Path(path), PART, number)
        for name in names:
            if name == HERE:
                from proxembed.data import parquet_blocks

                runs[name] = min(timed(parquet_blocks(paths, TAGS)) for _ in range(repeats))
                continue
            kill = runs["two workers"][0] / 3 if name == KILLED else None
            runs[name] = on_workers(paths, WORKERS[name], repeats, kill)
            print(f"{name}: {runs[name][0]:.3g} s", file=sys.stderr, flush=True)
    one = runs.get("one worker")
    table = [
        [
            name,
            seconds,
            one[0] / seconds if one else "",
            "" if name == HERE or one is None else "same" if bits == one[1] else "OTHER",
        ]
        for name, (seconds, bits) in runs.items()
    ]
    title = f"{__doc__}\n{len(paths) * PART:,} rows, {LABELS} labels, least of {repeats} fits, {os.cpu_count()} cores"
    show(title, ["where", "seconds", "times one worker", "bits"], table)


if __name__ == "__main__":
    main()
