"""The data room: labelled files and built-in data in, one `Dataset` out."""

from proxembed.data.anndata import from_anndata
from proxembed.data.dataset import Dataset
from proxembed.data.errors import DataError
from proxembed.data.openml import fetch_openml_dataset
from proxembed.data.readers import read, read_rows, row_parts, size_of
from proxembed.data.readers.columns import Columns
from proxembed.data.row_batches import parquet_blocks
from proxembed.data.synthetic import banana, digits, swiss_roll, zipf_counts
from proxembed.data.text import text_counts

__all__ = [
    "Columns",
    "DataError",
    "Dataset",
    "banana",
    "digits",
    "fetch_openml_dataset",
    "from_anndata",
    "parquet_blocks",
    "read",
    "read_rows",
    "row_parts",
    "size_of",
    "swiss_roll",
    "text_counts",
    "zipf_counts",
]
