"""Every planted fault still has its place in the package."""

import ast

import pytest

from mutants import FAULTS, ROOT, planted


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.meaning)
def test_a_fault_changes_a_source_that_python_still_reads(fault):
    source = (ROOT / "src" / "proxembed" / fault.file).read_text()
    changed = planted(source, fault)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))


def test_a_text_that_has_moved_is_reported():
    with pytest.raises(ValueError, match="occurs 0 times"):
        planted("", FAULTS[0])
