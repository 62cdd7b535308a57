"""Primitives, tracers, graphs and how they are recorded. Above `types`; `mesh` and `batching` come after it."""
