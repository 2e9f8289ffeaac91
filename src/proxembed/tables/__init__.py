"""Tables before anything is learned from them: what each column holds, and its cells as plain arrays."""

from .column import CellError, Column
from .frames import coded
from .raw_rows import RawRows
from .reading import Owners, Reading, owners, read_columns
from .rows import TableRows

__all__ = ["CellError", "Column", "Owners", "RawRows", "Reading", "TableRows", "coded", "owners", "read_columns"]
