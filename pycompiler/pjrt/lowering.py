"""JAX's rules of lowering for the platform: those of `cpu`, except for calls of Python. `client` registers them once.

JAX keeps rules by the name of a platform. A rule that a library registers for `cpu`, now or later, holds here too. A
rule for `pycompiler` comes first.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax._src import buffer_callback as jax_buffers
from jax._src import callback as jax_callback
from jax._src import core, dtypes, ffi, sharding_impls
from jax._src.export import _export
from jax._src.interpreters import mlir
from jax._src.lax import lax
from jax._src.lax.control_flow import conditionals

from pycompiler._runtime import ShapedArray
from pycompiler.core.types.aval import shaped
from pycompiler.pjrt.buffer_callbacks import on_arrays
from pycompiler.pjrt.callbacks import TARGET, Callback
from pycompiler.pjrt.generator import random_block, uniform_draw
from pycompiler.pjrt.inspection import keep_functions

__all__ = ["register"]

_PLATFORM = "pycompiler"
_INHERITED = "cpu"


def register() -> None:
    """Give JAX the rules."""
    rules: Any = mlir._platform_specific_lowerings
    rules[_PLATFORM] = collections.ChainMap(rules.get(_PLATFORM, {}), rules[_INHERITED])
    mlir.register_lowering(conditionals.platform_index_p, _platform_index, platform=_PLATFORM)
    mlir.register_lowering(conditionals.cond_p, _cond, platform=_PLATFORM)
    mlir.register_lowering(lax.rng_bit_generator_p, _random_bits, platform=_PLATFORM)
    mlir.register_lowering(lax.rng_uniform_p, mlir.lower_fun(uniform_draw, multiple_results=False), platform=_PLATFORM)
    # In a program for several platforms, the rule of each is called with the names of all.
    mlir.register_lowering(_export.call_exported_p, _call_exported)
    mlir.register_lowering(jax_buffers.buffer_callback_p, _buffer_callback, platform=_PLATFORM)
    _emit_with(jax_callback)
    _choose_with(mlir)
    keep_functions()


_block: Callable[..., Any] = mlir.lower_fun(random_block, multiple_results=True)


def _random_bits(context: Any, key: Any, **params: Any) -> Any:
    """Bits in JAX's own operations. For symbolic sizes, JAX's rule applies first, then `expansion`."""
    if all(core.is_constant_shape(aval.shape) for aval in context.avals_out):
        return _block(context, key, **params)
    return lax._rng_bit_generator_lowering(context, key, **params)


Platforms = Sequence[Sequence[str] | None]


def _choice(platforms: Platforms) -> int:
    """The branch of `lax.platform_dependent`: that of our platform, else that of `cpu`, else the default."""
    for name in (_PLATFORM, _INHERITED, None):
        for index, names in enumerate(platforms):
            if names is None if name is None else names is not None and name in names:
                return index
    raise NotImplementedError(
        f"MLIR translation rule for primitive 'platform_index' not found for platform {_PLATFORM}: platform_dependent "
        f"has branches for {', '.join(name for names in platforms for name in names or ())}, none of them for "
        f"{_PLATFORM} or {_INHERITED}.\nWhat to do: give a default branch"
    )


def _platform_index(context: Any, *, platforms: Platforms) -> Any:
    return [mlir.ir_constant(np.int32(_choice(platforms)))]


def _cond(context: Any, *args: Any, branches_platforms: Platforms | None = None, **params: Any) -> Any:
    """JAX's rule, which drops the branches of other platforms. The chosen branch gets our platform's name."""
    if branches_platforms is not None:
        chosen = _choice(branches_platforms)
        branches_platforms = tuple([(_PLATFORM,) if i == chosen else () for i in range(len(branches_platforms))])
    return conditionals._cond_lowering(context, *args, branches_platforms=branches_platforms, **params)


class _WithOurs(tuple[str, ...]):
    """Platforms of an exported program: `cpu` among them includes ours."""

    __slots__ = ()

    def __contains__(self, name: object) -> bool:
        return super().__contains__(_INHERITED if name == _PLATFORM else name)

    def index(self, name: Any, *bounds: Any) -> int:
        return super().index(_INHERITED if name == _PLATFORM else name, *bounds)


def _call_exported(context: Any, *args: Any, exported: Any) -> Any:
    """JAX's rule, which asks for a program that was exported for the platform: it accepts programs for `cpu`, too."""
    if _PLATFORM in context.module_context.platforms and _PLATFORM not in exported.platforms:
        exported = dataclasses.replace(exported, platforms=_WithOurs(exported.platforms))
    return _export._call_exported_lowering(context, *args, exported=exported)


