"""The primitives with graphs or functions of the user: loops, branches, solvers, callbacks."""
