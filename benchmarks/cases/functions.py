"""The public functions of both libraries, with arguments, for `functions.py`.

The arguments come from three places. A function with the name of a primitive draws from the ranges of that primitive's
sampler. OWN has the arguments of functions with other needs. Any other function gets the first of a few kinds of
arguments that both libraries accept (by `eval_shape`, without computation): vectors in (0.1, 0.9), whole numbers,
square matrices.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

import pycompiler as pc
from pycompiler.primitives import PRIMITIVES

MODULES = (
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "lax",
    "nn",
    "random",
    "scipy.special",
    "scipy.linalg",
    "scipy.signal",
    *(f"scipy.stats.{name}" for name in ("norm", "gamma", "beta", "t", "poisson", "expon", "laplace", "logistic")),
)

# Functions whose primitive has another name.
_PRIMITIVE = {
    "arccosh": "acosh",
    "gammaln": "lgamma",
    "loggamma": "digamma",
    "gammainc": "igamma",
    "gammaincc": "igammac",
    "beta": "betaln",
    "i0": "bessel_i0e",
    "i1": "bessel_i1e",
    "i0e": "bessel_i0e",
    "i1e": "bessel_i1e",
    "sici": "cos_integral",
    "fresnel": "fresnel_sin",
}

# Uniform floats of a range, or the name of another kind of argument.
Kind = tuple[float, float] | str
OWN: dict[str, tuple[Kind, ...]] = {
    "scipy.special.comb": ((5, 12), (0, 5)),
    "scipy.special.poch": ((0.1, 9), (0, 1)),
    "scipy.special.factorial": ((0, 9),),
    "scipy.special.log_ndtr": ((-9, 9),),
    "scipy.special.ndtr": ((-9, 9),),
    "scipy.special.polygamma": ("orders", (0.5, 9)),
    "scipy.special.expn": ("orders", (0.5, 9)),
    "scipy.special.expi": ((-9, 9),),
    "scipy.special.dawsn": ((-9, 9),),
    "scipy.special.hyp2f1": ((0.5, 3), (0.5, 3), (1, 4), (-0.5, 0.5)),
    "numpy.roll": ((0.1, 0.9), "place"),
    "lax.bessel_i0e": ((-9, 9),),
    "lax.bessel_i1e": ((-9, 9),),
    **{f"numpy.{name}": ((-9, 9),) for name in ("sin", "cos", "tan", "exp", "tanh", "abs", "sinc", "i0")},
    **{f"nn.{name}": ((-9, 9),) for name in ("relu", "gelu", "silu", "softplus", "sigmoid", "elu", "selu", "mish")},
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Functions whose speed does not matter here: they compute nothing, take sequences, take time that grows with the square
# of the size, or print.
_LEFT_OUT = _words(
    """
    zeros_like ones_like full_like ndim size shape dtype result_type isrealobj iscomplexobj isscalar polyval
    polyder polyint trapezoid column_stack concatenate concat dstack hstack vstack stack meshgrid unstack ix_
    array asarray tuple multi_dot array_repr array_str array_equal array_equiv save savez load fromfile copy block
    allclose isclose kron outer convolve correlate vander cov corrcoef convolve2d correlate2d fftconvolve
    apply_along_axis histogram2d histogramdd poly polyfit polymul polydiv polysub polyadd roots subtract_outer
    intersect1d union1d setdiff1d setxor1d isin unpackbits packbits key PRNGKey key_impl key_data wrap_key_data
    clone split fold_in expm_frechet funm sqrtm rsf2csf polar hessenberg tri tril_indices triu_indices
    tril_indices_from triu_indices_from diag_indices indices diag diagflat toeplitz hilbert invhilbert pascal
    hadamard dft block_diag circulant lpmn lpmn_values sph_harm sph_harm_y bessel_jn linalg approx_max_k
    approx_min_k infeed outfeed
    """
)
# Functions with intended differences (docs/differences.md), or with arbitrary signs.
_INCOMPARABLE = _words("eig eigh svd qr schur lu lu_factor eigvals empty empty_like permutation choice welch csd")


@dataclass(frozen=True)
class Function:
    """`arguments(rng, size, dtype)` are the arguments of the function of that name in both libraries."""

    name: str
    module: str
    arguments: Callable[[np.random.Generator, int, np.dtype[Any]], tuple[Any, ...]]
    is_random: bool = False

    def of(self, library: Any, size: int) -> Callable[..., Any]:
        """The function of a library, of arrays."""
        module = (
            library.numpy if self.module == "numpy" else importlib.import_module(f"{library.__name__}.{self.module}")
        )
        function = getattr(module, self.name.rpartition(".")[2])
        # A lambda, because jax's jit can end the process for callables that are no functions.
        return (lambda *args: function(*args, shape=(size,))) if self.is_random else (lambda *args: function(*args))


def functions(parts: Sequence[str], known: Collection[str] = ()) -> Iterator[Function]:
    """All functions whose names contain one of the parts, and that both libraries accept with some arguments.

    The functions in `known` are left out.
    """
    for module in MODULES:
        ours, theirs = (importlib.import_module(f"{package}.{module}") for package in ("pycompiler", "jax"))
        for short in sorted(set(dir(ours)) & set(dir(theirs))):
            function = getattr(ours, short)
            skipped = short.startswith("_") or short in _LEFT_OUT | _INCOMPARABLE or inspect.isclass(function)
            if skipped or not callable(function) or inspect.ismodule(function):
                continue
            name = f"{module}.{short}"
            if name in known or (parts and not any(part in name for part in parts)):
                continue
            found = _function(name, module, function)
            if found is not None:
                yield found


def _function(name: str, module: str, function: Any) -> Function | None:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    required = [
        p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    for arguments in _candidates(name, len(required)):
        is_random = module == "random"
        found = Function(name, module, arguments, is_random)
        if is_random:
            found = Function(name, module, _with_key(arguments), is_random)
        if _is_taken(found):
            return found
    return None


def _candidates(name: str, count: int) -> Iterable[Callable[..., tuple[Any, ...]]]:
    short = name.rpartition(".")[2]
    primitive = PRIMITIVES.get(_PRIMITIVE.get(short, short))
    if name in OWN:
        yield _of_kinds(OWN[name])
    if name.startswith("random."):
        yield from (_of_kinds((kind,) * times) for times in range(3) for kind in ((0.1, 0.9), (2.0, 9.0)))
        return
    if primitive is not None and name.startswith(("lax.", "scipy.special.")) and not name.startswith("lax.reduce"):
        ranges = _ranges(primitive)
        if ranges is not None and len(ranges) == count:
            yield _of_kinds(ranges)
    is_linear = name.startswith(("numpy.linalg.", "scipy.linalg."))
    for kind in ("matrix", (0.1, 0.9), "wholes") if is_linear else ((0.1, 0.9), "wholes", "bools", "matrix"):
        yield _of_kinds((kind,) * max(count, 1))
    if count == 2:
        yield from (
            _of_kinds(kinds) for kinds in (((0.1, 0.9), "wholes"), ("bools", (0.1, 0.9)), ("matrix", (0.1, 0.9)))
        )


def _ranges(primitive: Any) -> tuple[Kind, ...] | None:
    """The ranges of the float vectors that the primitive's sampler draws."""
    args, params = next(iter(primitive.sampler(np.random.default_rng(0))), ((), {}))
    if params or not args or any(np.asarray(x).dtype.kind != "f" or not np.size(x) for x in args):
        return None
    return tuple((float(np.min(x)), float(np.max(x))) for x in args)


