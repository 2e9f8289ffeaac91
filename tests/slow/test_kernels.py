"""The choice of OpenBLAS's kernels under which tests run again."""

from __future__ import annotations

import kernels


def test_the_part_is_made_of_tests_that_are_there():
    assert all((kernels.ROOT / path).exists() for path in kernels.PART)


def test_a_kernel_that_does_not_run_is_not_chosen():
    assert kernels.kernels_in_use("NoSuchKernel") != {"NoSuchKernel"}


def test_other_kernels_run_and_are_not_the_own_one(monkeypatch):
    monkeypatch.setattr(kernels, "KERNELS", ("Nehalem", "Haswell"))
    own, others = kernels.kernels_in_use(), kernels.other_kernels()
    assert not own & set(others)
    assert all(kernels.kernels_in_use(kernel) == {kernel} for kernel in others)


def test_no_other_kernel_is_no_failure(monkeypatch, capsys):
    monkeypatch.setattr(kernels, "KERNELS", ())
    assert kernels.main("part") == 0
    assert "no other kernel" in capsys.readouterr().out


def test_one_failing_kernel_fails_the_whole(monkeypatch):
    monkeypatch.setattr(kernels, "other_kernels", lambda: ["Nehalem", "Haswell"])
    monkeypatch.setattr(kernels, "run", lambda kernel, tests, share=1: int(kernel == "Haswell"))
    assert kernels.main("whole") == 1
    assert kernels.main("part") == 0


def test_the_part_is_thinned_and_the_whole_is_not(monkeypatch):
    asked = []
    monkeypatch.setattr(kernels, "other_kernels", lambda: ["Nehalem"])
    monkeypatch.setattr(kernels, "run", lambda *words: asked.append(words) or 0)
    assert kernels.main("part") == kernels.main("whole") == 0
    assert asked == [("Nehalem", kernels.PART, 3), ("Nehalem", ())]
