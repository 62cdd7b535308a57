"""Tracing, graphs and their interpreters. Imports `_runtime` (avals, trees, the current trace); `ops` imports it."""
