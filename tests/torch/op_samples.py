"""Samples of torch's operator database (`op_db`) through the backend: forward and gradient, beside eager torch.

    python tests/torch/op_samples.py [--samples 2] [--dtypes float32,bfloat16] [--names add,mul] [--out FILE]

prints a table by outcome. A sample counts as right if its graphs have only operations of the table: others are `not
taken`. Samples run in a process of their own: one that dies is `crashed`, and the others go on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import random
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from unittest import mock

import numpy as np
import torch
from functorch.compile import aot_function, min_cut_rematerialization_partition, nop
from op_comparison import difference, gradients, is_nearer
from op_outcomes import Outcome, Wanted
from op_worker import Worker
from torch._decomp import core_aten_decompositions
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import pycompiler.torch  # noqa: F401
from pycompiler.torch.backend import decompositions
from pycompiler.torch.parts import compile_graph
from pycompiler.torch.rules import corrected

# Operations whose results are random, so that there are no values to compare, in some of their samples.
RANDOM = frozenset(
    {
        "bernoulli",
        "cauchy",
        "exponential",
        "geometric",
        "log_normal",
        "multinomial",
        "normal",
        "normal.in_place",
        "normal.number_mean",
        "uniform",
        "rand_like",
        "randint",
        "randint_like",
        "randn",
        "randn_like",
        "svd_lowrank",
        "pca_lowrank",
        "nn.functional.alpha_dropout",
        "nn.functional.dropout",
        "nn.functional.dropout2d",
        "nn.functional.dropout3d",
        "nn.functional.feature_alpha_dropout.with_train",
        "nn.functional.fractional_max_pool2d",
        "nn.functional.fractional_max_pool3d",
        "nn.functional.multi_head_attention_forward",
        "nn.functional.rrelu",
        "nn.functional.scaled_dot_product_attention",
    }
)
# Operations whose results have elements that torch does not set.
UNSET = frozenset(
    {
        "empty",
        "empty_like",
        "empty_permuted",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
        "resize_",
        "resize_as_",
    }
)
DYNAMIC = "+dynamic"


def name_of(op: Any) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def _seed(number: int) -> None:
    random.seed(number)
    np.random.seed(number)
    torch.manual_seed(number)


class Sample:
    """One call of an operation."""

    def __init__(self, op: Any, dtype: torch.dtype, number: int, sample: Any) -> None:
        self.op, self.dtype, self.number = op, dtype, number
        leaves, self.tree = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.leaves = leaves
        # Torch's choice of what is determined: an eigenvector without its sign.
        self.determined = sample.output_process_fn_grad

    def tensors(self) -> list[torch.Tensor]:
        """Fresh copies of the arguments that are tensors, in their layouts."""
        return [self._copy(self.leaves[place]) for place in self.places]

    @staticmethod
    def _copy(x: torch.Tensor) -> torch.Tensor:
        return x.detach().clone().requires_grad_(x.requires_grad)

    def call(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The results that are tensors."""
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        first, args, kwargs = pytree.tree_unflatten(leaves, self.tree)
        made = self.determined(self.op.op(first, *args, **kwargs))
        return tuple([leaf for leaf in pytree.tree_leaves(made) if isinstance(leaf, torch.Tensor)])


def has_gradient(op: Any, dtype: torch.dtype) -> bool:
    """Whether torch has the gradient of an operation."""
    return op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")


def samples(op: Any, dtype: torch.dtype, limit: int | None) -> Iterator[Sample]:
    """The samples of an operation, `limit` of them spread over all."""
    _seed(0)
    drawn = list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=has_gradient(op, dtype)), 400))
    chosen = range(len(drawn))
    if limit is not None and len(drawn) > limit:
        chosen = [round(number * (len(drawn) - 1) / max(limit - 1, 1)) for number in range(limit)]
    for number in chosen:
        yield Sample(op, dtype, number, drawn[number])


def _run(sample: Sample, compiler: Any, rules: Any, dynamic: bool) -> list[Any]:
    """Results and gradients of the sample, traced by torch."""
    _seed(sample.number)
    inputs = sample.tensors()
    function = aot_function(
        sample.call,
        compiler,
        compiler,
        partition_fn=min_cut_rematerialization_partition,
        decompositions=rules,
        dynamic=dynamic,
    )
    made = function(*inputs)
    return [*made, *gradients(made, inputs)]


def _eager(sample: Sample) -> tuple[list[Any], int]:
    """Results and gradients in eager torch, and the number of results."""
    inputs = sample.tensors()
    wanted = sample.call(*inputs)
    return [*wanted, *gradients(wanted, inputs)], len(wanted)


