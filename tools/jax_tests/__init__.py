"""Runs JAX's own tests on this package, under JAX's names. Prints passed, failed and uncounted tests by file.

    python tools/jax_tests CHECKOUT/tests                     # all files, the table on standard output
    python tools/jax_tests CHECKOUT/tests nn_test fft_test    # some
    python tools/jax_tests CHECKOUT/tests --failures failures.txt    # the tests that failed, too

CHECKOUT is JAX's repository at the version of `pycompiler/compat/version.py`. Each file runs in a process of its own,
by `python -m pycompiler.jax -m pytest`. The files import `jax._src`, which this package does not have. `stand_ins.py`
executes JAX's `test_util` from its source and gives the public names that `names.py` lists. All other names are
stand-ins for internal names of JAX. A test that uses such a name is not counted, and neither are the tests of
`not_counted.toml`.
"""
