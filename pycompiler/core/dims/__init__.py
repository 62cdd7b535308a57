"""Dimensions that are symbols: polynomials, their bounds, sizes from the shapes of a call. Above `config`."""
