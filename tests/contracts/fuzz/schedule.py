"""Which cases are run: sweeps of every estimator over every kind of X, of y and of parameter, and random draws."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice

import numpy as np

from contracts.estimators import kind, public

from . import features, settings, targets
from .case import Case

CALLS = (
    "explain(True)",
    "explain(-1)",
    "explain(0, -1)",
    "explain(0, True)",
    "explain(0, 3, -1)",
    "explain(0, 3, True)",
    "explain(nan)",
    "explain(None)",
    "explain('0')",
    "explain(0.5)",
    "explain([0])",
    "explain(10**400)",
    "explain(0, 10**400)",
    "explain(np.int64(0))",
    "explain(0, 0, 0)",
    "truncate(True)",
    "truncate(0)",
    "truncate(-1)",
    "truncate('0')",
    "truncate(nan)",
    "truncate(None)",
    "truncate(0.5)",
    "truncate(10**400)",
    "truncate(np.int8(1))",
    "transform(None)",
    "predict(None)",
    "predict_proba(None)",
    "decision_function(None)",
    "get_feature_names_out(['a'])",
    "set_output(transform='pandas')",
    "set_output(transform='nothing')",
    "score(None, None)",
)
STRANGE_VALUES = [name for name in features.VALUES if name != "plain"]


def _acceptable(labels: str) -> list[str]:
    """The forms of labels of a kind that say something."""
    return [form for form in targets.forms(labels) if not targets.target(labels, form, 12, 0).refused]


PLAIN = {"classes": ("plain classes", "plain"), "sets": ("plain sets", "indicator")}
FORMS = {name: _acceptable(labels) for name, (labels, _) in PLAIN.items()}
BAD_FORMS = {
    name: [form for form in targets.forms(labels) if form not in FORMS[name]] for name, (labels, _) in PLAIN.items()
}


def plain(cls: type, seed: int, **changes) -> Case:
    """A plain case of the labels that an estimator takes."""
    labels, form = PLAIN["classes" if kind(cls) == "single" else "sets"]
    return Case(cls.__name__, labels=labels, form=form, seed=seed).with_(**changes)


def families(cls: type) -> list[str]:
    """Which labels an estimator takes: classes, and sets where it takes several labels per row."""
    return {None: [], "single": ["classes"], "multi": ["classes", "sets"]}[kind(cls)]


def sweep(cls: type, seed: int = 0) -> Iterator[tuple[Case, int]]:
    """Every kind of X, y and parameter for one estimator, each with the number of laws that are drawn for it."""
    yield plain(cls, seed), 20
    yield from ((case, 0) for case in _stored(cls, seed))
    yield from ((case, 0) for case in _refused(cls, seed))
    yield from ((case, 1) for case in _strange(cls, seed))
    for name in settings.parameters(cls):
        tried = settings.odd(cls, name)
        start = sum(map(ord, cls.__name__ + name)) + seed
        for expression in sorted({tried[(start + step * 17) % len(tried)] for step in range(3)}):
            yield plain(cls, seed, params=((name, expression),)), 1
    yield from ((plain(cls, seed, at=call), 0) for call in CALLS if hasattr(cls, call.partition("(")[0]))


def _stored(cls: type, seed: int) -> Iterator[Case]:
    """Every acceptable storage of X beside every acceptable form of y; then every storage of new rows."""
    case = plain(cls, seed)
    forms = [(PLAIN[name][0], form) for name in families(cls) for form in FORMS[name]] or [(case.labels, case.form)]
    place = [other.__name__ for other in public()].index(cls.__name__) if cls in public() else 0
    for i in range(max(len(forms), len(features.ACCEPTABLE))):
        labels, form = forms[(i + place) % len(forms)]
        yield case.with_(storage=features.ACCEPTABLE[i % len(features.ACCEPTABLE)], labels=labels, form=form)
    for storage in features.STORAGES:
        yield case.with_(at="transform", storage=storage)


def _refused(cls: type, seed: int) -> Iterator[Case]:
    case = plain(cls, seed)
    for storage in features.REFUSED:
        yield case.with_(storage=storage)
    for name in families(cls):
        for form in BAD_FORMS[name]:
            yield case.with_(labels=PLAIN[name][0], form=form)


def _strange(cls: type, seed: int) -> Iterator[Case]:
    """Every kind of values beside every kind of labels, of several sizes and in the commonest storages and forms."""
    rng = np.random.default_rng([seed, *map(ord, cls.__name__)])
    kinds = [labels for name in families(cls) for labels in getattr(targets, name.upper())] or ["plain sets"]
    for i, values in enumerate(STRANGE_VALUES):
        labels = next(islice(cycle(kinds), i, None))
        forms = FORMS["classes" if labels in targets.CLASSES else "sets"]
        yield Case(
            cls.__name__,
            values=values,
            storage=str(rng.choice(["array", "array", "csr", "float32"])),
            labels=labels,
            form=str(rng.choice(forms[:2])),
            n=int(rng.choice([2, 3, 5, 12, 20, 40])),
            d=int(rng.choice([1, 2, 5, 9, 30])),
            seed=seed,
        )


def draws(seed: int) -> Iterator[tuple[Case, int]]:
    """Random cases without end."""
    rng = np.random.default_rng(seed)
    every = public()
    while True:
        cls = every[rng.integers(len(every))]
        number = int(rng.integers(2**31))
        yield _drawn(cls, number, rng), 4


def _drawn(cls: type, seed: int, rng: np.random.Generator) -> Case:
    """A case with one kind of oddity: parameters, storage, form, new rows or calls; or none but values and labels."""
    n, d = int(rng.choice([2, 3, 4, 6, 12, 20, 30, 40])), int(rng.choice([1, 2, 3, 5, 9, 30]))
    case = plain(cls, seed, n=n, d=d)
    names = families(cls)
    values = str(rng.choice(STRANGE_VALUES)) if rng.random() < 0.5 else "plain"
    case = case.with_(values=values, params=_ordinary(cls, rng) if rng.random() < 0.6 else ())
    if names:
        name = str(rng.choice(names))
        labels = str(rng.choice(list(getattr(targets, name.upper())))) if rng.random() < 0.5 else PLAIN[name][0]
        case = case.with_(labels=labels, form=str(rng.choice(FORMS[name])) if rng.random() < 0.5 else PLAIN[name][1])
    oddity = rng.random()
    if oddity < 0.35:
        return case.with_(storage=str(rng.choice(features.ACCEPTABLE)) if rng.random() < 0.5 else "array")
    if oddity < 0.6 and settings.parameters(cls):
        name = str(rng.choice(settings.parameters(cls)))
        return case.with_(values="plain", params=((name, str(rng.choice(settings.odd(cls, name)))),))
    if oddity < 0.75:
        return case.with_(storage=str(rng.choice(list(features.STORAGES))))
    if oddity < 0.85:
        labels, form = PLAIN["classes" if case.labels in targets.CLASSES else "sets"]
        return case.with_(at="transform", labels=labels, form=form, storage=str(rng.choice(list(features.STORAGES))))
    if oddity < 0.95 and names:
        name = str(rng.choice(names))
        return case.with_(labels=PLAIN[name][0], form=str(rng.choice(list(targets.forms(PLAIN[name][0])))))
    calls = [call for call in CALLS if hasattr(cls, call.partition("(")[0])]
    return plain(cls, seed, at=str(rng.choice(calls))) if calls else case


def _ordinary(cls: type, rng: np.random.Generator) -> tuple[tuple[str, str], ...]:
    """Up to three parameters at values that they allow."""
    names = [name for name in settings.parameters(cls) if settings.allowed(cls, name)]
    chosen = rng.choice(names, min(len(names), int(rng.integers(1, 4))), replace=False).tolist() if names else []
    return tuple((name, str(rng.choice(settings.allowed(cls, name)))) for name in chosen)
