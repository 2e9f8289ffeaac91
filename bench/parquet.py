"""The program on a Parquet file (2,000,000 x 100 float32, 20 labels) beside the same work by hand.

Each line is a process of its own: CPU seconds of all its threads and its peak resident size, imports included. The
rival of a fit is `OPLS().fit(parquet_blocks(file, labels))`; that of `transform` and `predict` is pyarrow, which reads
the file in batches and writes a table of the same columns and types as their output. The program starts with the
imports of scikit-learn and skops, which do not depend on the rows: "beyond start" is the ratio without what the same
processes take on 1,000 rows. Our source is compiled first, as that of an installed package is.
"""

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from blocks import TAGS, write_data
from measure import THREAD_VARIABLES, arguments, chosen, fit_arguments, show, within

SOURCE = Path(__file__).resolve().parents[1] / "src"
ROWS = {False: 2_000_000, True: 100_000}
BATCH = 65_536
FIT_LIMIT, THROUGH_LIMIT, MEMORY_LIMIT = 2.0, 1.5, 1000  # times the CPU of the rival; MB
LARGE, SMALL = "24GB", "500MB"
FIT, COPY = "fit of parquet_blocks", "reading and writing"
FORMS = {"transform": ("float32", len(TAGS)), "predict": ("uint8", len(TAGS))}  # type and number of columns written
SUFFIXES = (".parquet", ".csv")
FEW_ROWS, START = 1000, "start of "
RIVALS = (FIT, *(f"{COPY} {verb} {suffix}" for verb in FORMS for suffix in SUFFIXES))
PROGRAM = {"fit": FIT, f"fit --memory {LARGE}": FIT, f"fit --memory {SMALL}": FIT} | {
    f"{verb} {suffix}": f"{COPY} {verb} {suffix}" for verb in FORMS for suffix in SUFFIXES
}


def one_rival(folder: Path, name: str) -> None:
    """Do the work of a rival in this process."""
    if name == FIT:
        from proxembed import OPLS
        from proxembed.data import parquet_blocks

        OPLS().fit(parquet_blocks(folder / "rows.parquet", TAGS))
        return
    _, verb, suffix = name.rsplit(" ", 2)
    copied(
        folder / ("few.parquet" if name.startswith(START) else "rows.parquet"), folder / f"copy{suffix}", *FORMS[verb]
    )


def copied(file: Path, out: Path, kind: str, width: int) -> None:
    """Read the features in batches, and write the first columns in the type of the output."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    schema, writer = pa.schema([(f"z{j}", pa.type_for_alias(kind)) for j in range(width)]), None
    source = pa.parquet.ParquetFile(file, pre_buffer=False)
    names = [name for name in source.schema_arrow.names if name not in TAGS]
    for batch in source.iter_batches(BATCH, columns=names):
        columns = [batch.column(j).cast(schema.types[j], safe=False) for j in range(width)]
        if writer is None:
            writer = (pa.csv.CSVWriter if out.suffix == ".csv" else pa.parquet.ParquetWriter)(out, schema)
        writer.write_table(pa.Table.from_batches([pa.RecordBatch.from_arrays(columns, schema=schema)]))
    writer.close()


def command_of(name: str, folder: Path, threads: int) -> list[str]:
    """The command line of a contender."""
    of_rows = name.removeprefix(START)
    if of_rows in RIVALS:
        return [sys.executable, __file__, "--folder", str(folder), "--fit", name, "--threads", str(threads)]
    verb, *more = of_rows.split()
    file = str(folder / ("rows.parquet" if of_rows == name else "few.parquet"))
    model = str(folder / "model.skops")
    given = [file, "--labels", "tag*", *more, "-o", model]
    if verb in FORMS:
        given = [model, file, "-o", str(folder / f"out{more[0]}")]
    return [sys.executable, "-m", "proxembed", verb, *given]


def measured(command: list[str], threads: int) -> dict[str, float]:
    """Seconds, CPU seconds and peak memory (MB) of a process."""
    path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads)) | {"PYTHONPATH": path}
    start = time.perf_counter()
    with tempfile.TemporaryFile() as told, subprocess.Popen(command, stdout=told, stderr=told, env=environment) as run:
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        if run.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{told.read().decode()}")
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "processor": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss * 1024 / 1e6}


def write_few(folder: Path) -> None:
    """The first rows of the file as a file of their own."""
    from pyarrow import Table, parquet

    rows = next(parquet.ParquetFile(folder / "rows.parquet").iter_batches(FEW_ROWS))
    parquet.write_table(Table.from_batches([rows]), folder / "few.parquet")


def options() -> argparse.Namespace:
    parser = arguments(__doc__.partition("\n")[0], repeats=1)
    parser.add_argument("--rows", type=int, default=None, help="rows of the file, a multiple of 100,000")
    fit_arguments(parser, (*RIVALS, *(START + name for name in RIVALS)))
    return parser.parse_args()


def main() -> None:
    given = options()
    if given.fit:
        one_rival(given.folder, given.fit)
        return
    rows, names = given.rows or ROWS[given.quick], chosen(PROGRAM, given.methods)
    runs: dict[str, dict[str, float]] = {}
    compileall.compile_dir(SOURCE, quiet=1)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_data(folder / "rows.parquet", rows)
        write_few(folder)
        first = [] if names[0].startswith("fit") else [f"fit --memory {SMALL}"]  # which makes the model
        pairs = [pair for each in names for pair in (PROGRAM[each], each)]
        starts = [START + name for name in pairs if PROGRAM.get(name, name) != FIT]
        for name in dict.fromkeys([*first, *pairs, *starts]):
            command = command_of(name, folder, given.threads)
            own = [measured(command, given.threads) for _ in range(1 if given.quick else given.repeats)]
            runs[name] = {key: min(run[key] for run in own) for key in own[0]}
            print(f"{name}: {runs[name]['processor']:.3g} CPU s, {runs[name]['memory']:.0f} MB", file=sys.stderr)
    lines = []
    for each in [*dict.fromkeys(map(PROGRAM.__getitem__, names)), *names]:
        seconds, processor, memory = runs[each].values()
        rival, told, beyond = PROGRAM.get(each, each), ["", ""], ""
        ratio, limit = processor / runs[rival]["processor"], FIT_LIMIT if rival == FIT else THROUGH_LIMIT
        if each in PROGRAM:
            told = [within(ratio, limit), within(memory, MEMORY_LIMIT)]
        if each in PROGRAM and rival != FIT:
            ours, theirs = (runs[name]["processor"] - runs[START + name]["processor"] for name in (each, rival))
            beyond = round(ours / theirs, 2)
        lines.append([each, seconds, processor, ratio, told[0], beyond, round(memory), told[1]])
    columns = ["process", "seconds", "CPU s", "CPU over rival", "limit", "beyond start", "peak MB", "limit"]
    show(f"{__doc__}\n{rows:,} rows, {given.threads} threads, one run each", columns, lines)


if __name__ == "__main__":
    main()
