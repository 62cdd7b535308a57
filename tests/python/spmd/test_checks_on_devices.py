"""debug_nans and debug_infs on a mesh: the first nan is found on any device."""

import re

import numpy as np
import pytest
from meshes import auto_mesh

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.sharding import NamedSharding
from pycompiler.sharding import PartitionSpec as P

MESH = auto_mesh((4, 2), ("x", "y"))
X = np.arange(8, dtype=np.float32) - 5
ROWS = NamedSharding(MESH, P(("x", "y")))


def logs(x):
    return pnp.log(x) * 2


def summed(x):
    return lax.psum(pnp.log(x), "x") * 2


def looped(x):
    return lax.scan(lambda c, _: (pnp.log(c), None), x, None, length=2)[0]


def over(f, *names):
    return pc.shard_map(f, mesh=MESH, in_specs=P("x"), out_specs=P(*names))


def divided(x=X):
    return pc.device_put(x, ROWS)


CALLS = {
    "pmap": (lambda: pc.pmap(logs)(X), "log", "return pnp.log(x) * 2"),
    "pmap of a sum": (lambda: pc.pmap(summed, axis_name="x")(X), "log", 'lax.psum(pnp.log(x), "x")'),
    "pmap of a loop": (lambda: pc.pmap(looped)(X), "log|scan", "pnp.log(c)"),
    "shard_map": (lambda: over(logs, "x")(X), "log", "return pnp.log(x) * 2"),
    "shard_map of a sum": (lambda: over(summed)(X), "log", 'lax.psum(pnp.log(x), "x")'),
    "jit of shard_map": (lambda: pc.jit(over(logs, "x"))(X), "log", "return pnp.log(x) * 2"),
    "grad of shard_map": (
        lambda: pc.grad(lambda x: over(pnp.sqrt, "x")(x).sum())(abs(X)), "rsqrt", "backward pass"
    ),
    "jit": (lambda: pc.jit(logs)(divided()), "log", "return pnp.log(x) * 2"),
    "jit of a loop": (lambda: pc.jit(looped)(divided()), "log", "pnp.log(c)"),
    "jit in jit": (lambda: pc.jit(lambda x: pc.jit(logs)(x) + 1)(divided()), "log", "return pnp.log(x) * 2"),
    "grad": (lambda: pc.jit(pc.grad(lambda x: pnp.sqrt(x).sum()))(divided(abs(X))), "rsqrt", "backward pass"),
    "op by op": (lambda: pnp.log(divided()), "log", "pnp.log(divided())"),
    "operator": (lambda: divided(X * 0) / divided(X * 0), "div", ""),
    "in_shardings": (lambda: pc.jit(logs, in_shardings=ROWS)(X), "log", "return pnp.log(x) * 2"),
    "vmap": (lambda: pc.jit(pc.vmap(logs))(divided()), "log", "return pnp.log(x) * 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_nan_is_found(name):
    call, primitive, line = CALLS[name]
    call()
    with pc.debug_nans() if "grad" not in name else pc.debug_infs(), pytest.raises(FloatingPointError) as caught:
        call()
    said = str(caught.value)
    assert any(f"{one}: its result" in said for one in primitive.split("|")), said
    assert line in said
    if "pmap" in name or name == "shard_map":
        assert f"shard_map on {pc.devices()[0]!r}" in said
    call()


def test_the_device_is_named():
    x = np.ones(8, np.float32)
    x[5] = -1
    with pc.debug_nans(), pytest.raises(FloatingPointError, match=re.escape(f"shard_map on {pc.devices()[5]!r}")):
        pc.pmap(lambda x: pnp.sqrt(x) + 1)(x)


def test_infinities():
    x = np.float32([1, 0] * 4)
    with pc.debug_infs():
        with pytest.raises(FloatingPointError, match="an infinity"):
            pc.pmap(lambda x: 1 / x)(x)
        with pytest.raises(FloatingPointError, match="an infinity"):
            pc.jit(lambda x: 1 / x)(divided(x))
    with pc.debug_nans():
        assert np.isinf(pc.pmap(lambda x: 1 / x)(x)).sum() == 4


def test_without_a_nan_the_results_are_as_they_are():
    x = np.arange(1, 9, dtype=np.float32)
    with pc.debug_nans():
        np.testing.assert_allclose(pc.pmap(logs)(x), 2 * np.log(x), rtol=1e-6)
        found = pc.jit(logs)(divided(x))
        assert found.sharding == ROWS
        np.testing.assert_allclose(found, 2 * np.log(x), rtol=1e-6)
        np.testing.assert_allclose(over(summed)(x), (2 * np.log(x)).reshape(4, 2).sum(0), rtol=1e-6)


def test_a_donated_array_is_kept_until_the_fault_is_found():
    f = pc.jit(lambda x: pnp.log(x), donate_argnums=0)
    for x, fails in ((divided(), True), (divided(abs(X) + 1), False)):
        with pc.debug_nans():
            if fails:
                with pytest.raises(FloatingPointError, match=r"argument 'x'|log: its result"):
                    f(x)
            else:
                f(x)
                assert x.is_deleted()
