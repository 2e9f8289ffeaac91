"""The adaptive model of every merged switch vector."""

from identities.test_defc import assert_merged, merged_vectors


def test_all_merged_switch_vectors_are_the_same_model():
    assert_merged(merged_vectors())
