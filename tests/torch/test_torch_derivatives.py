"""Torch's transformations of functions inside compiled programs."""

import pytest
import torch

FUNCTIONS = {
    "forward": lambda x: torch.func.jacfwd(lambda v: (x @ v).tanh())(x[0]),
    "second": lambda x: torch.func.hessian(lambda v: (v.sin() * v.exp()).sum())(x[0]),
    "of rows": lambda x: torch.vmap(torch.func.jacfwd(lambda v: torch.stack([v[0] * v[1], v.prod()])))(x),
    "along a tangent": lambda x: torch.func.jvp(lambda v: (v @ v).cumsum(0), (x,), (x * 2,)),
    "nested": lambda x: torch.func.jacfwd(torch.func.jacrev(lambda v: (v**3).sum()))(x[0]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name):
    function, x = FUNCTIONS[name], torch.randn(3, 3)
    torch.testing.assert_close(torch.compile(function, backend="pycompiler")(x), function(x), rtol=1e-4, atol=1e-5)
