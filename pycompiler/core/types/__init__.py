"""Dtypes, abstract values and trees. Imports `dims`; `tracing` imports this folder."""
