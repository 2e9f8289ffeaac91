"""The larger published data sets read from several formats give the same matrices."""

import pytest

from data import test_round_trips as smaller


def test_arff_equals_npz(data_folder):
    smaller.test_arff_equals_npz(data_folder, "tmc2007-500")


@pytest.mark.parametrize("name", ["scene", "satimage"])
def test_a_set_written_in_three_formats_reads_back_the_same(data_folder, tmp_path, name):
    smaller.test_a_set_written_in_three_formats_reads_back_the_same(data_folder, tmp_path, name)
