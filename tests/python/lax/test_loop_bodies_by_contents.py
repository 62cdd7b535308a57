"""Loops whose bodies look alike: from one line, with equal text, but with other rules, primitives or values inside."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.extend.core import Primitive
from pycompiler.interpreters import mlir

FACTORS = (1.0, 2.0, 3.0)


def test_rules_for_vmap_belong_to_their_loop() -> None:
    results: list[float] = []
    for factor in FACTORS:
        f = pc.custom_batching.custom_vmap(lambda x: x)
        f.def_vmap(lambda size, batched, x, factor=factor: (x * factor, batched[0]))  # pyright: ignore
        body = lambda c, _, f=f: (f(c), None)  # noqa: E731  # pyright: ignore
        mapped = pc.vmap(lambda x, body=body: lax.scan(body, x, None, length=2)[0])  # pyright: ignore
        results.append(float(mapped(pnp.ones(2))[1]))
    assert results == [1.0, 4.0, 9.0]


def test_a_rule_for_vmap_shares_its_loop() -> None:
    @pc.custom_batching.custom_vmap
    def f(x: pc.Array) -> pc.Array:
        return x + 1

    f.def_vmap(lambda size, batched, x: (x * 2, batched[0]))
    graphs: list[pc.Array] = []
    for _ in range(3):
        graphs.append(lax.fori_loop(0, 2, lambda i, c: f(c), 1.0))
    assert list(map(float, graphs)) == [3.0] * 3


def test_primitives_of_one_name_are_different_ones() -> None:
    results: list[float] = []
    for factor in FACTORS:
        scale = Primitive("scale")
        scale.def_impl(lambda x, factor=factor: x * factor)  # pyright: ignore
        scale.def_abstract_eval(lambda x: x)
        lowering = mlir.lower_fun(lambda x, factor=factor: x * factor, multiple_results=False)  # pyright: ignore
        mlir.register_lowering(scale, lowering)
        results.append(float(lax.scan(lambda c, _, p=scale: (p.bind(c), None), np.float32(3), None, length=2)[0]))  # pyright: ignore
    assert results == [3.0, 12.0, 27.0]


@pytest.mark.parametrize("batch_size", [None, 2])
def test_map_calls_a_function_that_changed(batch_size: int | None) -> None:
    class Model:
        weight = 1.0

        def __call__(self, x: pc.Array) -> pc.Array:
            return x * self.weight

    model = Model()
    before = lax.map(model, pnp.arange(3.0), batch_size=batch_size)
    model.weight = 5.0
    after = lax.map(model, pnp.arange(3.0), batch_size=batch_size)
    assert [before.tolist(), after.tolist()] == [[0.0, 1.0, 2.0], [0.0, 5.0, 10.0]]
