"""What tracing, differentiating and lowering cost, in calls of functions: the count does not depend on the machine."""

import sys
import warnings

import pycompiler as pc
import pycompiler.numpy as pnp


def calls_of(function):
    count = 0

    def counted(frame, event, arg):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def lowered(length):
    def chain(x):
        for _ in range(length):
            x = pnp.sin(x) * 1.01
        return x

    return pc.jit(pc.grad(chain)).lower(1.0).compiler_ir()


def test_calls_for_an_operation_are_few_and_as_many_in_a_long_program():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lowered(10)  # loads the compiler, meets each kind of operation
        short, long = (calls_of(lambda length=length: lowered(length)) for length in (100, 1100))
    # An operation and its number: traced, linearized, transposed, pruned, emitted. They were 489 when this was written.
    each = (long - short) / 1000
    assert each < 600
    assert short < 100 * each + 5000
