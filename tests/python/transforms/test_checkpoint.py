"""`checkpoint`: values against plain differentiation, kept and recomputed values, and the saved memory."""

import jax
import numpy as np
import pytest

import pycompiler as pc
from pycompiler import numpy as pnp
from pycompiler.ad_checkpoint import Offloadable, Recompute, Saveable, checkpoint_name
from pycompiler.lax.branches import cond
from pycompiler.lax.scans import scan

POLICIES = pc.checkpoint_policies
X = np.array([0.5, -1.5, 2.0], np.float32)
W = np.random.default_rng(0).normal(size=(3, 3)).astype(np.float32)


def layer(x, w=W):
    y = checkpoint_name(x @ w, "product")
    return checkpoint_name(pnp.sin(y), "sine") * pnp.cos(x)


def total(f):
    return lambda *xs: f(*xs).sum()


COMPOSITIONS = {
    "value": lambda f: f,
    "grad": lambda f: pc.grad(total(f)),
    "jit(grad)": lambda f: pc.jit(pc.grad(total(f))),
    "grad(jit)": lambda f: pc.grad(total(pc.jit(f))),
    "jacfwd": pc.jacfwd,
    "jacrev": pc.jacrev,
    "jit(hessian)": lambda f: pc.jit(pc.hessian(total(f))),
    "grad(grad)": lambda f: pc.grad(lambda x: pc.grad(total(f))(x).sum()),
    "vmap": lambda f: lambda x: pc.vmap(f)(pnp.stack([x, x + 1])),
    "vmap(grad)": lambda f: lambda x: pc.vmap(pc.grad(total(f)))(pnp.stack([x, x + 1])),
    "jit(grad(vmap))": lambda f: lambda x: pc.jit(pc.grad(total(pc.vmap(f))))(pnp.stack([x, x + 1])),
}
CHOICES = {
    "plain": {},
    "shared": {"prevent_cse": False},
    "for each argument": {"prevent_cse": (True,)},
    "everything": {"policy": POLICIES.everything_saveable},
    "dots": {"policy": POLICIES.dots_saveable},
    "a name": {"policy": POLICIES.save_only_these_names("sine")},
    "but a name": {"policy": POLICIES.save_anything_except_these_names("product")},
}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_values_are_those_of_the_function(composition, choice):
    transform = COMPOSITIONS[composition]
    again = pc.checkpoint(layer, **CHOICES[choice])
    got = transform(lambda x: again(again(x)))(X)
    np.testing.assert_allclose(got, transform(lambda x: layer(layer(x)))(X), rtol=2e-5, atol=1e-5)


def recomputed(f, *args):
    """The primitives of recomputed values under grad, and the shapes of kept values."""
    graph = pc.make_jaxpr(pc.grad(total(f)))(*args).graph
    (again,) = [eq for eq in graph.equations if eq.primitive.name == "checkpoint" and eq.params["differentiated"]]
    names = [eq.primitive.name for eq in again.params["jaxpr"].graph.equations]
    return names, [atom.aval.shape for atom in again.inputs]


def named_chain(x):
    a = checkpoint_name(pnp.sin(x), "a")
    b = checkpoint_name(pnp.exp(a), "b")
    return pnp.tanh(pc.jit(lambda z: checkpoint_name(pnp.log1p(z), "c"))(b)) * 2


def test_without_a_policy_the_inputs_are_kept():
    names, kept = recomputed(pc.checkpoint(named_chain), X)
    assert {"sin", "exp", "tanh"} <= set(names)
    assert kept == [(3,), (3,)]  # x, and the cotangent
    names, _ = recomputed(pc.checkpoint(named_chain, policy=POLICIES.nothing_saveable), X)
    # With a policy, nested calls are inlined.
    assert {"sin", "exp", "log1p", "tanh"} <= set(names)


