"""The eigenproblem of a template: its routes (thin, primal, dual, iterative), its ridge, its linear systems."""
