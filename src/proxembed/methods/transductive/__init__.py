"""Transductive methods: the labels of the labelled rows spread over a graph of all rows."""
