"""ClassesOfRows: what MESD and Sliced share, a method for one class per row on classes made of its rows' labels or
numbers."""

from typing import Any, ClassVar

from proxembed.algebra.template import Template
from proxembed.estimator.base import Prepared, SpectralEmbedder
from proxembed.estimator.rows import Rows
from proxembed.estimator.wrapper import METHOD, TemplateWrapper, refuse_features
from proxembed.params import methods, param

from .fisher import FDA


class ClassesOfRows(TemplateWrapper, labels="multi", abstract=True):
    """A wrapper of a single-label method that runs on classes of its own. A subclass defines ``with_classes(rows)``,
    and says as ``task`` what it does."""

    task: ClassVar[str]

    method: SpectralEmbedder | None = param(
        default=None,
        like=METHOD,
        kw_only=False,
        search=methods("single"),
        doc="Any single-label method, Kernelized ones too; None: FDA().",
    )

    def with_classes(self, rows: Rows) -> Rows:
        """The rows with the classes that the method takes; the same object every time."""
        raise TypeError(f"{type(self).__name__} must define with_classes(rows).")

    def default_method(self) -> SpectralEmbedder:
        return FDA()

    def check_method(self, method: SpectralEmbedder, role: str | None = None) -> None:
        name = type(self).__name__
        refuse_features(name, method)
        if method.class_traits.direct:
            raise ValueError(
                f"{name} {self.task} with a projection, and {type(method).__name__} places the rows themselves. Use "
                "DirectMESD(TemplateEmbedder(...)), or a method with a projection."
            )
        if method.traits.labels != "single":
            raise ValueError(
                f"{name} {self.task}, and {type(method).__name__} already takes several labels per row (or none). Use "
                f"it as it is, or a method for one class per row, such as {name}(FDA())."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.inner().__sklearn_tags__().input_tags.pairwise
        return tags

    def natural_components(self, rows: Rows) -> int:
        rows = self.with_classes(rows)
        natural = self.method_.natural_components(rows)
        return natural if self.traits.positive_only else max(1, min(natural, rows.labels.c - 1))

    def check_rows(self, rows: Rows) -> None:
        self.method_.check_rows(self.with_classes(rows))

    def prepare(self, rows: Rows) -> Prepared:
        return super().prepare(self.with_classes(rows))

    def template(self, rows: Rows) -> Template:
        return self.method_.template(self.with_classes(rows))
