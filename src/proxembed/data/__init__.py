"""The data room: labelled files and built-in data in, one `Dataset` out."""

from proxembed.data.builtin import digits
from proxembed.data.dataset import Dataset
from proxembed.data.errors import DataError
from proxembed.data.readers import read

__all__ = ["DataError", "Dataset", "digits", "read"]
