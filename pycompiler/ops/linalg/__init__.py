"""Decompositions of matrices, behind which LAPACK stands; `rules` is what their entries are made of."""
