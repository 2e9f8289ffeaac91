"""Solvers on graphs: smallest eigenvectors, harmonic functions, systems that are not symmetric."""