def _traced(sample: Sample, dynamic: bool) -> list[Any] | None:
    """Results and gradients of torch's own trace, run in eager torch; None if torch does not trace the sample."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _run(sample, nop, core_aten_decompositions(), dynamic)
        except Exception:
            return None


def _is_random(sample: Sample, wanted: list[Any]) -> bool:
    """Whether other seeds give other results in eager torch. The samples of random operations set a fixed one."""
    if name_of(sample.op) not in RANDOM:
        return name_of(sample.op) in UNSET
    # Few of all seeds choose other windows of a small image.
    for more in range(1, 9):
        _seed(sample.number + more)
        with mock.patch.object(torch, "manual_seed"):
            if difference(sample, wanted, _eager(sample)[0]):
                return True
    return False


def run(sample: Sample, dynamic: bool = False) -> Outcome:
    """The outcome of a sample. With `dynamic`, sizes of 2 and more are symbols."""
    number = sample.number
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _seed(number)
            wanted, results = _eager(sample)
            is_random = _is_random(sample, wanted)
        except Exception as error:
            return Outcome(number, "skipped", f"{type(error).__name__}: {error}")
        if not wanted:
            return Outcome(number, "skipped", "no tensors")
    entered: list[bool] = []

    def compiler(module: torch.fx.GraphModule, examples: Any) -> Any:
        entered.append(True)
        return compile_graph(module)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            with corrected():
                made = _run(sample, compiler, decompositions(), dynamic)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            if not entered and _traced(sample, dynamic) is None:
                return Outcome(number, "skipped", f"torch does not trace it: {why}")
            return Outcome(number, "failed", why)
    texts = [str(one.message) for one in told if "run in eager torch" in str(one.message)]
    left = sorted({name for text in texts for name in re.findall(r"^  (\S+), \d+ times", text, re.MULTILINE)})
    if len(made) != len(wanted):
        # A trace of torch's that has lost a gradient, as that of a sparse tensor, is torch's result.
        traced = _traced(sample, dynamic)
        wanted = traced if traced is not None and len(traced) == len(made) else wanted
    outcome = Outcome(number, "not taken" if left else "right", "".join(texts[:1]), left, random=is_random)
    outcome.forward = True
    outcome.gradient = any(x is not None for x in wanted[results:])
    different = difference(sample, wanted, made, is_random)
    if different and not is_nearer(sample, wanted, made):
        outcome.kind, outcome.why = "wrong", different
    return outcome


def outcomes(name: str, case: str, limit: int | None, until: tuple[str, ...] = ()) -> Iterator[Any]:
    """The outcomes of an operation's samples, each after its number. With `until`, of the first samples that have these
    parts compared: "forward", "gradient"."""
    # Its error would take the place of the results.
    os.environ.pop("PYCOMPILER_TORCH_STRICT", None)
    op = next(op for op in op_db if name_of(op) == name)
    missing = set(until)
    for sample in samples(op, getattr(torch, case.removesuffix(DYNAMIC)), limit):
        yield sample.number
        outcome = run(sample, case.endswith(DYNAMIC))
        outcome.why = outcome.why[:400]
        yield outcome
        missing -= {part for part in missing if getattr(outcome, part)}
        if until and not missing:
            break


def wanted_of(op: Any, case: str) -> Wanted:
    return Wanted(name_of(op), case, has_gradient(op, getattr(torch, case.removesuffix(DYNAMIC))))


def cases(dtypes: str, names: set[str] | None = None, dynamic: bool = False) -> Iterator[tuple[Any, str]]:
    """The operations with each of their dtypes, of those that are named."""
    for op in op_db:
        for dtype in dtypes.split(","):
            if (names is None or op.name in names) and getattr(torch, dtype) in op.supported_dtypes("cpu"):
                yield op, dtype + DYNAMIC * dynamic


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=2, help="of each operation and dtype; 0 for all")
    parser.add_argument("--first", action="store_true", help="the first samples with results and gradients to compare")
    parser.add_argument("--dtypes", default="float32")
    parser.add_argument("--names", default="")
    parser.add_argument("--from", dest="start", default="")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--dynamic", action="store_true", help="sizes of 2 and more are symbols")
    parser.add_argument("--out", default="", help="a file for one line of JSON for each sample")
    given = parser.parse_args()
    names = set(given.names.split(",")) if given.names else None
    counts: dict[str, Counter[str]] = {}
    begin = time.time()
    out = open(given.out, "a") if given.out else None  # noqa: SIM115
    chosen = list(cases(given.dtypes, names, given.dynamic))
    if given.start:
        chosen = list(itertools.dropwhile(lambda one: one[0].name != given.start, chosen))
    worker = Worker(outcomes)
    for op, case in chosen:
        if time.time() - begin > given.seconds:
            print("stopped before", op.name)
            break
        wanted = wanted_of(op, case)
        until = ("forward", "gradient")[: 1 + wanted.gradient] if given.first else ()
        made = worker(wanted.name, case, None if until else given.samples or None, until)
        record = {"name": wanted.name, "case": case, "wanted": wanted.gradient}
        if out is not None:
            for line in [{**record, **asdict(outcome)} for outcome in made] or [record]:
                print(json.dumps(line), file=out, flush=True)
        for outcome in made:
            counts.setdefault(case, Counter())[outcome.kind] += 1
            if out is None and outcome.kind not in ("right", "skipped"):
                print(wanted.name, case, outcome.number, outcome.kind, outcome.why[:300], flush=True)
    worker.close()
    for case, count in counts.items():
        computed = sum(count.values()) - count["skipped"]
        print(f"{case}: {count['right']} of {computed} samples right", dict(count))
    return 0


if __name__ == "__main__":
    sys.exit(main())
