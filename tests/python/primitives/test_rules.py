"""All rules of all primitives, evaluated by the references: derivatives, transposes, batching, symbolic shapes."""

import zlib

import numpy as np
import pytest
from numpy_evaluator import by_reference

from pycompiler.core.dims.dims import Dim
from pycompiler.core.tracing.primitive import UndefinedPrimal, Zero
from pycompiler.core.types.aval import ShapedArray, get_aval
from pycompiler.primitives import DECOMPOSITIONS, PRIMITIVES, rules
from pycompiler.primitives.convolution import conv_params
from pycompiler.primitives.window import window_params

# Their parameters are graphs, whose dtypes do not follow those of the arguments: lax/test_control_flow.py, test_scan.py
# and test_cond.py test their rules.
NAMES = sorted(set(PRIMITIVES) - {"while", "scan", "cond"})
# The sets of arguments in which a primitive is linear; None: all together. A function of arguments and parameters if
# they determine the sets.
LINEAR = {
    "add": [(0, 1)],
    "sub": [(0, 1)],
    "neg": [(0,)],
    "mul": [(0,), (1,)],
    "div": [(0,)],
    "convert": [(0,)],
    "broadcast_in_dim": [(0,)],
    "reshape": [(0,)],
    "transpose": [(0,)],
    "reduce_sum": [(0,)],
    "slice": [(0,)],
    "pad": [(0, 1)],
    "concatenate": [None],
    "reverse": [(0,)],
    "select": [(1, 2)],
    "dot_general": [(0,), (1,)],
    "dynamic_slice": [(0,)],
    "dynamic_update_slice": [(0, 1)],
    "fft": [(0,)],
    "triangular_solve": [(1,)],
    "linear_solve": [(3,)],
    "tridiagonal_solve": [(3,)],
    "ormqr": [(2,)],
    "sylvester": [(2,)],
    "expm_frechet": [(1,)],
    "complex": [(0, 1)],
    "real": [(0,)],
    "imag": [(0,)],
    "cumsum": [(0,)],
    "reduce_window_sum": [(0,)],
    "select_and_gather": [(0,)],
    "select_and_scatter": [(0,)],
    "conv_general_dilated": [(0,), (1,)],
    "gather": lambda args, params: [(0, len(args) - 1)] if params["mode"] == "fill" else [(0,)],
    "scatter": lambda args, params: {"set": [(0, 1)], "add": [(0, 1)], "mul": [(0,)]}.get(params["kind"], []),
}
# Float arguments without a derivative: orders; shapes of betainc.
FIXED = {
    "polygamma": (0,),
    "expn": (0,),
    "bessel_j": (0,),
    "betainc": (0, 1),
    "sph_legendre": (0, 1),
}
# Derivatives that have no further derivative; and step functions.
UNDIFFERENTIATED = {"igamma_grad_a", "random_gamma_grad", "zeta_grad_x"}
UNDIFFERENTIATED |= {"hyp1f1_grad_a", "hyp1f1_grad_b", "hyp2f1_grad_a", "hyp2f1_grad_c", "reduce_precision"}
# Compact forms that have no derivative, or that do not validate their arguments.
COMPACT = {"geqrf", "geqp3", "householder_product", "ormqr", "hessenberg", "tridiagonal", "schur"}
WITH_JVP = [name for name in NAMES if PRIMITIVES[name].jvp is not None and name not in COMPACT | UNDIFFERENTIATED]


def wide(array):
    """The array in float64, or complex128, if it has derivatives."""
    return array.astype({"f": np.float64, "c": np.complex128}.get(rules.kind(array.dtype), array.dtype))


def is_inexact(array):
    return rules.kind(array.dtype) in "fc"


def direction(rng, array):
    """Random numbers of the array's shape, complex for a complex one."""
    step = rng.normal(size=array.shape)
    return step + 1j * rng.normal(size=array.shape) if rules.kind(array.dtype) == "c" else step


