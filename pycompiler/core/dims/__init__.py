"""Symbolic dimensions: polynomials, their bounds, and sizes from the shapes of a call. `types` imports it."""
