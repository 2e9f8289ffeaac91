"""Names of the parts of a record that stand for a data set and a share of labelled rows."""

from __future__ import annotations

AT = " at "


def part_name(name: str, share: float | None = None) -> str:
    """The name of a part, as in the record and in the folder: the set, with its share of labelled rows if not all are.

    Examples
    --------
    >>> from papers.part_names import part_name
    >>> part_name("yeast"), part_name("yeast", 0.025)
    ('yeast', 'yeast at 2.5 %')
    """
    return name if share is None else f"{name}{AT}{100 * share:g} %"


def set_and_share(part: str) -> tuple[str, float | None]:
    """The set of a part and its share of labelled rows in per cent; None where its name holds no share.

    Examples
    --------
    >>> from papers.part_names import set_and_share
    >>> set_and_share("yeast at 2.5 %"), set_and_share("yeast")
    (('yeast', 2.5), ('yeast', None))
    """
    name, at, share = part.rpartition(AT)
    return (name, float(share.removesuffix(" %"))) if at else (part, None)
