"""The primitives that hold graphs or functions of the user: loops, branches, solvers, callbacks."""
