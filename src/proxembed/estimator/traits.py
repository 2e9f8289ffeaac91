"""Traits: the facts about an estimator that fits, searches and pages depend on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """The keywords of a class statement; ``Estimator.traits`` adds what follows from parameters and methods."""

    labels: str | None = None  # what y must be: None (ignored), "single" (one class per row) or "multi"
    keeps_unknown: bool = False  # rows with unknown labels take part in fit
    whole_rows: bool = False  # of the rows that fit keeps, those with an unknown cell are unlabelled
    takes_shares: bool = False  # the cells of Y may be shares from 0 to 1, such as means of labels
    unknown: str = "drop"  # of those that take shares: the rule for unknown cells, see ``complete_parameters``
    takes_numbers: bool = False  # y may hold numbers, ranks, and columns of several kinds
    takes_counts: bool = False  # y may hold numbers of at least 0, which are weights of labels
    numbers_scaling: str = "template"  # what scaling="auto" is where y holds numbers
    scales: bool = False  # it scales for itself, and takes the features as they are
    each_size: bool = False  # the first k of more components are not the embedding of size k
    own_matrices: bool = False  # made of matrices of the user's own: no search draws it
    direct: bool = False  # it places the rows themselves
    combines: bool = False  # it is made of several methods, each of which is lifted by itself
    positive_only: bool = False  # by default all components of positive eigenvalue
    from_sums: str | None = None  # fits blocks from sums: of "rows", or once all "labels" are known; None: not at all
    needs_all_rows: str = "it links pairs of rows, or places the rows themselves"  # why not
    sample_rows: int = 0  # rows of a sample by which ``prepare`` learns what ``lift`` makes of all rows

    @property
    def fills_unknown(self) -> bool:
        """Whether fit uses every row with a known cell, and fills the unknown ones."""
        return self.takes_shares and self.unknown != "drop"
