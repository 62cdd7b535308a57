"""Tracing, graphs and their interpreters. Imports `_runtime` (avals, trees, the current trace); `primitives` imports
this folder."""