@pytest.mark.parametrize(
    ("policy", "again", "kept"),
    [
        (POLICIES.everything_saveable, set(), None),
        (POLICIES.save_only_these_names("b", "c"), {"sin", "exp", "tanh"}, 4),
        (POLICIES.save_only_these_names("a"), {"exp", "log1p", "tanh"}, 3),
        (POLICIES.save_any_names_but_these("b", "c"), {"exp", "log1p", "tanh"}, 3),
        (POLICIES.save_anything_except_these_names("b"), {"exp"}, None),
        (POLICIES.save_from_both_policies(POLICIES.dots_saveable, POLICIES.save_only_these_names("b")), None, 3),
        (lambda prim, *_, **__: prim.name == "tanh", {"sin", "exp"}, 3),
        (lambda prim, *_, **__: Saveable if prim.name == "tanh" else Recompute, {"sin", "exp"}, 3),
        (
            POLICIES.save_and_offload_only_these_names(
                names_which_can_be_saved=["b"],
                names_which_can_be_offloaded=["c"],
                offload_src="device",
                offload_dst="pinned_host",
            ),
            {"sin", "exp", "tanh"},
            4,
        ),
    ],
)
def test_a_policy_says_what_is_kept(policy, again, kept):
    names, shapes = recomputed(pc.checkpoint(named_chain, policy=policy), X)
    if again is not None:
        assert again == {"sin", "exp", "log1p", "tanh"} & set(names)
    if kept is not None:
        assert len(shapes) == kept


def test_policies_on_products():
    def run(x, w):
        y = pnp.sin(x @ w)
        return pnp.sin(pnp.einsum("bij,bjk->bik", y, y) + y)

    x = np.ones((2, 3, 3), np.float32)

    def products(policy):
        return recomputed(pc.checkpoint(lambda x: run(x, W), policy=policy), x)[0].count("dot_general")

    # Reverse mode takes three more: one of x, two of y.
    assert products(None) == 5
    assert products(POLICIES.dots_saveable) == 3
    assert products(POLICIES.dots_with_no_batch_dims_saveable) == 4
    assert POLICIES.checkpoint_dots is POLICIES.dots_saveable
    assert POLICIES.checkpoint_dots_with_no_batch_dims is POLICIES.dots_with_no_batch_dims_saveable
    assert products(POLICIES.offload_dot_with_no_batch_dims("device", "pinned_host")) == 4
    assert set(vars(POLICIES)) == set(vars(jax.checkpoint_policies))


def test_memory_is_saved():
    weights = [W.repeat(64, 0).repeat(64, 1) / 64] * 6
    x = np.ones((256, 192), np.float32)

    def block(x, w):
        for _ in range(4):
            x = pnp.sin(x @ w)
        return x

    def temporaries(block):
        def loss(x, weights):
            for w in weights:
                x = block(x, w)
            return (x**2).sum()

        lowered = pc.jit(pc.grad(loss, 1)).lower(x, weights)
        return lowered.compile().memory_analysis().temp_size_in_bytes

    plain, kept = temporaries(block), temporaries(pc.checkpoint(block))
    # 24 layers keep an array for the sine's derivative and one for the product's; 6 blocks their inputs, and one runs.
    assert kept < 0.4 * plain
    assert temporaries(pc.checkpoint(block, policy=POLICIES.everything_saveable)) > 0.7 * plain


def test_a_loop_keeps_its_carry_only():
    def step(x, w):
        for _ in range(4):
            x = pnp.sin(x @ w)
        return x, None

    def stacked(step):
        run = total(lambda x, ws: scan(step, x, ws)[0])
        graph = pc.make_jaxpr(pc.grad(run))(X, np.stack([W, W])).graph
        first = next(eq for eq in graph.equations if eq.primitive.name == "scan")
        value = pc.jit(pc.grad(run))(X, np.stack([W, W]))
        return [out.aval.shape for out in first.outputs[first.params["num_carry"] :]], np.asarray(value)

    plain, expected = stacked(step)
    kept, value = stacked(pc.checkpoint(step, prevent_cse=False))
    assert len(plain) >= 4
    assert kept == [(2, 3)]
    np.testing.assert_allclose(value, expected, rtol=1e-5)


def test_in_branches_and_under_nested_calls():
    f = pc.checkpoint(lambda x, i: cond(i > 0, lambda y: pnp.sin(y) ** 2, lambda y: y**3, x))
    for i in (0, 1):
        got = pc.jit(pc.grad(lambda x: pc.jit(f)(x, i)))(2.0)  # noqa: B023
        expected = jax.grad(lambda x: jax.numpy.sin(x) ** 2 if i else x**3)(2.0)  # noqa: B023
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_trees_keywords_and_static_arguments():
    traced = []

    def f(p, n, *, scale=1.0, mode="sum"):
        traced.append(n)
        y = p["x"] ** n * scale
        return {"y": y if mode == "sum" else -y}

    g = pc.checkpoint(f, static_argnums=(1,), static_argnames="mode")
    for mode, sign in (("sum", 1), ("other", -1), ("sum", 1)):
        got = pc.grad(lambda p: g(p, 3, scale=2.0, mode=mode)["y"])({"x": 2.0})  # noqa: B023
        np.testing.assert_allclose(got["x"], sign * 24.0)
    assert traced == [3, 3]  # an equal function is not traced again
    with pytest.raises(ValueError, match="static_argnums names argument 1 of 1 positional ones"):
        g({"x": 2.0})


