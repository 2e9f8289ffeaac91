"""The executor on a cluster of dask: the results of one process, also where a worker is killed."""

import numpy as np
import pytest
from distributed import Client, KilledWorker, LocalCluster
from joblib import parallel_config
from typer.testing import CliRunner

import proxembed
from proxembed.algebra.arrays.blas import threads
from proxembed.blocks import cluster as cluster_module
from proxembed.blocks.cluster import on_cluster
from proxembed.cli import app
from proxembed.data import digits
from proxembed.execute.executor import Executor, in_this_process, workers
from proxembed.execute.ledger import Ledger
from proxembed.execute.loop import Evaluator, Strategy, Trial, Work
from proxembed.study.trials import Study
from worker_tasks import count, nested, process, total

DATA = digits().take(range(150))
FAST = {"methods": "opls", "n_components": [1, 2], "folds": 2, "seed": 1}


@pytest.fixture
def here():
    """A cluster of one worker with two threads in this process."""
    with LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0", protocol="tcp"
    ) as cluster:
        with on_cluster(cluster.scheduler_address):
            yield cluster


@pytest.mark.parametrize("ordered", [True, False])
def test_a_cluster_gives_what_one_process_gives(here, ordered):
    with Executor(1, np.arange(10.0), ordered=ordered) as executor:
        found = list(executor.map(total, range(5)))
        again = list(executor.map(total, [7]))
        assert list(executor.map(nested, [3])) == [(1, [48.0])], "workers have no workers of their own"
    assert sorted(found) == [45.0 + i for i in range(5)] and again == [52.0]
    assert not ordered or found == sorted(found)


def test_all_cores_of_the_cluster_take_part_and_no_thread_of_this_process_more(here):
    assert workers(1) == workers(-1) == 2 and not in_this_process(1)
    own = threads()
    with parallel_config(backend="dask", client=cluster_module.active_client()):
        assert threads() <= own
    assert in_this_process(1) is False


def test_the_backend_of_joblib_is_the_same_cluster():
    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0") as client:
        with parallel_config(backend="dask", client=client), Executor(1, np.ones(2)) as executor:
            assert executor.remote and list(executor.map(total, [1, 2])) == [3.0, 4.0]
    assert in_this_process(1)


def test_a_thread_of_a_worker_keeps_what_it_received_first(here):
    with Executor(1, {}) as executor:
        found = [calls for _, calls in executor.map(count, range(6))] + [calls for _, calls in executor.map(count, [0])]
    assert max(found) >= 4 and found.count(1) <= 2, "two threads, each with a copy of its own"
    with Executor(1, {}) as executor:
        assert [calls for _, calls in executor.map(count, [0])] == [1]


def test_an_error_of_a_task_is_raised_and_closing_gives_up_the_rest(here):
    with Executor(1, None) as executor:
        with pytest.raises(AttributeError, match="sum"):
            list(executor.map(total, range(3)))
        results = executor.map(process, range(50))
        next(results)
        results.close()
        assert len(list(executor.map(process, range(3)))) == 3


class _Upwards(Strategy):
    def batches(self, study):
        trials = [study.entered.setdefault(number, Trial(number, "numbers")) for number in range(3)]
        yield [Work(trial, [0, 1]) for trial in trials]


class _Score:
    def __init__(self, score):
        self.score = score


class _Numbers(Evaluator):
    def evaluate(self, config, step):
        return _Score(10.0 * config + step)

    def key(self, config, step):
        return [config, step]

    def plain(self, outcome):
        return outcome.score

    def restored(self, plain):
        return _Score(plain)


def test_a_study_on_a_cluster_is_stored_by_this_process(here, tmp_path, monkeypatch):
    """The workers may not see this machine's files."""
    monkeypatch.setattr(Ledger, "__reduce__", lambda file: pytest.fail("the file was sent to a worker"), raising=False)
    file = Ledger(tmp_path / "study.jsonl").begin({})
    study = Study(_Numbers(), ledger=file).run(_Upwards())
    assert [outcome.score for outcome in study.outcomes] == [0.0, 1.0, 10.0, 11.0, 20.0, 21.0]
    again = Ledger(tmp_path / "study.jsonl").begin({})
    assert [again.find([config, step]) for config in range(3) for step in range(2)] == [0, 1, 10, 11, 20, 21]


def test_the_program_takes_the_cluster(tmp_path, monkeypatch):
    np.savez(tmp_path / "rows.npz", X=DATA.X, Y=DATA.Y.toarray())
    asked = []
    for verb in ("compare", "search"):
        monkeypatch.setattr(
            f"proxembed.cli.{verb}.{verb}_and_show", lambda dataset, options, *rest: asked.append(options.dask)
        )
        for more in (["--dask", "local"], []):
            assert CliRunner().invoke(app, [verb, str(tmp_path / "rows.npz"), *more]).exit_code == 0
    assert asked == ["local", None] * 2


@pytest.mark.parametrize(
    ("dask", "words"),
    [
        ("cluster", "must be None, 'local' or the address of a scheduler"),
        (3, "must be None, 'local' or the address of a scheduler"),
        ("tcp://127.0.0.1:9", "No dask scheduler answers at tcp://127.0.0.1:9"),
    ],
)
def test_what_is_no_cluster(dask, words, monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT", 0.5)
    with pytest.raises(ValueError, match=words):
        proxembed.compare(DATA, **FAST, dask=dask)


def test_a_scheduler_without_workers(monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT", 0.5)
    with LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0", protocol="tcp") as empty:
        with pytest.raises(ValueError, match="has no workers. Start some"), on_cluster(empty.scheduler_address):
            pass


def test_the_program_names_its_option(tmp_path, monkeypatch):
    monkeypatch.setattr("proxembed.workflow.options.find_spec", lambda name: None)
    for verb in ("compare", "search"):
        found = CliRunner().invoke(app, [verb, "missing.csv", "--dask", "local"])
        assert found.exit_code == 2 and "--dask local needs dask, which is not installed" in found.output


class _Lost(KilledWorker):
    def __str__(self):
        return "its workers died"


def killed(left, item):
    """Raises what dask raises for killed workers, as often as the folder has files for the item."""
    for marker in left.glob(f"{item}-*"):
        marker.unlink()
        raise _Lost("task", None, 0)
    return item


@pytest.mark.parametrize("ordered", [True, False])
def test_a_task_whose_worker_is_killed_is_done_again_alone(here, tmp_path, ordered):
    """One that loses its worker twice has no result, and the others go on."""
    with Executor(1, tmp_path, ordered=ordered) as executor:
        (tmp_path / "1-first").touch()
        found = list(executor.map(killed, range(4)))
        assert sorted(found) == [0, 1, 2, 3] and (not ordered or found == sorted(found))
        for name in ("1-first", "1-second"):
            (tmp_path / name).touch()
        told = list(executor.map(killed, range(3), lambda item, reason: (item, "died" if reason else "")))
        assert sorted(map(str, told)) == sorted(map(str, [0, (1, "died"), 2]))
        for name in ("1-first", "1-second"):
            (tmp_path / name).touch()
        with pytest.raises(KilledWorker):
            list(executor.map(killed, [1]))