def _buffer_callback(
    context: Any,
    *args: Any,
    callback: Callable[..., None],
    in_tree: Any,
    out_tree: Any,
    result_avals: Sequence[Any],
    has_side_effect: bool,
    input_output_aliases: Sequence[tuple[int, int]],
    **_: Any,
) -> Any:
    """A call of a function that writes into buffers. JAX's rule refuses platforms that it does not know."""
    function = on_arrays(callback, in_tree, out_tree, result_avals, dict(input_output_aliases))
    made = Callback(
        function,
        _avals(context.avals_in),
        _avals(result_avals),
        "a buffer callback",
        ordered=False,
        effectful=has_side_effect,
    )
    return _called(context, made, args).results


def _called(context: Any, made: Callback, operands: Sequence[Any]) -> Any:
    """The custom call of a function, which lives as long as the program."""
    context.module_context.add_keepalive(made)
    call = ffi.build_ffi_lowering_function(TARGET, has_side_effect=made.effectful)
    return call(context, *operands, id=np.uint64(made.number))


def _emit_with(module: Any) -> None:
    """Let JAX's callbacks call their functions here. Its own emitter refuses platforms that it does not know."""
    original: Callable[..., Any] = module.emit_python_callback

    def emit_python_callback(
        ctx: Any, callback: Any, token: Any, operands: Any, operand_avals: Any, result_avals: Any, **options: Any
    ) -> Any:
        if tuple(ctx.module_context.platforms) != (_PLATFORM,):
            return original(ctx, callback, token, operands, operand_avals, result_avals, **options)
        return _emit(ctx, callback, token, operands, operand_avals, result_avals, **options)

    module.emit_python_callback = emit_python_callback


def _choose_with(module: Any) -> None:
    """Let a rule of JAX that names platforms itself, as that of Pallas does, take its rule for `cpu` here."""
    original: Callable[..., Any] = module.lower_per_platform

    def lower_per_platform(ctx: Any, description: str, rules: dict[str, Any], *args: Any, **params: Any) -> Any:
        if _INHERITED in rules:
            rules = {_PLATFORM: rules[_INHERITED]} | rules
        return original(ctx, description, rules, *args, **params)

    module.lower_per_platform = lower_per_platform


def _emit(
    ctx: Any,
    callback: Callable[..., Sequence[Any]],
    token: Any,
    operands: Sequence[Any],
    operand_avals: Sequence[Any],
    result_avals: Sequence[Any],
    *,
    has_side_effect: bool,
    returns_token: bool = True,
    partitioned: bool = False,
    sharding: Any = None,
) -> tuple[Sequence[Any], Any, Any]:
    """A custom call of the function, with its number. Returns the results, the next token, and an object to keep
    alive."""

    def checked(*args: Any) -> tuple[Any, ...]:
        results = callback(*args)
        if len(results) != len(result_avals):
            raise RuntimeError(
                f"Mismatched number of outputs from callback. Expected: {len(result_avals)}, Actual: {len(results)}"
            )
        arrays = tuple([dtypes.canonicalize_value(np.asarray(x)) for x in results])
        for number, (array, aval) in enumerate(zip(arrays, result_avals, strict=True)):
            if array.shape != aval.shape:
                raise RuntimeError(
                    f"Incorrect output shape for return value #{number}: Expected: {aval.shape}, Actual: {array.shape}"
                )
            if array.dtype != aval.dtype:
                raise RuntimeError(
                    f"Incorrect output dtype for return value #{number}: Expected: {aval.dtype}, Actual: {array.dtype}"
                )
        return arrays

    made = Callback(
        checked,
        _avals(operand_avals),
        _avals(result_avals),
        "a callback",
        token is not None,
        has_side_effect,
        partitioned and not result_avals,
    )
    if token is not None:
        operands = [token, *operands]
        sharding = _with_token(sharding, bool(ctx.avals_out))
        ctx = ctx.replace(
            avals_in=[core.abstract_token, *ctx.avals_in], avals_out=[core.abstract_token, *ctx.avals_out]
        )
    result = _called(ctx, made, operands)
    if sharding is not None:
        mlir.set_sharding(ctx.module_context, result, sharding)
    results = list(result.results)
    if token is not None:
        token = results.pop(0)
    return results, token, made


def _with_token(sharding: Any, has_results: bool) -> Any:
    """The shardings of the results, for a token before them."""
    classes: Any = sharding_impls
    if not isinstance(sharding, classes.SdyArrayList) or not has_results:
        return sharding
    first = sharding.shardings[0]
    token = classes.SdyArray(mesh_shape=(), dim_shardings=(), logical_device_ids=first.logical_device_ids)
    return classes.SdyArrayList((token, *sharding.shardings))


def _avals(avals: Sequence[Any]) -> tuple[ShapedArray, ...]:
    return tuple([shaped(aval.shape, np.dtype(aval.dtype)) for aval in avals if isinstance(aval, core.ShapedArray)])
