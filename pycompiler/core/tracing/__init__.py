"""Primitives, tracers, graphs and their recording. Imports `types`; `mesh` and `batching` import this folder."""
