"""An operation that the table can't have, since the tests make it: for tests of what runs in eager torch."""

import torch


@torch.library.custom_op("pycompiler_tests::slope", mutates_args=())
def slope(x: torch.Tensor) -> torch.Tensor:
    return torch._dirichlet_grad(x.sigmoid(), x.abs() + 1, x.abs() + 2)


@slope.register_fake
def _(x):
    return torch.empty_like(x)
