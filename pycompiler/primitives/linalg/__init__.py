"""Decompositions of matrices by LAPACK. `rules` has the helpers of their entries."""
