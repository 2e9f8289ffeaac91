"""Searches by work on a busy machine, and the command that repeats a search by seconds."""

import threading

import proxembed
from unit.workflow.test_plan import drawn, searched_by_work


def test_two_searches_of_one_work_are_the_same_while_the_machine_is_busy():
    stop, quiet = threading.Event(), searched_by_work(6.0)
    busy = [threading.Thread(target=lambda: [None for _ in iter(stop.is_set, True)]) for _ in range(2)]
    for each in busy:
        each.start()
    try:
        loaded = searched_by_work(6.0)
    finally:
        stop.set()
        for each in busy:
            each.join()
    assert len(quiet[0]) >= 5 and loaded == quiet
    assert quiet[2] <= 6.0


def test_the_printed_call_repeats_trials_and_choice():
    data = drawn(200)
    fast = {"methods": ["opls", "mvmd", "cca"], "shuffles": 0, "folds": 2, "n_components": (2, 5)}
    first = proxembed.search(data, max_seconds=6, **fast)
    budget = first.record["search"]["budget"]
    assert budget["repeat"].endswith(f"max_work={budget['work']:g})") and "max_seconds" not in budget["repeat"]
    again = proxembed.search(data, max_work=budget["work"], **fast)
    if not budget["by_clock"]:
        assert [(t["method"], t["params"]) for t in first.record["search"]["trials"]] == [
            (t["method"], t["params"]) for t in again.record["search"]["trials"]
        ]
        assert first.record["search"]["chosen"] == again.record["search"]["chosen"]
    assert again.record["search"]["budget"]["by_clock"] == []
    assert budget["repeat"] in first.report() or budget["repeat"].replace("'", "&#39;") in first.report()
