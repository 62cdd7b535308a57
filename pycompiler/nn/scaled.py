"""Products of numbers in small types with a scale for each block (the OCP microscaling formats).

A block is a run of elements along the contracted dimension. The numbers are rounded to their small type, scaled back,
and multiplied in float32.
"""

from math import prod
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import contraction, movement
from pycompiler.lax import elementwise as lax
from pycompiler.lax import reduction as reduce
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, cast, check_arrays

_E2M1, _E4M3, _E8M0 = map(np.dtype, (ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu))


class BlockScaleConfig(NamedTuple):
    """The rounding of an operand, from get_scaled_dot_general_config."""

    mode: str
    block_size: int
    data_type: Any
    scale_type: Any
    global_scale: Any
    infer_only: bool


def get_scaled_dot_general_config(mode: str, global_scale: Any = None) -> BlockScaleConfig:
    """The rounding of a mode.

    - 'mxfp8': blocks of 32, float8_e4m3fn, scales that are powers of two
    - 'nvfp4': blocks of 16, float4_e2m1fn, scales in float8_e4m3fn, divided by global_scale (by default 1)
    """
    if mode == "mxfp8":
        return BlockScaleConfig("mxfp8", 32, _E4M3, _E8M0, None, False)
    if mode == "nvfp4":
        one = np.ones((1,), np.float32)
        return BlockScaleConfig("nvfp4", 16, _E2M1, _E4M3, one if global_scale is None else global_scale, False)
    raise ValueError(f"get_scaled_dot_general_config: mode must be 'mxfp8' or 'nvfp4', got {mode!r}")


def scaled_matmul(
    lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any, preferred_element_type: Any = np.float32
) -> Array:
    """lhs[B, M, K] rhs[B, N, K]^T for each B, with blocks along K multiplied by scales[B, M or N, K / block size].

    The sum is in float32, the result in preferred_element_type. ValueError if shapes do not fit.
    """
    name = "scaled_matmul"
    check_arrays(name, lhs, rhs, lhs_scales, rhs_scales)
    avals = [get_aval(x) for x in (lhs, rhs, lhs_scales, rhs_scales)]
    shown = ", ".join(map(short, avals))
    if any(len(aval.shape) != 3 for aval in avals):
        raise ValueError(f"{name}: takes arrays of three dimensions, got {shown}")
    a, b, a_scales, b_scales = (aval.shape for aval in avals)
    if (a[0], a[2]) != (b[0], b[2]) or (a_scales[0], a_scales[2]) != (b_scales[0], b_scales[2]):
        raise ValueError(f"{name}: the first and the last dimensions of both sides must be equal, got {shown}")
    if a_scales[:2] != a[:2] or b_scales[:2] != b[:2] or a_scales[2] == 0 or a[2] % a_scales[2]:
        raise ValueError(f"{name}: scales must have the first dimensions of their operand, and divide K; got {shown}")
    wanted = dtypes.canonicalize_requested(preferred_element_type, name)
    return eager_jit(_scaled_matmul, lhs, rhs, lhs_scales, rhs_scales, wanted=wanted)


def _scaled_matmul(lhs: Array, rhs: Array, lhs_scales: Array, rhs_scales: Array, *, wanted: Any) -> Array:
    left, right = _in_blocks(lhs, lhs_scales), _in_blocks(rhs, rhs_scales)
    return cast(contraction.dot_general(left, right, (((2,), (2,)), ((0,), (0,)))), wanted)


