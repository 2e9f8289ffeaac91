"""Files written whole or not at all: a full disk, an interruption, a read-only folder, and the old files stay."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from proxembed import LSI, PCA
from proxembed.execute import atomic_files
from proxembed.execute.atomic_files import check_writable, write_whole
from proxembed.persist import load, model_card, save

X = np.random.default_rng(0).normal(size=(12, 4))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


def test_a_card_never_replaces_another_document(path):
    model = PCA().fit(X)
    save(model, path, card=model_card(model))
    save(model, path, card=model_card(model))
    path.with_suffix(".md").write_text("<!-- proxembed model card -->\n# of a former format")
    save(model, path, card=model_card(model))
    path.with_suffix(".md").write_text("# My notes")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"model\.md exists and is not a model card; give the model another name"):
        save(model, path, card=model_card(model))
    assert path.with_suffix(".md").read_text() == "# My notes" and path.read_bytes() == before


def full_disk(*_):
    raise OSError(28, "No space left on device")


def interrupted(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("fault", "kind"), [(full_disk, OSError), (interrupted, KeyboardInterrupt)])
@pytest.mark.parametrize("call", ["fsync", "replace", "mkdir"])
def test_a_full_disk_or_an_interruption_leaves_the_old_files(fault, kind, call, path, monkeypatch):
    old = PCA().fit(X)
    save(old, path, card=model_card(old))
    before = {name: (path.parent / name).read_bytes() for name in os.listdir(path.parent)}
    monkeypatch.setattr(atomic_files.os, call, fault)
    with pytest.raises(kind) as caught:
        save(LSI().fit(X), path, card=model_card(LSI().fit(X)))
    monkeypatch.undo()
    if kind is OSError:
        assert caught.value.filename == str(path) and "No space left" in str(caught.value)
    assert {name: (path.parent / name).read_bytes() for name in os.listdir(path.parent)} == before
    assert np.array_equal(load(path).transform(X), old.transform(X))


def test_a_disk_that_takes_a_part_leaves_the_old_file(path):
    """The system itself stops the write half-way: a limit on the size of files."""
    pytest.importorskip("resource", reason="limits on file sizes are a POSIX matter")
    write_whole({path: b"old"})
    code = (
        "import resource, signal, sys\nfrom pathlib import Path\n"
        "from proxembed.execute.atomic_files import write_whole\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_whole({Path(sys.argv[1]): b'new' * 10_000})\n"
    )
    done = subprocess.run([sys.executable, "-B", "-c", code, str(path)], capture_output=True, text=True)
    assert done.returncode == 1 and "OSError" in done.stderr and "model.skops" in done.stderr
    assert path.read_bytes() == b"old" and os.listdir(path.parent) == [path.name]


def test_the_second_file_fails_and_the_first_stays(tmp_path):
    first = tmp_path / "a.bin"
    first.write_bytes(b"old")
    with pytest.raises(FileNotFoundError, match="its folder does not exist; make it first"):
        write_whole({first: b"new", tmp_path / "none" / "b.bin": b"new"})
    assert first.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.bin"]


def test_a_read_only_folder_is_named(path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied", "a temporary name")

    monkeypatch.setattr(tempfile, "mkdtemp", denied)
    for write in (lambda: save(PCA().fit(X), path), lambda: check_writable(path)):
        with pytest.raises(PermissionError, match="Permission denied") as caught:
            write()
        assert caught.value.filename == str(path)


def test_a_folder_in_place_of_the_file_is_named(path):
    path.mkdir()
    for write in (lambda: save(PCA().fit(X), path), lambda: check_writable(path)):
        with pytest.raises(IsADirectoryError, match="this is a folder; name a file in it"):
            write()


def test_checking_leaves_nothing_behind(path):
    assert check_writable(path) == path and os.listdir(path.parent) == []


NEW = {"a": b"new", "b": b"new", "c": b"new"}
OLD = {"a": b"old", "b": b"old", "gone": b"old"}
STEPS = len(OLD) + 1 + len(NEW)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def old_folder(folder):
    for name, content in OLD.items():
        (folder / name).write_bytes(content)


def renew(folder):
    write_whole({folder / name: content for name, content in NEW.items()}, remove=[folder / "gone", folder / "never"])


def test_what_is_to_leave_leaves_with_the_first_new_file(tmp_path):
    old_folder(tmp_path)
    (tmp_path / "mine").write_bytes(b"mine")
    renew(tmp_path)
    assert contents(tmp_path) == {**NEW, "mine": b"mine"}


@pytest.mark.parametrize("blocked", [*NEW, "gone"])
def test_a_blocked_name_is_found_before_anything_is_written(tmp_path, monkeypatch, blocked):
    (tmp_path / blocked).mkdir()
    (tmp_path / "a.bin").write_bytes(b"old")
    monkeypatch.setattr(atomic_files.tempfile, "mkdtemp", None)
    with pytest.raises(IsADirectoryError, match="this is a folder; name a file in it") as caught:
        renew(tmp_path)
    assert caught.value.filename == str(tmp_path / blocked)
    assert sorted(os.listdir(tmp_path)) == sorted([blocked, "a.bin"])


def test_files_of_two_folders_are_refused(tmp_path):
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="must all be in one folder"):
        write_whole({tmp_path / "a": b"", tmp_path / "other" / "b": b""})
    assert os.listdir(tmp_path) == ["other"]


@pytest.mark.parametrize("fault", [full_disk, interrupted])
@pytest.mark.parametrize("after", [False, True], ids=["before the step", "after the step"])
@pytest.mark.parametrize("step", range(STEPS))
def test_an_exchange_that_fails_at_any_step_is_taken_back(tmp_path, monkeypatch, step, after, fault):
    old_folder(tmp_path)
    whole, calls = os.replace, []

    def failing(source, target):
        calls.append(target)
        if len(calls) == step + 1 and not after:
            fault()
        whole(source, target)
        if len(calls) == step + 1 and after:
            fault()

    monkeypatch.setattr(atomic_files.os, "replace", failing)
    with pytest.raises((OSError, KeyboardInterrupt)):
        renew(tmp_path)
    assert contents(tmp_path) == OLD


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="SIGKILL is a POSIX matter")
@pytest.mark.parametrize("call", ["os.fsync", "os.replace"])
def test_a_writer_that_is_killed_at_any_step_leaves_old_or_new_after_the_next_one(tmp_path, call):
    """Every step in a process of its own, forked from one that has imported all."""
    steps = range(1, STEPS + 1) if call == "os.replace" else range(1, len(NEW) + 1)
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom proxembed.execute.atomic_files import write_whole\n"
        f"whole, NEW = {call}, {NEW!r}\n"
        "for step in map(int, sys.argv[2:]):\n"
        "    if os.fork() == 0:\n"
        "        calls = []\n"
        "        def killed(*arguments):\n"
        "            calls.append(1)\n"
        "            if len(calls) == step:\n"
        "                os.kill(os.getpid(), signal.SIGKILL)\n"
        "            return whole(*arguments)\n"
        f"        {call} = killed\n"
        "        folder = Path(sys.argv[1], str(step))\n"
        "        write_whole({folder / name: NEW[name] for name in NEW}, remove=[folder / 'gone'])\n"
        "        os._exit(1)\n"
        "    assert os.waitstatus_to_exitcode(os.wait()[1]) == -signal.SIGKILL\n"
    )
    for step in steps:
        (tmp_path / str(step)).mkdir()
        old_folder(tmp_path / str(step))
    subprocess.run([sys.executable, "-c", code, str(tmp_path), *map(str, steps)], check=True)
    for step in steps:
        folder = tmp_path / str(step)
        left = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        assert left.items() <= OLD.items() or left.items() <= NEW.items(), "never old beside new"
        write_whole({folder / "further": b"new"})
        found = contents(folder)
        assert found.pop("further") == b"new" and found in ((OLD,) if call == "os.fsync" else (OLD, NEW)), step


def test_what_killed_processes_left_is_removed(tmp_path):
    for name in (".writing-empty", ".writing-full", ".running-dead"):
        (tmp_path / name).mkdir()
    (tmp_path / ".writing-full" / "results.json").write_text("{")
    (tmp_path / ".running-dead" / "lock").touch()
    (tmp_path / ".writing-file").write_text("no folder")
    (tmp_path / "mine").mkdir()
    os.symlink(tmp_path / "mine", tmp_path / ".writing-link")
    write_whole({tmp_path / "a": b"new"})
    assert sorted(os.listdir(tmp_path)) == [".writing-file", ".writing-link", "a", "mine"]


def test_what_a_living_process_holds_stays_until_it_ends(tmp_path):
    code = (
        "import sys\nfrom pathlib import Path\nfrom proxembed.execute.atomic_files import claimed\n"
        "with claimed(Path(sys.argv[1])) as place:\n    print(place.name, flush=True)\n    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        name = other.stdout.readline().strip()
        write_whole({tmp_path / "a": b"new"})
        assert sorted(os.listdir(tmp_path)) == [name, "a"]
        assert atomic_files.claims(tmp_path, atomic_files.WRITING) == [tmp_path / name]
        other.kill()
        other.wait()
        assert sorted(os.listdir(tmp_path)) == [name, "a"] and not atomic_files.claims(tmp_path, atomic_files.WRITING)
        write_whole({tmp_path / "a": b"newer"})
        assert contents(tmp_path) == {"a": b"newer"}


def test_without_locks_files_are_written_and_nothing_is_cleared(tmp_path, monkeypatch):
    (tmp_path / ".writing-other").mkdir()
    (tmp_path / ".writing-other" / "lock").touch()
    monkeypatch.setattr(atomic_files, "fcntl", None)
    write_whole({tmp_path / "a": b"new"})
    assert sorted(os.listdir(tmp_path)) == [".writing-other", "a"]


def test_new_files_have_the_rights_that_the_process_gives(tmp_path):
    earlier = os.umask(0o027)
    try:
        write_whole({tmp_path / "a": b"new"})
    finally:
        os.umask(earlier)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("own", [os.path.abspath, os.path.relpath], ids=["absolute", "relative"])
def test_a_run_does_not_take_itself_for_another(own, tmp_path, monkeypatch):
    """From Python 3.12 on, mkdtemp returns an absolute path for a relative folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    made = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **where: own(made(**where)))
    with (
        atomic_files.alone_in(Path("out")),
        pytest.raises(ValueError, match="is being written by another run"),
        atomic_files.alone_in(Path("out")),
    ):
        pytest.fail("a second run was let in")
    assert not list((tmp_path / "out").iterdir())
