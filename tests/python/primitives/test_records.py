"""An op is one record. Other tables about ops are complete. test_rules.py checks its sharding rule,
the surface's lists its public names."""

import re
from pathlib import Path

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.compile import prebuilt
from pycompiler.jit import dispatch
from pycompiler.primitives import PRIMITIVES

ROOT = Path(__file__).resolve().parents[3]

# Ops of the dialect without a primitive, with their creators.
MADE_ELSEWHERE = {
    "constant": "literals of graphs",
    "call": "calls of imported modules",
    "kernel_call": "own kernels: pycompiler.kernel",
    "kernel_yield": "own kernels: pycompiler.kernel",
    "yield": "regions of loops and branches",
    "symbol": "symbolic sizes",
    "threads": "the compiler: parts of a loop",
    "create_token": "effects in their order",
    "after_all": "effects in their order",
    "host_call": "callbacks",
    "arena": "the compiler: memory",
    "runtime_call": "the compiler: routines",
    "spend": "the compiler: limits of loops",
    **dict.fromkeys(
        ["participant", "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute"],
        "pycompiler.spmd.collective_ops",
    ),
}

# Primitives without an operation of StableHLO or CHLO, with the reason: writers of programs compose them.
COMPOSED = "StableHLO has no operation for it: it comes as several"
WITHOUT_STABLEHLO = {
    "stop_gradient": "a program in StableHLO is differentiated already",
    "scan": "a loop comes as a while",
    "threefry2x32": COMPOSED,
    **dict.fromkeys(["exp2", "log2", "log10", "xlogy", "xlog1py", "gamma", "cumlogsumexp"], COMPOSED),
    **dict.fromkeys(["select_and_gather"], COMPOSED),
    **dict.fromkeys(["igamma", "igammac", "igamma_grad_a", "random_gamma_grad", "betainc", "betaln"], COMPOSED),
    **dict.fromkeys(
        ["bessel_i0e", "bessel_j", "exp1", "expi", "expn", "erfcx", "dawsn", "log_ndtr", "ndtri"], COMPOSED
    ),
    **dict.fromkeys(["wofz_real", "wofz_imag", "fresnel_sin", "fresnel_cos", "sin_integral"], COMPOSED),
    **dict.fromkeys(["cos_integral", "spence", "owens_t", "sph_legendre", "zeta_grad_x"], COMPOSED),
    **dict.fromkeys(["hyp1f1", "hyp1f1_grad_a", "hyp1f1_grad_b", "hyp2f1", "hyp2f1_grad_a", "hyp2f1_grad_c"], COMPOSED),
    **dict.fromkeys(["lu_pivots_to_permutation", "linear_solve", "cholesky_update", "qr"], COMPOSED),
    **dict.fromkeys(["sylvester", "expm", "expm_frechet"], COMPOSED),
}


def _sources(folder, pattern):
    return "".join([path.read_text() for path in sorted((ROOT / folder).rglob(pattern))])


def test_primitives_and_ops_of_the_dialect_have_the_same_names():
    text = _sources("dialect/include/array/IR", "*.td")
    ops = set(re.findall(r"^def Array_\w+Op\s*:\s*\w+<\s*\"([\w.]+)\"", text, re.MULTILINE))
    assert set(PRIMITIVES) - ops == set()
    assert ops - set(PRIMITIVES) == set(MADE_ELSEWHERE)


def test_every_primitive_comes_from_stablehlo_or_not_for_a_reason():
    text = _sources("dialect/lib", "Stablehlo/*.cpp") + _sources("dialect/stablehlo", "*.cpp")
    words = set(re.findall(r'"(\w+)"', text))
    assert {name for name in PRIMITIVES if name not in words} == set(WITHOUT_STABLEHLO)


def test_every_ufunc_is_called_directly_or_not_for_a_reason():
    ufuncs = {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc) and hasattr(pnp, name)}
    direct = dispatch.direct_names()
    assert len(direct) == len(set(direct))
    assert ufuncs - set(direct) == set(dispatch.WITHOUT_ROW)
    assert {name for name in direct if not isinstance(getattr(pnp, name), pc._runtime.ArrayFunction)} == set()


def test_the_kernels_of_the_build_are_those_that_are_asked_for():
    text = (ROOT / "tools/array-kernels/array-kernels.cpp").read_text()
    table = text.partition("const Kernel kernels[]")[2].partition(";")[0]
    assert set(re.findall(r'\{"(\w+)", \d', table)) == prebuilt.OPS
    assert set(PRIMITIVES) >= prebuilt.OPS


def test_ufuncs_of_several_kinds_as_numpy_has_them():
    i, j = np.array([12, -18, 0, 7]), np.array([8, 27, 5, 0])
    x, n = np.array([1.5, -2.25, 0.0], np.float32), np.array([3, -1, 2])
    with pc.enable_x64():
        check_values(i, j, x, n)
    for call in (lambda: pnp.gcd(pnp.asarray(x), 2), lambda: pnp.ldexp(pnp.asarray(x), pnp.asarray(x))):
        with pytest.raises((TypeError, ValueError), match=r"gcd|ldexp"):
            call()


def check_values(i, j, x, n):
    for got, wanted in [
        (pnp.gcd(pnp.asarray(i), pnp.asarray(j)), np.gcd(i, j)),
        (pnp.lcm(pnp.asarray(i), pnp.asarray(j)), np.lcm(i, j)),
        (pnp.ldexp(pnp.asarray(x), pnp.asarray(n)), np.ldexp(x, n)),
        (pnp.bitwise_count(pnp.asarray(i)), np.bitwise_count(i)),
        (pnp.spacing(pnp.asarray(x)), np.spacing(x)),
        *zip(pnp.frexp(pnp.asarray(x)), np.frexp(x), strict=True),
        *zip(pnp.modf(pnp.asarray(x)), np.modf(x), strict=True),
    ]:
        np.testing.assert_array_equal(got, wanted)
