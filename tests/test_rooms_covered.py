"""The table of ``make coverage``."""

from __future__ import annotations

import json

import rooms_covered


def report() -> dict:
    def file(run: int, of: int) -> dict:
        return {"summary": {"covered_lines": run, "num_statements": of}}

    return {
        "meta": {"timestamp": "2026-11-24T15:00:00.000000"},
        "files": {
            "src/proxembed/params.py": file(9, 10),
            "src/proxembed/data/text.py": file(3, 4),
            "src\\proxembed\\data\\readers\\npy.py": file(0, 6),
            "elsewhere/formats/slashed.py": file(7, 7),
        },
        "totals": {"covered_lines": 12, "num_statements": 20, "percent_covered": 60.0},
    }


def test_files_are_added_up_by_room():
    assert rooms_covered.rooms(report()) == {"params": (9, 10), "data": (3, 10)}


def test_one_row_per_package_and_one_of_all(tmp_path, monkeypatch, capsys):
    (tmp_path / "coverage.json").write_text(json.dumps(report()), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["rooms_covered.py", str(tmp_path / "coverage.json"), str(tmp_path / "page.md")])
    rooms_covered.main()
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["data", "params", "all"]
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "on 2026-11-24." in page and page.endswith("| all | 12 | 20 | 60.0 |\n")
