"""Wrong arguments to all public functions: the error is one of arguments, and names the called function."""

import contextlib
import importlib
import inspect
import re
import types
import warnings
import zlib

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, tree_util
from pycompiler.mlir import ir
from pycompiler.scipy import special

ROOMS = (
    *("", "numpy", "numpy.linalg", "numpy.fft", "lax", "lax.linalg", "random", "nn", "nn.initializers"),
    *("scipy.linalg", "scipy.special", "scipy.stats", "scipy.signal", "tree", "tree_util", "flatten_util"),
    *("sharding", "export", "debug", "dtypes", "experimental", "ad_checkpoint", "stablehlo", "profiler"),
    "experimental.checkify",
    *("scipy.cluster.vq", "scipy.fft", "scipy.integrate", "scipy.ndimage", "scipy.optimize", "scipy.sparse.linalg"),
    "image",
    *(
        f"scipy.stats.{name}"
        for name in ("norm", "poisson", "truncnorm", "dirichlet", "multinomial", "multivariate_normal")
    ),
    *("ops", "custom_batching", "custom_derivatives", "dlpack", "test_util"),
)
# They take any object, write files, wait for a terminal, or change the whole process.
OPEN = {
    *("numpy.save", "numpy.savez", "numpy.savetxt", "numpy.load", "numpy.loadtxt", "numpy.fromfile"),
    *("numpy.printoptions", "numpy.set_printoptions", "debug.breakpoint", "clear_caches"),
    *("numpy.array_repr", "numpy.array_str"),  # NumPy's own
    *("profiler.start_trace", "profiler.stop_trace", "profiler.trace", "profiler.start_server"),
    *("profiler.save_device_memory_profile", "print_environment_info", "debug.visualize_sharding"),
}
OF_ARGUMENTS = (TypeError, ValueError, IndexError, KeyError, OverflowError, NotImplementedError)
# Further errors about arguments: an unbound axis name, more memory than the machine has.
OTHERS = {
    "numpy.from_dlpack": BufferError,  # the protocol's error
    "dlpack.from_dlpack": BufferError,
    "stablehlo.to_array": ir.MLIRError,
    "stablehlo.load": ir.MLIRError,
    # As in JAX: a padding, an unknown platform.
    **dict.fromkeys(["lax.conv_shape_tuple", "lax.padtype_to_pads", "devices", "local_devices"], RuntimeError),
    **dict.fromkeys(["device_count", "local_device_count", "process_count", "process_index"], RuntimeError),
    **dict.fromkeys(["host_count", "host_id", "host_ids", "process_indices"], RuntimeError),
}
# They call their arguments, which fail with their own messages.
CALLING = {
    "ad_checkpoint.print_saved_residuals",
    "lax.map",
    "experimental.io_callback",
    "pure_callback",
    "debug.callback",
}
X = pnp.ones((2, 3))


@pytest.fixture(scope="module", autouse=True)
def no_failures_are_left():
    """A barrier of a later test would raise the errors of callbacks that were called with wrong arguments."""
    yield
    with contextlib.suppress(Exception):
        pc.effects_barrier()


def wrong_values():
    return {
        "nothing": None,
        "a string": "a",
        "an object": object(),
        "-1": -1,
        "far below": -(10**9),
        "more than 64 bits": 2**70,
        "nan": float("nan"),
        "no dimensions": pnp.asarray(1.5),
        "five dimensions": pnp.ones((1, 2, 1, 2, 1)),
        "another shape": pnp.ones((4, 5)),
        "another length": pnp.ones((7,)),
        "bools": pnp.asarray([True, False]),
        "complex numbers": X * 1j,
        "float0": np.zeros((3,), pc.float0),
        "strings": np.array(["a", "b"]),
        "objects": np.array([None, object()], dtype=object),
        "a dict": {"a": X},
        "a nest": [[1], [2, 3]],
        "a mixed tuple": (2, "b"),
        "an empty tuple": (),
        "a class": type("Given", (), {}),
        "a function": len,
    }


def functions(room):
    module = importlib.import_module(f"pycompiler.{room}".rstrip("."))
    for name in module.__all__:
        function = getattr(module, name)
        is_function = callable(function) and not isinstance(function, type | types.GenericAlias)
        if is_function and f"{room}.{name}".lstrip(".") not in OPEN:
            yield name, function


