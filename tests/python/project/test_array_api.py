"""The Array API standard 2024.12: names, parameters, special cases and dtypes, against its strict implementation."""

import inspect
import warnings

import array_api_strict as strict
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.config.config import enable_x64

strict.set_array_api_strict_flags(api_version="2024.12")

# Names of the strict namespace beyond the standard of 2024.12.
NOT_STANDARD = {"Device", "ArrayAPIStrictFlags", "__version__", "__array_api_version__", "isin", "broadcast_shapes"}
NAMES = [name for name in strict.__all__ if name not in NOT_STANDARD and "strict_flags" not in name]
EXTENSIONS = {"linalg": strict.linalg.__all__, "fft": strict.fft.__all__}
FUNCTIONS = [
    *((pnp, strict, name) for name in NAMES if inspect.isfunction(getattr(strict, name))),
    *(
        (getattr(pnp, module), getattr(strict, module), name)
        for module, names in EXTENSIONS.items()
        for name in names
        if inspect.isfunction(getattr(getattr(strict, module), name))
    ),
]


def test_every_name_is_there():
    assert [name for name in NAMES if not hasattr(pnp, name)] == []
    for module, names in EXTENSIONS.items():
        assert [name for name in names if not hasattr(getattr(pnp, module), name)] == []


@pytest.mark.parametrize(("ours", "theirs", "name"), FUNCTIONS, ids=lambda x: x if isinstance(x, str) else "")
def test_parameters(ours, theirs, name):
    given = inspect.signature(getattr(ours, name)).parameters
    if any(p.kind is p.VAR_KEYWORD for p in given.values()):
        pytest.fail(f"{name} takes any keyword")
    positional = [p for p in given.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    is_variadic = any(p.kind is p.VAR_POSITIONAL for p in given.values())
    for i, p in enumerate(inspect.signature(getattr(theirs, name)).parameters.values()):
        if p.kind is p.POSITIONAL_ONLY:
            assert is_variadic or i < len(positional), f"{name} does not take {i + 1} positional arguments"
        elif p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            assert p.name in given, f"{name} has no parameter {p.name}"
            assert given[p.name].kind is not p.POSITIONAL_ONLY
            if p.default is not p.empty and name not in ("unique_all", "linspace"):
                assert given[p.name].default is not p.empty, f"{name}: {p.name} has no default"


FINITE = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.5, 3.0, 1e-30, -1e30]
SPECIAL = [*FINITE, np.inf, -np.inf, np.nan]
UNARY = [
    *[
        "abs",
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "ceil",
        "cos",
        "cosh",
        "exp",
        "expm1",
        "floor",
        "isfinite",
        "isinf",
        "isnan",
        "log",
        "log1p",
        "log2",
        "log10",
    ],
    *[
        "negative",
        "positive",
        "reciprocal",
        "round",
        "sign",
        "signbit",
        "sin",
        "sinh",
        "square",
        "sqrt",
        "tan",
        "tanh",
        "trunc",
    ],
]
BINARY = [
    *[
        "add",
        "atan2",
        "copysign",
        "divide",
        "equal",
        "floor_divide",
        "greater",
        "greater_equal",
        "hypot",
        "less",
        "less_equal",
        "logaddexp",
        "maximum",
    ],
    *["minimum", "multiply", "nextafter", "not_equal", "pow", "remainder", "subtract"],
]


def assert_close(got, want, name):
    want = np.asarray(want)
    got = np.asarray(got)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=4e-6 if want.dtype == np.float32 else 1e-14, atol=0, err_msg=name)
    if want.dtype.kind == "f":
        clear = ~np.isnan(want) & ((want != 0) | (name != "sign"))  # the sign of zero is the same zero, as in XLA
        np.testing.assert_array_equal(np.signbit(got)[clear], np.signbit(want)[clear], err_msg=name)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_cases_of_one_argument(dtype, compiled):
    with enable_x64(True), np.errstate(all="ignore"):
        x = np.array(SPECIAL, dtype)
        for name in UNARY:
            function = getattr(pnp, name)
            got = (pc.jit(function) if compiled else function)(x)
            assert_close(got, np.asarray(getattr(strict, name)(strict.asarray(x))), name)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_cases_of_two_arguments(dtype):
    with enable_x64(True), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a, b = (grid.reshape(-1) for grid in np.meshgrid(np.array(SPECIAL, dtype), np.array(SPECIAL, dtype)))
        for name in BINARY:
            got = getattr(pnp, name)(a, b)
            want = np.asarray(getattr(strict, name)(strict.asarray(a), strict.asarray(b)))
            if name in ("maximum", "minimum"):  # for zeros of both signs, either is right
                got, want = np.asarray(got) + 0.0, want + 0.0
            if name in ("floor_divide", "remainder"):  # the standard leaves these open where a division has no value
                fine = np.isfinite(a) & np.isfinite(b) & (b != 0) & (np.abs(a) < 1e6) & (np.abs(b) > 1e-6)
                got, want = np.asarray(got)[fine], want[fine]
            assert_close(got, want, name)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "uint32", "bool"])
def test_integers(dtype):
    x = np.array([0, 1, 2, 3, 5, 100], dtype)
    y = np.array([1, 2, 1, 3, 2, 7], dtype)
    names = ["bitwise_and", "bitwise_or", "bitwise_xor", "equal", "not_equal", "logical_and"]
    if dtype == "bool":
        names = [*names, "logical_or", "logical_xor"]
    else:
        names += ["add", "subtract", "multiply", "floor_divide", "remainder", "bitwise_left_shift", "less", "maximum"]
        names += ["bitwise_right_shift"]
    for name in names:
        if name.startswith("logical") and dtype != "bool":
            continue
        with np.errstate(all="ignore"):
            want = np.asarray(getattr(strict, name)(strict.asarray(x), strict.asarray(y)))
        assert_close(getattr(pnp, name)(x, y), want, name)


