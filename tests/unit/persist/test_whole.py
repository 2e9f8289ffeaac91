"""Files written whole or not at all: a full disk, an interruption, a read-only folder, and the old files stay."""

import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from proxembed import LSI, PCA
from proxembed.persist import check_writable, load, model_card, save, write_whole
from proxembed.persist import whole as whole_module

X = np.random.default_rng(0).normal(size=(12, 4))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


def test_a_card_never_replaces_another_document(path):
    model = PCA().fit(X)
    save(model, path, card=model_card(model))
    save(model, path, card=model_card(model))
    path.with_suffix(".md").write_text("# My notes")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"model\.md exists and is no model card; give the model another name"):
        save(model, path, card=model_card(model))
    assert path.with_suffix(".md").read_text() == "# My notes" and path.read_bytes() == before


def full_disk(*_):
    raise OSError(28, "No space left on device")


def interrupted(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("fault", "kind"), [(full_disk, OSError), (interrupted, KeyboardInterrupt)])
@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
def test_a_full_disk_or_an_interruption_leaves_the_old_files(fault, kind, call, path, monkeypatch):
    old = PCA().fit(X)
    save(old, path, card=model_card(old))
    before = {name: (path.parent / name).read_bytes() for name in os.listdir(path.parent)}
    monkeypatch.setattr(whole_module.os, call, fault)
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
        "import resource, signal, sys\nfrom pathlib import Path\nfrom proxembed.persist import write_whole\n"
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

    monkeypatch.setattr(tempfile, "mkstemp", denied)
    monkeypatch.setattr(tempfile, "TemporaryFile", denied)
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
