"""Columns that alone tell a label are named; signals that are merely strong are not."""

import numpy as np
import pytest

from proxembed.data import Columns, read
from proxembed.workflow.leaks import leaks


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    done = rng.random(200) < 0.3
    strong = rng.normal(2.0 * done)
    days = np.where(done, rng.integers(1, 30, 200), 0)
    rows = zip(
        strong, days, np.where(done, "closed", "open"), rng.choice(["a", "b"], 200), done.astype(int), strict=True
    )
    text = "\n".join(",".join(map(str, row)) for row in rows)
    (tmp_path / "t.csv").write_text(f"strong,days,state,kind,done\n{text}\n")
    return tmp_path / "t.csv"


def test_a_column_that_tells_the_label_is_named_and_others_are_not(table):
    found = leaks(read(table, labels="done"))
    assert [line.split(" alone")[0] for line in found] == ["days", "state=open", "state=closed"]
    assert leaks(read(table, columns=Columns(labels=("done",), drop=("state", "days")))) == []


def test_test_rows_are_not_looked_at(table):
    data = read(table, labels="done", test=table)
    assert leaks(data)[0].startswith("days alone predicts 'done' (AUC 1.000)")
    few = data.take(np.arange(4))
    assert leaks(few) == []
