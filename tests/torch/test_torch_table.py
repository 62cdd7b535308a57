"""Which operations the table has, and which are named as left to eager torch; rows that torch's operator database does
not reach, beside eager torch."""

import pytest
import torch
from op_outcomes import KNOWN

from pycompiler.torch.aten import entry_of
from pycompiler.torch.backend import decompositions
from pycompiler.torch.left import LEFT


def target_of(name):
    namespace, _, name = name.partition("::")
    packet, _, overload = name.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")


def is_number(target):
    return all(str(one.type) in ("int", "bool", "SymInt", "SymBool") for one in target._schema.returns)


def core_operations():
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("aten::") and torch.Tag.core in (target := target_of(name)).tags:
            yield name, target


def is_composite(target):
    """Whether torch's own kernel consists of other operations: a trace has these."""
    return torch._C._dispatch_has_kernel_for_dispatch_key(target.name(), "CompositeImplicitAutograd")


def test_core_operations_have_a_row_or_a_reason():
    core = dict(core_operations())
    assert len(core) > 150
    missing = [
        name
        for name, target in core.items()
        if entry_of(target) is None
        and target not in decompositions()
        and not is_composite(target)
        and not is_number(target)
        and name.partition(".")[0] not in LEFT
    ]
    assert missing == []


def test_operations_that_samples_leave_have_a_reason():
    names = {
        word
        for line in (KNOWN / "not_taken.txt").read_text().splitlines()
        for word in line.split()[2:]
        if not line.startswith("#")
    }
    assert "aten.nonzero.default" in names
    for name in names:
        namespace, packet, overload = name.split(".")
        has_row = namespace == "aten" and entry_of(getattr(getattr(torch.ops.aten, packet), overload)) is not None
        assert has_row or f"{namespace}::{packet}" in LEFT, name


def test_operations_with_a_reason_have_no_row():
    for name in LEFT:
        namespace, _, packet = name.partition("::")
        if namespace == "aten":
            operation = getattr(torch.ops.aten, packet)
            assert any(entry_of(getattr(operation, overload)) is None for overload in operation.overloads()), name


def test_the_warning_has_the_reason(monkeypatch):
    """Assertions on data are no work, and have no warning."""
    monkeypatch.delenv("PYCOMPILER_TORCH_STRICT", raising=False)
    torch._dynamo.reset()
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        function = torch.compile(lambda x: torch.nonzero(x + 1), backend="pycompiler", fullgraph=True)
        with pytest.warns(UserWarning, match=": 1 operations") as told:
            assert torch.equal(function(torch.tensor([1.0, -1.0])), torch.tensor([[0]]))
    assert "aten.nonzero.default" in str(told[0].message)
    assert LEFT["aten::nonzero"] in str(told[0].message)


aten = torch.ops.aten
X = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
INTS = (X * 3).int()
MATRICES = X[:, :3], X[:3], X[:, :3] @ X[:3]


@pytest.mark.parametrize(
    "function",
    [
        lambda: torch.hamming_window(7),
        lambda: torch.hamming_window(6, periodic=False, alpha=0.3, beta=0.7, dtype=torch.float64),
        lambda: (torch.hamming_window(0), torch.hamming_window(1), torch.bartlett_window(1)),
        lambda: (torch.bartlett_window(6), torch.bartlett_window(7, periodic=False)),
        lambda: (torch.range(1, 3, 0.5), torch.range(5, -3, -2), torch.range(0, 3, dtype=torch.int32)),
        lambda: torch.func.jvp(torch.nn.functional.glu, (X,), (X * 2,)),
        lambda: (aten._is_all_true(X > -9), aten._is_any_true(X > 9)),
        lambda: (*aten._aminmax(X), *aten._aminmax.dim(X, 1, True)),
        lambda: torch.lu_unpack(*torch.linalg.lu_factor(X[:4]), unpack_data=False),
        lambda: torch.lu_unpack(*torch.linalg.lu_factor(X[:4]), unpack_pivots=False),
        lambda: torch.hash_tensor(X),
        lambda: (torch.hash_tensor(INTS, (1,)), torch.hash_tensor(X > 0, (0, 1)), torch.hash_tensor(X[0, 0])),
        lambda: torch.hash_tensor(X.bfloat16(), (0,), keepdim=True),
        lambda: aten._addmm_activation(MATRICES[2], *MATRICES[:2], beta=0.5, alpha=2),
        lambda: aten._addmm_activation(MATRICES[2], *MATRICES[:2], use_gelu=True),
        lambda: aten._stack([X, X + 1], 1),
    ],
)
def test_rows_beside_eager_torch(function, monkeypatch):
    monkeypatch.setenv("PYCOMPILER_TORCH_STRICT", "1")
    torch._dynamo.reset()
    wanted, made = function(), torch.compile(function, backend="pycompiler", fullgraph=True)()
    for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (made, wanted)), strict=True):
        torch.testing.assert_close(one, other)


def test_convolutions_over_time(monkeypatch):
    monkeypatch.setenv("PYCOMPILER_TORCH_STRICT", "1")
    torch._dynamo.reset()
    given = [torch.randn(5, 4, 3), torch.randn(3, 3, 2), torch.randn(2)]
    one, two = ([x.clone().requires_grad_() for x in given] for _ in range(2))
    function = lambda x, weight, bias: torch.conv_tbc(x, weight, bias, 1)  # noqa: E731
    wanted, made = function(*one), torch.compile(function, backend="pycompiler", fullgraph=True)(*two)
    torch.testing.assert_close(made, wanted)
    wanted.square().sum().backward()
    made.square().sum().backward()
    torch.testing.assert_close([x.grad for x in two], [x.grad for x in one])
