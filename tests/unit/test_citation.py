"""The bibliography by key: an entry alone, without the headings of the file."""

from proxembed.citation import bibliography, citation


def test_entries_hold_no_headings():
    for key, entry in bibliography().items():
        assert entry.startswith("@") and entry.endswith("\n}") and f"{{{key}," in entry
        assert entry.count("\n@") == 0 and not any(line.startswith("%") for line in entry.splitlines())
    assert citation(["qian2010ssdrmc"]) == bibliography()["qian2010ssdrmc"]