def _in_blocks(x: Array, scales: Array) -> Array:
    """x in float32, each block of the last dimension multiplied by its scale."""
    shape, blocks = get_aval(x).shape, get_aval(scales).shape
    split = (*blocks, shape[-1] // blocks[-1])
    spread = movement.broadcast_in_dim(cast(scales, dtypes.float32), split, tuple(range(len(blocks))))
    return lax.mul(cast(x, dtypes.float32), movement.reshape(spread, shape))


def scaled_dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    preferred_element_type: Any = np.float32,
    configs: Any = None,
    implementation: str | None = None,
) -> Array:
    """dot_general of operands whose blocks are rounded first; without configs, plain dot_general.

    configs: the rounding of lhs, rhs and (not used here) cotangents, see get_scaled_dot_general_config. The derivative
    is that of the product of the rounded operands; rounding counts as the identity. `implementation` is not used.
    """
    check_arrays("scaled_dot_general", lhs, rhs)
    if configs is None:
        return contraction.dot_general(lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type)
    wanted = dtypes.canonicalize_requested(preferred_element_type, "scaled_dot_general")
    (contracting, batch) = dimension_numbers
    sides: list[Array] = []
    for x, config, axes, kept in zip((lhs, rhs), configs, contracting, batch, strict=False):
        size = prod(get_aval(x).shape[axis] for axis in axes)
        if size == 0 or size % config.block_size:
            raise ValueError(
                f"scaled_dot_general: the contracted size of {short(get_aval(x))} is {size}, which must be a multiple "
                f"of the block size {config.block_size} of {config.mode}"
            )
        scale = () if config.global_scale is None else (config.global_scale,)
        sides.append(
            eager_jit(
                _rounded, x, *scale, axes=tuple(axes), batch=tuple(kept), mode=config.mode, block=config.block_size
            )
        )
    count = len(batch[0])
    last = [len(get_aval(x).shape) - 1 for x in sides]
    numbers = (((last[0],), (last[1],)), (tuple(range(count)), tuple(range(count))))
    return cast(contraction.dot_general(sides[0], sides[1], numbers), wanted)


def _rounded(x: Array, *scale: Array, axes: tuple[int, ...], batch: tuple[int, ...], mode: str, block: int) -> Array:
    """x as (batch, free dimensions, merged contracted dimensions), each block rounded and scaled back, in float32."""
    shape = get_aval(x).shape
    free = [axis for axis in range(len(shape)) if axis not in axes and axis not in batch]
    moved = movement.transpose(x, (*batch, *free, *axes))
    kept = tuple(shape[axis] for axis in (*batch, *free))
    whole = movement.reshape(cast(moved, dtypes.float32), (*kept, -1 if not axes else prod(shape[a] for a in axes)))
    split = (*kept, get_aval(whole).shape[-1] // block, block)
    values = movement.reshape(whole, split)
    overall = movement.reshape(scale[0], ()) if scale else None
    if overall is not None:
        values = lax.div(values, broadcast_to(overall, split))
    data, limit = (_E4M3, 448.0) if mode == "mxfp8" else (_E2M1, 6.0)
    most = lax.div(reduce.reduce_max(lax.abs(values), (len(split) - 1,)), limit)
    scales = _power_above(most) if mode == "mxfp8" else cast(cast(lax.clamp(0.0, most, 448.0), _E4M3), dtypes.float32)
    spread = movement.broadcast_in_dim(scales, split, tuple(range(len(split) - 1)))
    clipped = lax.clamp(-limit, lax.div(values, spread), limit)
    small = lax.mul(cast(cast(clipped, data), dtypes.float32), spread)
    small = lax.select(lax.eq(spread, 0.0), values, small)
    if overall is not None:
        small = lax.mul(small, broadcast_to(overall, split))
    rounded = movement.reshape(small, get_aval(whole).shape)
    # For derivatives, the rounding error is a constant.
    return lax.add(whole, lax.stop_gradient(lax.sub(rounded, whole)))


def _power_above(x: Array) -> Array:
    """The least power of two that is not below x >= 0; for 0, the least power of two, 2^-127."""
    bits = lax.bitcast_convert_type(x, np.uint32)
    exponent = lax.shift_right_logical(bits, np.uint32(23))
    has_more = lax.gt(lax.bitwise_and(bits, np.uint32(0x7FFFFF)), np.uint32(0))
    raised = lax.add(exponent, cast(has_more, dtypes.uint32))
    limited = lax.min(raised, np.uint32(254))
    power = lax.bitcast_convert_type(lax.shift_left(limited, np.uint32(23)), np.float32)
    return lax.select(lax.eq(limited, np.uint32(0)), movement.full_like(x, 2.0**-126), power)
