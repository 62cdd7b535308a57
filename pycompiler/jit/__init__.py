"""Calls of compiled functions: `jit`, its options and stages, operators called by themselves, `pmap`. Above `spmd`."""
