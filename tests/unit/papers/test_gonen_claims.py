"""Published numbers and sentences: each can come out or not, and cannot be told of fits that failed."""

import pytest

from papers.bsml.claims import claims, whole
from papers.bsml.fits import BASELINES, DIMENSIONS, MEASURES
from papers.bsml.published import PUBLISHED, SECONDS, TMC
from papers.bsml.words import WORDS, Curves, gap

LABELS = {name: sizes[-1] for name, sizes in DIMENSIONS.items()}
BEST, MIDDLE, WORST = (0.15, 0.9, 0.6, 0.6), (0.17, 0.8, 0.59, 0.59), (0.3, 0.5, 0.3, 0.3)


def entry(method, k, values, start="svd", bound=-1.0, active=None):
    scores = None if values is None else dict(zip(MEASURES, values, strict=True))
    found = {"method": method, "k": k, "scores": scores, "start": start, "bound": bound, "active": active}
    return {"entrant": f"{method} {k} {start}", "failure": None, **found}


def curves(data, values):
    """Entries of a set: the values of a method at a dimension by ``values(method, k)``, None leaving it out."""
    found = [entry(method, k, values(method, k), "" if method != "BSML" else "svd")
             for method in ("BSML", *BASELINES) for k in DIMENSIONS[data]]  # fmt: skip
    found.append(entry("PROBIT", None, values("PROBIT", None), ""))
    return [each for each in found if each["scores"] is not None]


def as_said(sentence):
    """Values with which a sentence of the paper is true."""

    def values(method, k):
        if "MDDM+PROBIT has the" in sentence or "after two dimensions MDDM" in sentence:
            return BEST if method.startswith("MDDM") else MIDDLE
        if "not as good" in sentence:
            return BEST if method == "PROBIT" else MIDDLE
        if "only when R < 13" in sentence and k is not None and k >= 13:
            return BEST if method.startswith("PCA") else MIDDLE
        if "every reduction" in sentence or "beat PROBIT" in sentence:
            return WORST if method == "PROBIT" else BEST
        return BEST if method == "BSML" else MIDDLE

    return values


def otherwise(sentence):
    """Values with which it is false."""

    def values(method, k):
        if "not as good" in sentence:
            return WORST if method == "PROBIT" else BEST
        if "two per cent" in sentence:
            return BEST if method == "BSML" else WORST
        if "MDDM+PROBIT has the" in sentence or "after two dimensions MDDM" in sentence:
            return WORST if method.startswith("MDDM") else BEST
        return WORST if method == "BSML" else BEST

    return values


@pytest.mark.parametrize("words", WORDS, ids=lambda words: f"{words.data}, {words.published}")
def test_a_sentence_can_come_out_and_can_fail(words):
    came, told = words.judge(Curves(curves(words.data, as_said(words.published))))
    assert came is True and told
    came, told = words.judge(Curves(curves(words.data, otherwise(words.published))))
    assert came is False and told


@pytest.mark.parametrize("words", WORDS, ids=lambda words: f"{words.data}, {words.published}")
def test_of_failed_fits_nothing_can_be_told(words):
    assert words.judge(Curves([entry("BSML", 2, None)])) == (None, "too few fits finished")


def test_random_starts_are_no_part_of_the_curves_and_the_gap_is_that_at_two():
    held = Curves([entry("BSML", 2, BEST), entry("BSML", 2, WORST, "random 0"), entry("PROBIT", None, MIDDLE, "")])
    assert held.at("BSML", 2, MEASURES[0]) == 0.15 and held.sizes() == [2]
    assert gap("PROBIT", 0.01, 0.03)(held) == (True, "BSML 0.1500, PROBIT 0.1700: 2.0 per cent")


@pytest.mark.parametrize("each", PUBLISHED, ids=lambda each: f"{each.method}, {each.data}")
def test_a_number_comes_out_only_within_its_tolerance(each):
    def came(*losses):
        values = [(loss, 0.5, 0.5, 0.5) for loss in losses]
        held = [entry(each.method, LABELS[each.data], v, f"random {i}", -1.0 - i, 3) for i, v in enumerate(values)]
        found = [c for c in claims({each.data: held}) if c["published"].startswith(f"{each.method}, Hamming")]
        assert len(found) == 1 and f"{each.value:.4f}" in found[0]["published"]
        return found[0]["came_out"]

    if each.tolerance is None:
        assert each.why and came(each.value) is None
        return
    inside, outside = each.target + 0.9 * each.tolerance, each.target + 1.1 * each.tolerance
    assert came(inside) is True and came(outside) is False and came(2 * each.target - outside) is False
    assert came(inside, outside) is (each.method == "BSML+ARD")  # there the largest bound decides, else every start


def test_every_number_that_is_asked_for_lies_near_the_published_one():
    asked = [each for each in PUBLISHED if each.tolerance is not None]
    assert len(asked) == 8 and all(abs(each.value - each.target) <= each.tolerance for each in asked)
    assert {each.data for each in PUBLISHED if each.data == TMC and each.tolerance is not None} == set()
    assert {name for _, name, _ in SECONDS} <= set(DIMENSIONS)


def test_relevance_is_told_with_median_range_and_components():
    held = [entry("BSML+ARD", 6, (loss, 0.5, 0.5, 0.5), f"random {i}", bound, active)
            for i, (loss, bound, active) in enumerate([(0.13, -9.0, 4), (0.14, -7.0, 3), (0.15, -8.0, 3)])]  # fmt: skip
    told = next(each for each in claims({"scene": held}) if each["published"].startswith("BSML+ARD"))
    assert told["ours"] == (
        "3 starts: median 0.1400, 0.1300 to 0.1500; components in use: 3 in 2, 4 in 1; largest bound: 0.1400, 3 in use"
    )
    assert told["came_out"] is True and "3 dimensions" in told["published"]


def test_smaller_fits_do_not_stand_in_for_whole_ones_that_failed():
    held = [entry("BSML", 2, BEST), entry("BSML", 6, None)]
    assert whole(held, "BSML") == []
    told = claims({"emotions": held})[0]
    assert told["came_out"] is None and told["ours"] == "no fit finished"
