"""Symbolic dimensions: polynomials, their bounds, and sizes from the shapes of a call. After `config`; `types` imports it."""
