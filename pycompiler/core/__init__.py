"""Tracing, graphs and their interpreters. Before it: `_runtime` (avals, trees, the current trace); after it: `ops`."""
