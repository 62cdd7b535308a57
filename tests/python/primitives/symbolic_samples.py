"""The samples of the table of primitives with symbols instead of sizes, if the shape rule accepts them."""

import contextlib
import zlib
from typing import Any, NamedTuple

import numpy as np

from pycompiler.core.dims.dims import Dim
from pycompiler.core.types.aval import ShapedArray
from pycompiler.primitives import PRIMITIVES

# Their parameters are graphs: lax/test_scan.py and similar files test them.
NAMES = sorted(set(PRIMITIVES) - {"while", "scan", "cond"})
# The parameters that are sizes. Axes, amounts and counts stay unchanged.
SIZES = ("shape", "new_sizes", "limit_indices", "slice_sizes", "permutation_size", "dim")


class Symbolic(NamedTuple):
    """A sample with symbols: its arguments, its parameters, the sampled sizes, and the sampled arguments."""

    avals: list[ShapedArray]
    params: dict[str, Any]
    sizes: dict[str, int]
    args: tuple[np.ndarray, ...]


def samples(name, every_type=False):
    """The arguments and the parameters, one for each kind: of all types, or of one type that is like the others."""
    found = {}
    for args, params in PRIMITIVES[name].sampler(np.random.default_rng(zlib.crc32(name.encode()))):
        types = [arg.dtype.name if every_type else arg.dtype.kind in "fcV" for arg in args]
        found.setdefault(repr(([arg.shape for arg in args], types, params)), (args, params))
    return list(found.values())


def replaced(value, symbols):
    if isinstance(value, tuple):
        return tuple(replaced(v, symbols) for v in value)
    return symbols.get(value, value) if type(value) is int else value


def at(value, sizes):
    """A parameter or a shape at sizes of the symbols."""
    if isinstance(value, tuple):
        return tuple(at(v, sizes) for v in value)
    return value.evaluate(sizes) if isinstance(value, Dim) else value


def choices(args, params):
    """The choices of sizes that become symbols: each alone, and all."""
    given = [arg.shape for arg in args]
    given += [v if isinstance(v, tuple) else (v,) for k, v in params.items() if k in SIZES]
    sizes = sorted({size for shape in given for size in shape if type(size) is int and size > 0})
    yield from ([size] for size in sizes)
    if len(sizes) > 1:
        yield sizes


def symbolic(name, every_type=False):
    """The samples of a primitive with symbols: all equal sizes become one symbol, alone and all together."""
    primitive = PRIMITIVES[name]
    for args, params in samples(name, every_type):
        for chosen in choices(args, params):
            symbols = {size: Dim(f"n{size}", min=size) for size in chosen}
            avals = [ShapedArray(replaced(arg.shape, symbols), arg.dtype) for arg in args]
            new_params = {k: replaced(v, symbols) if k in SIZES else v for k, v in params.items()}
            # A condition that the bounds leave open, or a size that would differ from another dimension.
            with contextlib.suppress(ValueError):
                primitive.shape_rule(*avals, **new_params)
                yield Symbolic(avals, new_params, {f"n{size}": size for size in chosen}, args)
