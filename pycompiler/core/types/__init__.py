"""Dtypes, abstract values and trees. Above `dims`; `tracing` comes after it."""