def test_what_is_refused():
    with pytest.raises(NotImplementedError, match=r"checkpoint: concrete was removed.*static_argnums"):
        pc.checkpoint(layer, concrete=True)
    with pytest.raises(TypeError, match="checkpoint: takes a function, got 3"):
        pc.checkpoint(3)
    with pytest.raises(TypeError, match="prevent_cse must be a bool or a sequence of bools, got 1"):
        pc.checkpoint(layer, prevent_cse=1)
    with pytest.raises(TypeError, match="policy must be a function, got 'dots'"):
        pc.remat(layer, policy="dots")
    with pytest.raises(TypeError, match="checkpoint: argument 'x' of layer is 'a' of type str, not an array"):
        pc.checkpoint(layer)("a")
    with pytest.raises(pc.errors.TracerBoolConversionError, match=r"(?s)checkpoint of .*depends on the argument 'x'"):
        pc.checkpoint(lambda x: x if x > 0 else -x)(1.0)
    with pytest.raises(TypeError, match="save_only_these_names: takes names, got 3"):
        POLICIES.save_only_these_names(3)
    for answer in (3, Offloadable):
        with pytest.raises(TypeError, match=r"the policy answered .*, expected True or False, or Saveable"):
            pc.grad(total(pc.checkpoint(layer, policy=lambda *_, answer=answer, **__: answer)))(X)
    with pytest.raises(ValueError, match="the names a are in both lists"):
        POLICIES.save_and_offload_only_these_names(
            names_which_can_be_saved="ab", names_which_can_be_offloaded="a", offload_src="", offload_dst=""
        )
    with pytest.raises(TypeError, match="checkpoint_name: the name is a string"):
        checkpoint_name(X, 3)


def test_names_are_for_graphs_only():
    tree = {"a": X, "b": [1.0]}
    assert checkpoint_name(tree, "t") == tree
    assert float(pc.jit(lambda x: checkpoint_name({"x": x}, "t")["x"])(2.0)) == 2.0
    np.testing.assert_array_equal(pc.vmap(lambda x: checkpoint_name(x, "t"))(X), X)


def residuals(capsys, f, *args, **kwargs):
    pc.ad_checkpoint.print_saved_residuals(f, *args, **kwargs)
    lines = capsys.readouterr().out.splitlines()
    return sorted(line.split(" from /")[0] for line in lines)


def test_printed_residuals(capsys):
    def f(x, y):
        one, two = x
        z = checkpoint_name(pnp.sin(3.0), "z")
        return z * ((one * two) * y) * np.array([3.0])

    arguments = ["f32[] from the argument x[0]", "f32[] from the argument x[1]", "f32[] from the argument y"]
    own = ["f32[1] from a constant", "f32[] named 'z'", "f32[] output of mul"]
    assert residuals(capsys, f, (2.0, 3.0), y=4.0) == sorted(arguments + own)
    jitted = ["f32[1] from a constant", *["f32[] output of jitted function 'f'"] * 2]
    assert residuals(capsys, pc.jit(f), (2.0, 3.0), y=4.0) == sorted(arguments + jitted)


@pytest.mark.parametrize("names", [(), ("y",), ("y", "z", "w")])
def test_printed_residuals_of_a_policy(capsys, names):
    def f(x):
        y, z, w = (checkpoint_name(pnp.multiply(2.0, 2.0), name) for name in "yzw")
        return (((x * y) * z) * w) * pnp.multiply(2.0, 2.0)

    again = pc.checkpoint(f, policy=POLICIES.save_only_these_names(*names))
    assert residuals(capsys, again, 1.0) == sorted(f"f32[] named '{name}'" for name in names)
    others = pc.checkpoint(f, policy=POLICIES.save_any_names_but_these(*set("yzw") - set(names)))
    assert residuals(capsys, others, 1.0) == sorted(f"f32[] named '{name}'" for name in names)