def calls(function):
    """[(the fault, positional, keywords)]: each argument in turn, all at once, and unknown ones."""
    parameters = list(inspect.signature(function).parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    kinds = {p.kind for p in parameters}
    needed = len([p for p in positional if p.default is p.empty])
    given = [X] * (needed or inspect.Parameter.VAR_POSITIONAL in kinds)
    for what, wrong in wrong_values().items():
        for place in range(len(given)):
            yield f"{what} at {place}", [*given[:place], wrong, *given[place + 1 :]], {}
        if len(given) > 1:
            yield f"only {what}", [wrong] * len(given), {}
        for p in parameters:
            if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.default is not p.empty and p.name[0] != "_":
                yield f"{p.name}= {what}", given, {p.name: wrong}
    if needed:
        yield "none at all", [], {}
        yield "one less", given[:-1], {}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        yield "an unknown keyword", given, {"unheard_of": 1}
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        yield "too many", [X] * (len(positional) + 1), {}


def fault(room, name, function, args, kwargs):
    """The fault in the error of a call, if there is one."""
    full = f"{room}.{name}".lstrip(".")
    try:
        for x in tree_util.tree_leaves(function(*args, **kwargs)):
            if isinstance(x, pc.Array):
                x.block_until_ready()
    except (NameError, MemoryError):
        return None
    except Exception as error:
        if not isinstance(error, (*OF_ARGUMENTS, OTHERS.get(full, TypeError))):
            return f"{type(error).__name__}: {error}"
        if full in OTHERS and not isinstance(error, OF_ARGUMENTS):
            return None
        opening = rf"([a-z_]+\.)*({re.escape(name)}|{re.escape(function.__name__)})\b"
        if not re.match(opening, str(error)) and full not in CALLING:
            return f"{type(error).__name__}: {error}"
    return None


def faults(room, share):
    """The faults of all calls of a room's functions; of one in `share` of them."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, function in functions(room):
            for what, args, kwargs in calls(function):
                if zlib.crc32(f"{name} {what}".encode()) % share == 0:
                    wrong = fault(room, name, function, args, kwargs)
                    found += [f"{name}, {what}: {wrong}"] if wrong else []
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_the_errors_of_every_function_name_it(room):
    assert faults(room, 7) == []


@pytest.mark.full
@pytest.mark.parametrize("room", ROOMS)
def test_every_error_of_every_function_names_it(room):
    assert faults(room, 1) == []


CALLS = {
    "tri": lambda: pnp.tri("a"),
    "zeros": lambda: pnp.zeros((2**32, 2**32, 0)),
    "diag_indices": lambda: pnp.diag_indices(X),
    "hfft": lambda: pnp.fft.hfft((2, 3)),
    "tree_unflatten": lambda: tree_util.tree_unflatten((1,), [1]),
    "tree_transpose": lambda: pc.tree.transpose(1, None, X),
    "tree_flatten": lambda: pc.tree.flatten(X, 3),
    "logsumexp": lambda: special.logsumexp("a"),
    "collapse": lambda: lax.collapse(X, "a"),
    "pad": lambda: lax.pad(X, 0.0, 1),
    "conv_general_permutations": lambda: lax.conv_general_permutations((1, 2, 3)),
    "hessian": lambda: pc.hessian(3),
    "visualize": lambda: pc.visualize("a"),
    "make_mesh": lambda: pc.make_mesh("a", ("x",)),
    "add": lambda: pnp.add(np.zeros(3, pc.float0), 1),
    "sort": lambda: pnp.sort(X, axis=np.array(["a"])),
    "array_split": lambda: pnp.array_split(X, 2**70),
    "csd": lambda: pc.scipy.signal.csd(X, pnp.float32(1)),
    "deserialize": lambda: pc.export.deserialize("a"),
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
    for called in (lambda f: pnp.apply_along_axis(f, 0, X), lambda f: pc.vjp(f, X), lambda f: pc.eval_shape(f, X)):
        with pytest.raises(ValueError, match=r"^add: shapes do not broadcast"):
            called(lambda x: x + pnp.ones(7))

    def refuse(x):
        raise ValueError("mine: no")

    for called in (lambda: pnp.apply_along_axis(refuse, 0, X), lambda: pc.vjp(refuse, X), lambda: lax.map(refuse, X)):
        with pytest.raises(ValueError, match=r"^mine: no"):
            called()


def test_trees_keep_what_stands_for_an_array_or_a_number():
    class Stands:
        def __jax_array__(self):
            return X

    one = Stands()
    assert pc.tree.leaves([one]) == [one]
    assert tree_util.tree_flatten((one,))[0][0] is one
    assert pc.tree.map(lambda x: x, (one,))[0] is one


def test_a_flag_may_be_whatever_is_true():
    np.testing.assert_array_equal(pnp.sort(pnp.array([2, 1]), stable=1), [1, 2])
    np.testing.assert_array_equal(pnp.argsort(pnp.array([2, 1]), stable="yes"), [1, 0])


def test_no_float_has_so_many_decimals():
    x = pnp.float32([1.2345, -7])
    for decimals in (39, 400, 2**70):
        np.testing.assert_array_equal(pnp.round(x, decimals), x)


def test_advice_for_a_shift_can_be_followed():
    with pytest.raises(TypeError, match=r"^roll: .*convert it by int\(\)"):
        pnp.roll(X, 1.5)
    with pytest.raises(TypeError, match=r"^roll: .*convert it by \.astype\(int\)"):
        pnp.roll(X, pnp.float32(1.5))
    with pytest.raises(TypeError, match=r"^roll: takes arrays and scalars"):
        pnp.roll(X, "ab")
    assert pnp.roll(pnp.arange(3), pnp.float32(1.5).astype(int)).tolist() == [2, 0, 1]
