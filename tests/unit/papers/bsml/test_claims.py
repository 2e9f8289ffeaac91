"""Which random splits judge the sentences of the Bayesian paper."""

from papers.bsml.claims import draws_of
from papers.bsml.published import DRAW, DRAWS, EMOTIONS, FIRST_DRAWS, SCENE


def test_further_draws_are_judged_alone():
    """The first ones have chosen the set for further ones."""
    for data in (EMOTIONS, SCENE):
        parts = {DRAW.format(data, draw): [{"method": "BSML"}] for draw in range(1, DRAWS[data] + 1)}
        number, entries = draws_of(parts, data)
        first = FIRST_DRAWS.get(data, 0)
        assert number == len(entries) == DRAWS[data] - first and min(each["draw"] for each in entries) == first + 1
    assert FIRST_DRAWS[EMOTIONS] == 10 and SCENE not in FIRST_DRAWS
