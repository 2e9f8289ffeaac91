"""StageCache: what it gives back is what was put there, never more bytes than the limit, the least recently used goes
first; and no score depends on it."""

import pickle
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designs import each_value
from proxembed.methods.adaptive import Switches, sample
from proxembed.study.defc.objective import Objective, StageCache
from proxembed.targets.labels import LabelMatrix

STEPS = st.lists(st.tuples(st.booleans(), st.integers(0, 8), st.integers(0, 60)), max_size=80)


@given(STEPS, st.integers(0, 100))
def test_it_is_a_cache_with_a_limit_of_bytes(steps, limit):
    cache, model = StageCache(limit), OrderedDict()
    hits = misses = 0
    for number, (put, name, size) in enumerate(steps):
        if put:
            cache.put((name,), number, size)
            model.pop(name, None)
            if size <= limit:
                while sum(held for _, held in model.values()) + size > limit:
                    model.popitem(last=False)
                model[name] = number, size
        else:
            expected = model.get(name)
            assert cache.get((name,)) == (None if expected is None else expected[0])
            hits, misses = hits + (expected is not None), misses + (expected is None)
            if expected is not None:
                model.move_to_end(name)
        stats = cache.stats()
        assert stats["bytes"] == sum(held for _, held in model.values()) <= stats["peak_bytes"] <= limit
        assert (stats["entries"], stats["hits"], stats["misses"]) == (len(model), hits, misses)


def test_the_least_recently_used_goes_first():
    cache = StageCache(3)
    for name in "abc":
        cache.put(name, name, 1)
    assert cache.get("a") == "a"
    cache.put("d", "d", 1)
    assert [cache.get(name) for name in "abcd"] == ["a", None, "c", "d"]
    assert cache.stats()["evictions"] == 1


def test_a_value_above_the_limit_drives_nothing_out():
    cache = StageCache(3)
    cache.put("a", "a", 1)
    cache.put("b", "b", 4)
    assert (cache.get("a"), cache.get("b"), cache.stats()["evictions"]) == ("a", None, 0)


def test_a_copy_for_another_process_starts_empty():
    cache = StageCache(5)
    cache.put("a", np.zeros(1), 1)
    copy = pickle.loads(pickle.dumps(cache))
    assert copy.max_bytes == 5 and copy.stats()["entries"] == 0 == copy.stats()["peak_bytes"]


def test_a_limit_below_0_is_refused():
    with pytest.raises(ValueError, match="max_bytes=-1"):
        StageCache(-1)


LABELS = {"one label": lambda scores: scores.argmax(axis=1), "several": lambda scores: (scores > 0.3).astype(int)}


@each_value
@pytest.mark.parametrize("several", LABELS)
@pytest.mark.parametrize("classifier", ["1nn", "flda"])
def test_scores_do_not_depend_on_the_cache(several, classifier):
    """Without one, with one that forgets all the time, and with one that forgets nothing: bit for bit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(48, 5))
    y = LabelMatrix.of(LABELS[several](X @ rng.normal(size=(5, 3)) + rng.normal(size=(48, 3))))
    splits = [(np.arange(48) % 2 != fold, np.arange(48) % 2 == fold) for fold in range(2)]
    splits = [(np.flatnonzero(train), np.flatnonzero(out)) for train, out in splits]
    limits = 0, 60_000, 2**30
    found = []
    for cache_bytes in limits:
        objective = Objective(X, y, splits, classifier=classifier, k_cap=3, cache_bytes=cache_bytes)
        draws, rows = np.random.default_rng(1), []
        for vector in (
            [3, 5, 0, 5, 1, 2, 2, 0],
            [3, 2, 0, 2, 2, 2, 2, 1],
            [5, 6, 3, 6, 1, 1, 1, 0],
            [0, 0, 0, 7] + [1] * 4,
        ):
            switches = Switches.of(vector)
            first = sample(switches, objective.limits, draws)
            second = sample(switches, objective.limits, draws)
            for params in (first, *(first | {name: second[name]} for name in second), second, first):
                rows.append(objective.evaluate(switches, params))
        found.append(rows)
        assert objective.cache_stats["peak_bytes"] <= cache_bytes
        if cache_bytes == limits[1]:
            assert objective.cache_stats["evictions"] > 100
    assert objective.cache_stats["hits"] > 100
    assert found[0] == found[1] == found[2]
    assert len({row.score for row in found[0]}) > 6
