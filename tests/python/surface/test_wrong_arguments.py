"""Wrong arguments to every public function: the error is one of arguments, and opens with the function's name."""

import inspect
import re

import pytest

import pycompiler.numpy as pnp
import pycompiler.scipy.linalg as scipy_linalg
import pycompiler.scipy.signal as scipy_signal
import pycompiler.scipy.special as scipy_special
import pycompiler.scipy.stats as scipy_stats
from pycompiler import lax, nn, random, tree_util

ROOMS = (
    *(pnp, pnp.linalg, pnp.fft, lax, lax.linalg, random, nn, nn.initializers),
    *(scipy_linalg, scipy_special, scipy_stats, scipy_signal),
)
OF_ARGUMENTS = (TypeError, ValueError, IndexError, OverflowError, NotImplementedError)
X = pnp.ones((2, 3))
WRONG = {"a string": "a", "a tuple": (2, "b"), "a nest": [[1], [2, 3]], "an object": object()}
# They take anything, or files.
OPEN = {"save", "savez", "savetxt", "load", "loadtxt", "fromfile", "fromiter", "printoptions", "set_printoptions"}


def functions(room):
    for name in room.__all__:
        function = getattr(room, name)
        if inspect.isfunction(function) and name not in OPEN:
            yield name, function


def needed(function):
    return [
        p
        for p in inspect.signature(function).parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("first", [False, True], ids=["all wrong", "an array first"])
def test_the_errors_of_every_function_name_it(room, wrong, first):
    faults = []
    for name, function in functions(room):
        given = [WRONG[wrong]] * max(1, len(needed(function)))
        if first:
            given[0] = X
        if first and len(given) == 1:
            continue
        try:
            function(*given)
        except NameError:
            pass  # an axis name that nothing binds
        except Exception as error:
            opening = rf"({re.escape(name)}|{re.escape(function.__name__)})\b"
            # Of padding by a word that is none, as JAX has it.
            if type(error) is RuntimeError and str(error).startswith("padtype_to_pads: padding must be"):
                continue
            if not (isinstance(error, OF_ARGUMENTS) and re.match(opening, str(error))):
                faults.append(f"{name}: {type(error).__name__}: {error}")
    assert faults == []


CALLS = {
    "tri": lambda: pnp.tri("a"),
    "zeros": lambda: pnp.zeros((2**32, 2**32, 0)),
    "diag_indices": lambda: pnp.diag_indices(X),
    "hfft": lambda: pnp.fft.hfft((2, 3)),
    "tree_unflatten": lambda: tree_util.tree_unflatten((1,), [1]),
    "logsumexp": lambda: scipy_special.logsumexp("a"),
    "collapse": lambda: lax.collapse(X, "a"),
    "pad": lambda: lax.pad(X, 0.0, 1),
    "conv_general_permutations": lambda: lax.conv_general_permutations((1, 2, 3)),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_inner_function_is_named(name):
    with pytest.raises(OF_ARGUMENTS, match=f"^{name}: "):
        CALLS[name]()


def test_the_users_own_calls_keep_their_names():
    with pytest.raises(TypeError, match=r"^hfft: takes arrays"):
        pnp.apply_along_axis(lambda x: pnp.fft.hfft("a"), 0, X)
    with pytest.raises(TypeError, match=r"^sum\(\) missing 1 required"):
        pnp.sum()


def test_advice_for_a_shift_can_be_followed():
    with pytest.raises(TypeError, match=r"^roll: .*convert it by int\(\)"):
        pnp.roll(X, 1.5)
    with pytest.raises(TypeError, match=r"^roll: .*convert it by \.astype\(int\)"):
        pnp.roll(X, pnp.float32(1.5))
    with pytest.raises(TypeError, match=r"^roll: takes arrays and scalars"):
        pnp.roll(X, "ab")
    assert pnp.roll(pnp.arange(3), pnp.float32(1.5).astype(int)).tolist() == [2, 0, 1]
