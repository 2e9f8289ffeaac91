"""A table that is read a part at a time, so that its rows need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator

from proxembed.data.errors import DataError
from proxembed.data.readers.table_file import Block, TableFile


class PartsOfTable:
    """A table whose every reading goes on where the last one ended, with the next rows alone.

    Every reading asks for the same columns. Rows are counted from the first of the file in errors.

    Parameters
    ----------
    file : TableFile
    rows : int
        Rows of a part; more where the file gives larger blocks.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from proxembed.data.readers.table_file import open_table
    >>> from proxembed.data.readers.table_parts import PartsOfTable
    >>> file = pathlib.Path(tempfile.mkdtemp(), "t.csv")
    >>> size = file.write_text("x\\n1\\n2\\n")
    >>> table = PartsOfTable(open_table(file), 1)
    >>> [block.rows for block in table.blocks({"x": "number"})], table.ended
    ([2], True)
    """

    def __init__(self, file: TableFile, rows: int) -> None:
        self.path, self.names, self.typed, self.places = file.path, file.names, file.typed, file.places
        self.row_names = file.row_names
        self._file, self._most = file, rows
        self._blocks: Iterator[Block] | None = None
        self._next: Block | None = None
        self._before = self._taken = 0

    @property
    def ended(self) -> bool:
        """Whether all rows were read."""
        return self._blocks is not None and self._next is None

    def blocks(self, wanted: dict[str, str], most: int | None = None) -> Iterator[Block]:
        """The blocks of the next part."""
        if self._blocks is None:
            self._blocks = self._file.blocks(wanted, self._most)
            self._next = next(self._blocks, None)
        self._before, self._taken = self._before + self._taken, 0
        while self._next is not None and (not self._taken or self._taken + self._next.rows <= self._most):
            block, self._next = self._next, next(self._blocks, None)
            self._taken += block.rows
            yield block

    def place(self, row: int) -> str:
        return self._file.place(self._before + row)

    def fault(self, row: int | None, reason: str, remedy: str) -> DataError:
        return self._file.fault(None if row is None else self._before + row, reason, remedy)