def _of_kinds(kinds: tuple[Kind, ...]) -> Callable[..., tuple[Any, ...]]:
    def arguments(rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Any, ...]:
        return tuple(_draw(kind, rng, size, dtype) for kind in kinds)

    return arguments


def _draw(kind: Kind, rng: np.random.Generator, size: int, dtype: np.dtype[Any]) -> Any:
    if isinstance(kind, tuple):
        real = rng.uniform(*kind, size)
        return (real + 0.5j * rng.uniform(-1, 1, size) if dtype.kind == "c" else real).astype(dtype)
    if kind == "matrix":  # well conditioned and positive definite
        side = max(4, min(int(size**0.5), 128))
        square = rng.standard_normal((side, side))
        return (square @ square.T / side + np.eye(side)).astype(dtype)
    if kind == "place":
        return np.array(size // 3, np.int32)
    if kind == "bools":
        return rng.integers(0, 2, size).astype(bool)
    return rng.integers(1, 4 if kind == "orders" else 9, size).astype(np.int32)


def _with_key(arguments: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    return lambda rng, size, dtype: (np.array([0, 7], np.uint32), *arguments(rng, size, dtype))


def _is_taken(function: Function) -> bool:
    """Whether both libraries accept the arguments, return arrays of the same shapes, at most 8 times as large, and do
    not unroll: a vector of shifts makes one equation for each shift.
    """
    size = 64
    try:
        (shapes, count), (others, _) = (_traced(library, function, size) for library in (pc, jax))
        more = _traced(pc, function, 4 * size)[1]
    except Exception:
        return False
    is_unrolled = more > count + size
    return not is_unrolled and shapes == others and 0 < sum(int(np.prod(shape)) for shape in shapes) <= 8 * size


def _traced(library: Any, function: Function, size: int) -> tuple[list[tuple[int, ...]], int]:
    """The shapes of the results and the number of equations."""
    args = function.arguments(np.random.default_rng(0), size, np.dtype(np.float32))
    specs = [library.ShapeDtypeStruct(x.shape, x.dtype) for x in args]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph, out = library.make_jaxpr(function.of(library, size), return_shape=True)(*specs)
    return [tuple(leaf.shape) for leaf in jax.tree.leaves(out)], len(graph.jaxpr.eqns)