@pytest.mark.parametrize("kind", ["bool", "signed integer", "unsigned integer", "integral", "real floating", "numeric"])
def test_isdtype(kind):
    for name in ("bool", "int8", "uint16", "float32", "complex64"):
        assert pnp.isdtype(getattr(pnp, name), kind) == strict.isdtype(getattr(strict, name), kind)


def test_promotion_within_a_kind_is_the_standards():
    with enable_x64(True):
        for kind in ("signed integer", "unsigned integer", "real floating", "complex floating"):
            names = pnp.__array_namespace_info__().dtypes(kind=kind)
            for a in names:
                for b in names:
                    want = strict.result_type(getattr(strict, a), getattr(strict, b))
                    assert pnp.result_type(getattr(pnp, a), getattr(pnp, b)).name == str(want).split(".")[-1]


def test_statistics_and_sums():
    x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    for name in ("sum", "prod", "max", "min", "mean", "std", "var"):
        for axis in (None, 0, (0, 1)):
            for keepdims in (False, True):
                want = np.asarray(getattr(strict, name)(strict.asarray(x), axis=axis, keepdims=keepdims))
                np.testing.assert_allclose(getattr(pnp, name)(x, axis=axis, keepdims=keepdims), want, rtol=1e-6)
    np.testing.assert_allclose(pnp.std(x, correction=1), np.std(x, ddof=1), rtol=1e-6)
    np.testing.assert_array_equal(pnp.cumulative_sum(x, axis=1, include_initial=True), [[0, 1, 3, 6], [0, 4, 9, 15]])
    assert pnp.sum(np.ones(3, np.int8)).dtype == np.int32


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod", "sum", "prod"])
def test_narrow_integers_are_added_and_multiplied_in_the_default_type(name):
    with enable_x64(True):
        for dtype in ("int8", "uint8", "int32", "uint32", "int64", "uint64"):
            x = np.array([1, 2, 3], dtype)
            want = np.asarray(getattr(strict, name)(strict.asarray(x)))
            got = getattr(pnp, name)(x)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


def test_diagonals_beside_any_matrix():
    for k in (2**31, -(2**31), 10**30, -(10**30), 2, 3, -2, -3):
        bounded = max(-9, min(k, 9))
        np.testing.assert_array_equal(pnp.eye(2, 3, k=k), np.eye(2, 3, k=bounded))
        np.testing.assert_array_equal(pnp.tri(2, 3, k=k), np.tri(2, 3, k=bounded))
        x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
        for name in ("tril", "triu"):
            np.testing.assert_array_equal(getattr(pnp, name)(x, k=k), getattr(np, name)(x, k=bounded))
            indices = getattr(pnp, f"{name}_indices")(2, k, 3)
            np.testing.assert_array_equal(indices, getattr(np, f"{name}_indices")(2, bounded, 3))
        np.testing.assert_array_equal(pnp.diagonal(x, k), np.diagonal(x, bounded))
        assert float(pnp.linalg.trace(x, offset=k)) == np.trace(x, bounded)


def test_slices_by_arrays_of_one_element():
    x = pnp.arange(6)
    assert x[0 : pnp.array(2)].tolist() == [0, 1]
    assert x[pnp.array(1) : np.int64(5) : np.uint8(2)].tolist() == [1, 3]


def test_sets():
    x = np.array([3, 1, 3, 2], np.int32)
    values, indices, inverse, counts = pnp.unique_all(x)
    np.testing.assert_array_equal(values, [1, 2, 3])
    np.testing.assert_array_equal(indices, [1, 3, 0])
    np.testing.assert_array_equal(inverse, [2, 0, 2, 1])
    np.testing.assert_array_equal(counts, [1, 1, 2])
    assert pnp.unique_counts(x).counts.tolist() == [1, 1, 2]
    assert pnp.unique_inverse(x).inverse_indices.tolist() == [2, 0, 2, 1]
    assert pnp.unique_values(x).tolist() == [1, 2, 3]


def test_methods_and_attributes_of_arrays():
    x = pnp.asarray([[1.0, 2.0], [3.0, 4.0]])
    for name in ("dtype", "device", "mT", "ndim", "shape", "size", "T", "to_device", "__array_namespace__"):
        assert hasattr(x, name)
    operators = (
        "abs add and bool complex dlpack dlpack_device eq float floordiv ge getitem gt index int invert le lshift"
    )
    operators += " lt matmul mod mul ne neg or pos pow rshift setitem sub truediv xor"
    for name in operators.split():
        assert hasattr(x, f"__{name}__")
    assert x[x > 2].tolist() == [3, 4]


def test_a_program_that_knows_only_the_standard():
    def standardized(x):
        xp = x.__array_namespace__()
        x = xp.astype(x, xp.float32)
        mean = xp.mean(x, axis=0, keepdims=True)
        spread = xp.std(x, axis=0, keepdims=True, correction=0.0)
        z = (x - mean) / xp.where(spread > 0, spread, xp.ones_like(spread))
        return xp.linalg.vector_norm(z, axis=-1), xp.permute_dims(z, (1, 0))

    values = np.arange(12).reshape(4, 3) ** 2
    norms, flipped = standardized(pnp.asarray(values))
    want_norms, want_flipped = standardized(strict.asarray(values))
    np.testing.assert_allclose(norms, np.asarray(want_norms), rtol=1e-5)
    np.testing.assert_allclose(flipped, np.asarray(want_flipped), rtol=1e-5, atol=1e-6)