def samples(name, *, floats=False):
    """The samples of a primitive. With `floats`, those without nan or infinity, with floats as float64."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for sample in PRIMITIVES[name].sampler(rng):
        if not floats:
            yield sample
            continue
        widened = [wide(arg) for arg in sample.args]
        tame = all(np.all(np.abs(arg) < 1e4) for arg in widened if is_inexact(arg))
        if not any(map(is_inexact, widened)) or not tame:
            continue
        params = dict(sample.params)
        for name in ("new_dtype", "preferred_element_type"):
            if params.get(name) is not None:
                params[name] = wide(np.empty(0, params[name])).dtype
        yield sample._replace(args=tuple(widened), params=params)


def outputs(primitive, out):
    return list(out) if primitive.multiple_results else [out]


def tangents_of(out):
    return np.zeros(get_aval(out).shape) if isinstance(out, Zero) else wide(np.asarray(out))


@pytest.mark.parametrize("name", WITH_JVP)
def test_jvp_is_the_limit_of_differences(name):
    primitive = PRIMITIVES[name]
    rng = np.random.default_rng(1)
    compared = 0
    with by_reference():
        for args, params in samples(name, floats=True):
            directions = [direction(rng, arg) for arg in args]
            floating = [is_inexact(arg) and i not in FIXED.get(name, ()) for i, arg in enumerate(args)]
            tangents = [d if f else Zero(get_aval(x)) for x, d, f in zip(args, directions, floating, strict=True)]
            out, tangent = primitive.jvp(args, tangents, **params)
            for plain, again in zip(
                outputs(primitive, primitive.bind(*args, **params)), outputs(primitive, out), strict=True
            ):
                np.testing.assert_array_equal(plain, again)

            def moved(step, args=args, params=params, directions=directions, floating=floating):
                shifted = [x + step * d if f else x for x, d, f in zip(args, directions, floating, strict=True)]
                outs = outputs(primitive, primitive.bind(*shifted, **params))
                return [out if is_inexact(out) else np.asarray(out, float) for out in map(np.asarray, outs)]

            # If two step sizes agree, the function is smooth and the difference is the derivative.
            with np.errstate(invalid="ignore"):
                steps = [[(a - b) / (2 * h) for a, b in zip(moved(h), moved(-h), strict=True)] for h in (1e-5, 2.5e-6)]
            for coarse, fine, rule in zip(*steps, outputs(primitive, tangent), strict=True):
                with np.errstate(invalid="ignore"):
                    smooth = np.isfinite(fine) & (np.abs(coarse - fine) <= 1e-6 * (1 + np.abs(fine)))
                compared += smooth.sum()
                np.testing.assert_allclose(tangents_of(rule)[smooth], fine[smooth], rtol=1e-4, atol=1e-4)
    assert compared > 0


@pytest.mark.parametrize("name", WITH_JVP)
def test_jvp_with_symbolic_zeros(name):
    primitive = PRIMITIVES[name]
    with by_reference():
        for args, params in samples(name, floats=True):
            fixed = FIXED.get(name, ())
            floating = [i for i, arg in enumerate(args) if is_inexact(arg) and i not in fixed]
            for chosen in floating:
                zeros = [Zero(get_aval(x)) for x in args]
                one = list(zeros)
                one[chosen] = np.ones_like(args[chosen])
                full = [np.zeros_like(x) if i in floating else zeros[i] for i, x in enumerate(args)]
                full[chosen] = one[chosen]
                _, some = primitive.jvp(args, one, **params)
                _, every = primitive.jvp(args, full, **params)
                for a, b in zip(outputs(primitive, some), outputs(primitive, every), strict=True):
                    with np.errstate(invalid="ignore"):
                        a, b = tangents_of(a), tangents_of(b)
                        finite = np.isfinite(b)
                    np.testing.assert_allclose(a[finite], b[finite])


@pytest.mark.parametrize("name", sorted({*FIXED, *UNDIFFERENTIATED} - {"reduce_precision"}))
def test_a_derivative_that_is_not_there_raises(name):
    primitive = PRIMITIVES[name]
    args = next(iter(samples(name, floats=True))).args
    tangents = [np.ones(arg.shape) for arg in args]
    with by_reference(), pytest.raises(ValueError, match=f"{name}: its derivative by .* is not known; hold"):
        primitive.jvp(args, tangents)


def test_every_primitive_with_a_transpose_is_listed():
    # reduce_precision rounds its cotangents, which is linear but for the rounding. The barrier has as many results as
    # operands: lax/test_barriers.py.
    assert {*LINEAR, "reduce_precision", "optimization_barrier"} == {
        name for name in NAMES if PRIMITIVES[name].transpose is not None
    }


@pytest.mark.parametrize("name", sorted(LINEAR))
def test_transpose_is_the_adjoint(name):
    primitive = PRIMITIVES[name]
    rng = np.random.default_rng(2)
    compared = 0
    with by_reference():
        for args, params in samples(name, floats=True):
            for linear in LINEAR[name](args, params) if callable(LINEAR[name]) else LINEAR[name]:
                linear = range(len(args)) if linear is None else linear
                out = primitive.bind(*args, **params)
                if not all(is_inexact(x) for x in (out, *(args[i] for i in linear))):
                    continue
                ct = direction(rng, out)
                undefined = [UndefinedPrimal(get_aval(x)) if i in linear else x for i, x in enumerate(args)]
                cts = primitive.transpose(ct, *undefined, **params)
                assert len(cts) == len(args)
                assert all(np.asarray(cts[i]).shape == args[i].shape for i in linear)
                scale = 1 + np.sum(np.abs(ct * out)) if np.size(out) else 1.0
                # The real part: a function that is linear only over the real numbers has a transpose, too.
                inner = np.real(sum(np.sum(cts[i] * args[i]) for i in linear))
                np.testing.assert_allclose(inner, np.real(np.sum(ct * out)), rtol=1e-9, atol=1e-9 * scale)
                compared += 1
    assert compared > 0


def comparable(array):
    return array.astype(np.complex128 if rules.kind(array.dtype) == "c" else np.float64)


def batch_dims(args):
    """The choices of batched arguments: each alone, all of them, all at their last dimension."""
    count = len(args)
    for i in range(count):
        yield tuple(0 if i == j else None for j in range(count))
        yield tuple(args[i].ndim if i == j else None for j in range(count))
    if count > 1:
        yield (0,) * count
        yield tuple(arg.ndim for arg in args)
        yield tuple(None if j == 0 else 0 for j in range(count))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "iota"])
def test_batching_is_a_loop(name):
    primitive = PRIMITIVES[name]
    size = 3
    with by_reference(), np.errstate(all="ignore"):
        for args, params in samples(name):
            rng = np.random.default_rng(3)
            for dims in batch_dims(args):
                stacks = []
                for arg, dim in zip(args, dims, strict=True):
                    copies = [arg] + [rng.permutation(arg.ravel()).reshape(arg.shape) for _ in range(size - 1)]
                    if arg.ndim == 0 and rules.kind(arg.dtype) in "iu":
                        copies = [np.asarray(arg + arg.dtype.type(i)) for i in range(size)]
                    stacks.append(arg if dim is None else np.stack(copies, axis=dim))
                out, out_dims = primitive.batch(stacks, dims, **params)
                if not primitive.multiple_results:
                    out, out_dims = (out,), (out_dims,)
                for i in range(size):
                    one = [x if d is None else np.take(x, i, axis=d) for x, d in zip(stacks, dims, strict=True)]
                    expected = outputs(primitive, primitive.bind(*one, **params))
                    for got, dim, want in zip(out, out_dims, expected, strict=True):
                        example = got if dim is None else np.take(got, i, axis=dim)
                        assert example.dtype == want.dtype
                        np.testing.assert_allclose(
                            comparable(example),
                            comparable(np.asarray(want)),
                            rtol=1e-6,
                            err_msg=f"{dims} {params}",
                        )


# Shapes with n and m for sizes: the arguments' shapes, the parameters, and the result's shape.
N, M = Dim("n"), Dim("m")
SYMBOLIC = [
    ("broadcast_in_dim", [(N,)], {"shape": (M, N), "broadcast_dimensions": (1,)}, (M, N)),
    ("reshape", [(N, M)], {"new_sizes": (N * M,)}, (N * M,)),
    ("transpose", [(N, M)], {"permutation": (1, 0)}, (M, N)),
    ("reduce_sum", [(N, M)], {"axes": (0,)}, (M,)),
    ("reduce_max", [(N, M)], {"axes": (1,)}, (N,)),
    ("argmax", [(N, M)], {"axis": 1, "index_dtype": rules.INT32}, (N,)),
    ("slice", [(N, 5)], {"start_indices": (0, 1), "limit_indices": (N, 4), "strides": (1, 2)}, (N, 2)),
    ("pad", [(N,), ()], {"low": (1,), "high": (2,), "interior": (1,)}, (2 * N + 2,)),
    ("concatenate", [(N, 3), (M, 3)], {"dimension": 0}, (N + M, 3)),
    ("reverse", [(N, M)], {"dimensions": (0,)}, (N, M)),
    (
        "dot_general",
        [(N, M), (M, 4)],
        {
            "lhs_contracting": (1,),
            "rhs_contracting": (0,),
            "lhs_batch": (),
            "rhs_batch": (),
            "preferred_element_type": None,
        },
        (N, 4),
    ),
    (
        "gather",
        [(N, M)],
        {
            "offset_dims": (0, 1),
            "collapsed_slice_dims": (),
            "start_index_map": (),
            "operand_batching_dims": (),
            "start_indices_batching_dims": (),
            "slice_sizes": (N, 1),
            "mode": "clip",
            "indices_are_sorted": False,
            "unique_indices": False,
        },
        (N, 1),
    ),
    ("fft", [(N, 8)], {"fft_type": "RFFT", "fft_lengths": (8,)}, (N, 5)),
    ("sort", [(N, M)], {"dimension": 1, "num_keys": 1, "is_stable": True}, (N, M)),
    ("cumsum", [(N, M)], {"axis": 1, "reverse": True}, (N, M)),
    ("top_k", [(N, Dim("k", min=3))], {"k": 3, "axis": 1}, (N, 3)),
    ("reduce_window_max", [(N, 9)], window_params((1, 3), (1, 2), (0, 1), (0, 1)), (N, 5)),
    ("reduce_window_sum", [(N,)], window_params((3,), None, (1,), (1,)), (N,)),
    ("select_and_gather", [(N, 9), (N, 9)], {"greatest": True, **window_params((1, 3), (1, 2))}, (N, 4)),
    ("conv_general_dilated", [(N, 3, M), (4, 3, 3)], conv_params(1, low=(1,), high=(1,)), (N, 4, M)),
    ("iota", [], {"dtype": rules.INT32, "shape": (N, 3), "dimension": 0}, (N, 3)),
]


@pytest.mark.parametrize(("name", "shapes", "params", "expected"), SYMBOLIC, ids=[case[0] for case in SYMBOLIC])
def test_shape_rule_on_symbols(name, shapes, params, expected):
    sizes = {"n": 6, "m": 4, "k": 5}

    def fixed(value):
        if isinstance(value, tuple):
            return tuple(map(fixed, value))
        return value.evaluate(sizes) if isinstance(value, Dim) else value

    primitive = PRIMITIVES[name]
    out = primitive.shape_rule(*(ShapedArray(shape, rules.FLOAT32) for shape in shapes), **params)
    static = primitive.shape_rule(
        *(ShapedArray(fixed(shape), rules.FLOAT32) for shape in shapes), **{k: fixed(v) for k, v in params.items()}
    )
    for symbolic, number in zip(outputs(primitive, out), outputs(primitive, static), strict=True):
        assert symbolic.shape == expected
        assert fixed(symbolic.shape) == number.shape
        assert symbolic.dtype == number.dtype


ELEMENTWISE = [
    name
    for name in NAMES
    if (first := next(iter(PRIMITIVES[name].sampler(np.random.default_rng(0)))))
    and not first.params
    and name != "sort"
    and name not in DECOMPOSITIONS
    and len({arg.shape for arg in first.args}) == 1
]


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_shape_rule_on_symbols(name):
    primitive = PRIMITIVES[name]
    first = next(iter(primitive.sampler(np.random.default_rng(0))))
    avals = [ShapedArray((N, 3), arg.dtype) for arg in first.args]
    for out in outputs(primitive, primitive.shape_rule(*avals)):
        assert out.shape == (N, 3)
    if len(avals) > 1:
        with pytest.raises(ValueError, match=rf"{name}: shapes differ: .*\[n,3\] and .*\[m,3\]"):
            primitive.shape_rule(*avals[:-1], ShapedArray((M, 3), avals[-1].dtype))
