"""DEFC: the search over the switches and parameters of the adaptive model."""
