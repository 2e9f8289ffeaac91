"""The catalogue: every registered estimator by name, with its role."""

from __future__ import annotations

from .base import ROLES, Estimator, registry


def estimators(*roles: str) -> dict[str, type[Estimator]]:
    """The registered estimators by class name, in alphabetical order; where roles are named, those of these roles.

    Raises
    ------
    ValueError
        An unknown role.

    Examples
    --------
    >>> from proxembed.catalogue import estimators
    >>> {"BSML", "MLGFHF", "MOPE", "DEFC"} <= set(estimators())
    True
    >>> list(estimators("search"))
    ['DEFC', 'EmbeddingSearch']
    """
    unknown = [role for role in roles if role not in ROLES]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no role of an estimator; the roles are {', '.join(ROLES)}.")
    return {name: cls for name, cls in registry().items() if not roles or cls.role in roles}
