"""What a file format is to the package: suffixes, labelled files and new rows; the formats by their suffixes."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from proxembed.data.dataset import Dataset, Matrix
from proxembed.data.readers.columns import Columns
from proxembed.data.readers.table_features import Feature
from proxembed.data.unpacking import is_packed
from proxembed.tables import TableRows

PACKED = 5  # times the bytes of a packed file
PART = re.compile(r"[-_](train|test)$", re.IGNORECASE)
SAME_COLUMNS = "give a file with the features that the model was fitted on, in their order"
Labels = str | Path | Sequence[str]
NamedRows = tuple[Matrix | TableRows, tuple[str, ...] | None]


class Reader(ABC):
    """A file format: `read` for labelled files, `read_rows` for new rows in the columns of a training file."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    accepts: ClassVar[str]
    place: ClassVar[int] = 100
    takes_columns: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for suffix in cls.suffixes:
            if suffix in READERS:
                raise TypeError(f"{cls.__name__} reads {suffix}, as {type(READERS[suffix]).__name__} does.")
        READERS.update(dict.fromkeys(cls.suffixes, cls()))

    @abstractmethod
    def read(self, path: Path, test: Path | None, labels: Labels | None, columns: Columns) -> Dataset:
        """Data set of a file, or of a training and a test file of this format; see `proxembed.data.read`."""

    @abstractmethod
    def read_rows(self, path: Path, source: dict[str, Any]) -> NamedRows:
        """Features of new rows, and their ids or None; see `proxembed.data.read_rows`, which checks their width."""

    def row_parts(self, path: Path, source: dict[str, Any], rows: int) -> Iterator[NamedRows]:
        """The same in parts of about ``rows`` rows; a format that is read as a whole gives one part."""
        yield self.read_rows(path, source)

    def size(self, path: Path) -> tuple[int, int | None]:
        """About how many bytes the rows of a file take in memory, and how many rows there are, None where unknown."""
        return (PACKED if is_packed(path) else 1) * path.stat().st_size, None

    def source(self, data: Dataset) -> dict[str, Any]:
        """What `read_rows` must know of a training file: its format, number of features, and their names if any."""
        if data.source is not None:
            return data.source
        found = source_by_name(self.name, data)
        return {key: found[key] for key in ("format", "n_features")} if _unnamed(data) else found


READERS: dict[str, Reader] = {}


def source_by_name(format: str, data: Dataset) -> dict[str, Any]:
    """The source of a file that names its features."""
    return {"format": format, "n_features": data.X.shape[1], "names": list(data.feature_names)}


def numbered(d: int) -> list[str]:
    """The names of d features of an array without names."""
    return [f"x{j}" for j in range(d)]


def _unnamed(data: Dataset) -> bool:
    return list(data.feature_names) == numbered(len(data.feature_names))


def readers() -> list[Reader]:
    """Every format once, in the order of the list of accepted formats."""
    return sorted(dict.fromkeys(READERS.values()), key=lambda reader: reader.place)


def feature_names(source: dict[str, Any]) -> list[str] | None:
    """Names of the features of a training file; None where it had none."""
    if "columns" in source:
        return [facts["name"] for facts in source["columns"]]
    if source.get("format") == "table":
        return [name for facts in source["features"] for name in Feature.of(facts).names]
    return source.get("names")


def width(source: dict[str, Any]) -> int | None:
    """Number of features of a training file; None if its source does not state it."""
    names = feature_names(source)
    return source.get("n_features") if names is None else len(names)
