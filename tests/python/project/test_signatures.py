"""Public functions have jax's parameters: names, kinds, defaults; signatures.txt lists the differences."""

import enum
import importlib
import inspect
import pathlib
from inspect import ismodule

import jax
import pytest

from pycompiler import Array
from pycompiler.scipy import stats

MODULES = [
    *("", "numpy", "numpy.linalg", "numpy.fft", "lax", "lax.linalg", "nn", "nn.initializers", "random", "tree"),
    *("tree_util", "scipy.special", "scipy.linalg", "scipy.stats", "scipy.signal", "profiler"),
    *("debug", "experimental", "experimental.checkify", "export"),
    *("image", "example_libraries.optimizers"),
    *("scipy.cluster.vq", "scipy.fft", "scipy.integrate", "scipy.ndimage", "scipy.optimize", "scipy.sparse.linalg"),
    *(f"scipy.stats.{name}" for name, module in vars(stats).items() if name in stats.__all__ and ismodule(module)),
    *("experimental.compilation_cache.compilation_cache", "experimental.jet", "experimental.layout"),
    *("experimental.mesh_utils", "experimental.multihost_utils", "experimental.ode", "experimental.shard_map"),
    *("experimental.sparse", "experimental.custom_partitioning"),
    *("api_util", "custom_batching", "custom_derivatives", "dlpack", "dtypes"),
    *("ad_checkpoint", "ffi", "flatten_util", "monitoring", "ops", "ref", "stages", "test_util"),
    *("extend.core", "extend.linear_util", "extend.source_info_util"),
    *("interpreters.ad", "interpreters.batching", "interpreters.mlir", "interpreters.partial_eval", "interpreters.xla"),
]
TABLE = pathlib.Path(__file__).with_name("signatures.txt")


def exceptions():
    """{name: parameters that are not compared}; the name * stands for every function, the parameter * for all."""
    table = {}
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            names, _, parameters = line.partition(":")
            for name in names.split():
                table.setdefault(name, set()).update(parameters.split())
    return table


def pairs():
    for module in MODULES:
        try:
            ours = importlib.import_module(f"pycompiler.{module}".rstrip("."))
        except ModuleNotFoundError:
            continue
        theirs = importlib.import_module(f"jax.{module}".rstrip("."))
        for name in sorted(getattr(ours, "__all__", vars(ours))):
            pair = getattr(ours, name), getattr(theirs, name, None)
            if all(callable(one) for one in pair):
                yield f"{module}.{name}".lstrip("."), *pair


PAIRS = {name: (ours, theirs) for name, ours, theirs in pairs()}
EXCEPTIONS = exceptions()


def parameters(function, left_out):
    """[(name, kind, default)], without private parameters and parameters that can't be passed by name."""
    return [
        ("" if one.kind is one.POSITIONAL_ONLY else one.name, one.kind.name, one.default)
        for one in inspect.signature(function).parameters.values()
        if one.name not in left_out and not one.name.startswith("_")
    ]


def same_default(ours, theirs):
    if inspect.Parameter.empty in (ours, theirs):
        return ours is theirs
    if isinstance(theirs, enum.Enum):
        return getattr(ours, "name", ours) in (theirs, theirs.value, theirs.name)
    # The marker for a missing argument is the package's own.
    return ours == theirs or (type(ours) is not type(theirs) and type(theirs).__module__.startswith("jax"))


@pytest.mark.parametrize("name", PAIRS)
def test_parameters(name):
    left_out = EXCEPTIONS["*"] | EXCEPTIONS.get(name, set())
    if "*" in left_out:
        return
    ours, theirs = (parameters(function, left_out) for function in PAIRS[name])
    assert [one[:2] for one in ours] == [one[:2] for one in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        assert same_default(mine[2], other[2]), (mine, other)


def test_every_exception_is_of_a_function_that_is_there():
    methods = {f"Array.{name}" for name in dir(Array)}
    assert set(EXCEPTIONS) - {"*"} <= set(PAIRS) | methods


def test_the_methods_of_arrays_have_the_parameters_of_jax():
    differing = []
    for name in dir(jax.Array):
        theirs, ours = getattr(jax.Array, name), getattr(Array, name, None)
        if name.startswith("_") or not inspect.isfunction(theirs) or not callable(ours):
            continue
        # Except the array itself, and parameters of functions that jax's methods lack.
        left_out = EXCEPTIONS["*"] | EXCEPTIONS.get(f"Array.{name}", set())
        _, *mine = parameters(ours, left_out)
        _, *other = parameters(theirs, left_out)
        names = [one[0] for one in other]
        if [one for one in mine if one[0] in names] != other:
            differing.append((name, mine, other))
    assert not differing
