"""Calls of compiled functions: `jit`, its options and stages, eager evaluation of operators, `pmap`. Imports `spmd`."""
