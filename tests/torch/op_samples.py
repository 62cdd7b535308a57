"""Samples of torch's operator database (`op_db`) through the backend: forward and gradient, beside eager torch.

    python tests/torch/op_samples.py [--samples 2] [--dtypes float32,bfloat16] [--names add,mul] [--out FILE]

prints a table by outcome. A sample counts if its graphs have only operations of the table: others are `not taken`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch
from functorch.compile import aot_function, min_cut_rematerialization_partition
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import pycompiler.torch  # noqa: F401
from pycompiler.torch.backend import decompositions
from pycompiler.torch.parts import compile_graph

# The relative and absolute difference that two correct results may have.
BOUNDS = {
    torch.float64: (1e-6, 1e-7),
    torch.float32: (2e-4, 2e-5),
    torch.bfloat16: (3e-2, 1e-2),
    torch.float16: (4e-3, 2e-3),
    torch.complex64: (2e-4, 2e-5),
    torch.complex128: (1e-6, 1e-7),
}

# Results that are random, or not set, have no values to compare.
RANDOM = ("dropout", "rand", "bernoulli", "normal", "uniform", "exponential", "cauchy", "geometric", "log_normal",
          "multinomial", "empty", "rrelu", "lowrank", "multi_head_attention", "resize")  # fmt: skip


def is_random(name: str) -> bool:
    return any(part in name for part in RANDOM)


class Sample:
    """One call of an operation."""

    def __init__(self, op: Any, dtype: torch.dtype, number: int, sample: Any) -> None:
        self.op, self.dtype, self.number = op, dtype, number
        leaves, self.tree = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.leaves = leaves
        # Torch's choice of what is determined: an eigenvector without its sign.
        self.determined = sample.output_process_fn_grad

    @property
    def name(self) -> str:
        variant = f".{self.op.variant_test_name}" if self.op.variant_test_name else ""
        return f"{self.op.name}{variant}"

    def tensors(self) -> list[torch.Tensor]:
        """Fresh copies of the arguments that are tensors, in their layouts."""
        return [self._copy(self.leaves[place]) for place in self.places]

    @staticmethod
    def _copy(x: torch.Tensor) -> torch.Tensor:
        return x.detach().clone(memory_format=torch.preserve_format).requires_grad_(x.requires_grad)

    def call(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The results that are tensors."""
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        first, args, kwargs = pytree.tree_unflatten(leaves, self.tree)
        made = self.determined(self.op.op(first, *args, **kwargs))
        return tuple([leaf for leaf in pytree.tree_leaves(made) if isinstance(leaf, torch.Tensor)])


def samples(op: Any, dtype: torch.dtype, limit: int | None) -> Iterator[Sample]:
    """The samples of an operation, `limit` of them spread over all."""
    torch.manual_seed(0)
    grad = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    drawn = list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=grad), 400))
    chosen = range(len(drawn))
    if limit is not None and len(drawn) > limit:
        chosen = [round(number * (len(drawn) - 1) / max(limit - 1, 1)) for number in range(limit)]
    for number in chosen:
        yield Sample(op, dtype, number, drawn[number])


def _gradients(results: tuple[torch.Tensor, ...], inputs: list[torch.Tensor]) -> list[torch.Tensor | None]:
    """The gradients of a sum of the results with fixed weights."""
    wanted = [x for x in results if x.requires_grad]
    given = [x for x in inputs if x.requires_grad]
    if not wanted or not given:
        return []
    weights = [torch.linspace(0.5, 1.5, x.numel(), dtype=torch.float64).reshape(x.shape).to(x.dtype) for x in wanted]
    return list(torch.autograd.grad(wanted, given, weights, allow_unused=True))


def run(sample: Sample, dynamic: bool = False) -> tuple[str, str]:
    """The outcome of a sample and what went wrong: right, wrong, not taken, failed; skipped if torch itself fails.
    With `dynamic`, sizes of 2 and more are symbols."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            inputs = sample.tensors()
            wanted = sample.call(*inputs)
            slopes = _gradients(wanted, inputs)
        except Exception as error:
            return "skipped", f"{type(error).__name__}: {error}"
        if not wanted:
            return "skipped", "no tensors"
    problems: list[str] = []

    def compiler(module: torch.fx.GraphModule, examples: Any) -> Any:
        try:
            return compile_graph(module)
        except RuntimeError as error:
            problems.append(str(error))
            raise

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            inputs = sample.tensors()
            function = aot_function(
                sample.call,
                compiler,
                compiler,
                partition_fn=min_cut_rematerialization_partition,
                decompositions=decompositions(),
                dynamic=dynamic,
            )
            made = function(*inputs)
            got = _gradients(made, inputs)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            if "on tensor with symbolic sizes/strides" in text:
                return "skipped", "torch itself does not trace it with symbols"
            if "Please convert all Tensors to FakeTensors" in text:
                return "skipped", "a tensor inside of an index"
            if not problems and ("DataDependent" in text or "DynamicOutputShape" in text or "Unsupported" in text):
                return "skipped", text
            return "failed", text
    taken = [str(one.message) for one in told if "run in eager torch" in str(one.message)]
    difference = _difference(sample, [*wanted, *slopes], [*made, *got])
    if difference and not _is_nearer(sample, [*wanted, *slopes], [*made, *got]):
        return "wrong", difference
    return ("not taken", taken[0]) if taken else ("right", "")


# The dtype that shows how far a result is from the exact one.
WIDER = {
    torch.float32: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float16: torch.float64,
    torch.complex64: torch.complex128,
}


def _is_nearer(sample: Sample, wanted: list[Any], made: list[Any]) -> bool:
    """Whether the results are no farther from those of a wider dtype than eager torch's."""
    if sample.dtype not in WIDER or len(wanted) != len(made):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            inputs = [_widened(x) for x in sample.tensors()]
            exact = sample.call(*inputs)
            exact = [*exact, *_gradients(exact, inputs)]
        except Exception:
            return False
    return len(exact) == len(made) and all(
        _is_no_farther(*three) for three in zip(exact, map(_detached, wanted), map(_detached, made), strict=True)
    )


def _widened(x: torch.Tensor) -> torch.Tensor:
    return x.detach().to(WIDER.get(x.dtype, x.dtype)).requires_grad_(x.requires_grad)


def _detached(x: torch.Tensor | None) -> torch.Tensor | None:
    return None if x is None else x.detach()


def _is_no_farther(exact: Any, wanted: Any, made: Any) -> bool:
    if made is None or wanted is None or exact is None:
        return made is wanted
    if made.shape != wanted.shape or made.dtype != wanted.dtype or exact.shape != made.shape:
        return False
    if made.dtype not in WIDER:
        return torch.equal(made, wanted)
    exact, same = exact.detach(), (made == wanted) | (made.isnan() & wanted.isnan())
    ours, torchs = (torch.where(same, 0, (x.to(exact.dtype) - exact).abs()) for x in (made, wanted))
    # An element that torch has at all bounds ours by the largest error of torch's; others are bounded by rounding.
    known = torchs.isfinite()
    largest = torchs[known].max() if bool(known.any()) else torchs.new_zeros(())
    rounding = 16 * torch.finfo(made.dtype).eps * exact.abs()
    return bool((ours <= torch.where(known, largest, rounding)).all())


# Which of equal elements they name is open.
PLACES = ("sort", "topk", "kthvalue", "msort", "argsort", "mode", "median", "nanmedian")


def _elements(sample: Sample, results: list[Any]) -> list[Any]:
    """The results, with the elements that they name in the place of places."""
    if sample.op.name not in PLACES or len(results) < 2 or results[1] is None or results[1].dtype != torch.int64:
        return results
    x = sample.leaves[sample.places[0]]
    dims = [d for d in range(x.ndim) if x.ndim == results[1].ndim and x.shape[d] != results[1].shape[d]]
    named = [x.gather(d, results[1]) for d in dims[:1]] if x.ndim else []
    return [results[0], *named, *results[2:]]


def _difference(sample: Sample, wanted: list[Any], made: list[Any]) -> str:
    wanted, made = _elements(sample, wanted), _elements(sample, made)
    if len(wanted) != len(made):
        return f"{len(made)} results, and torch has {len(wanted)}"
    for number, (one, other) in enumerate(zip(wanted, made, strict=True)):
        if one is None or other is None:
            if (one is None) != (other is None) and (one if other is None else other).count_nonzero() != 0:
                return f"result {number} is {other}, and torch's is {one}"
            continue
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"result {number} is {other.dtype}{list(other.shape)}, and torch's is {one.dtype}{list(one.shape)}"
        if is_random(sample.name):
            continue
        rtol, atol = BOUNDS.get(sample.dtype, (2e-4, 2e-5))
        try:
            torch.testing.assert_close(
                other.detach(), one.detach(), rtol=rtol, atol=atol, equal_nan=True, check_stride=False
            )
        except AssertionError as error:
            return f"result {number}: " + " ".join(str(error).split())
    return ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--dtypes", default="float32")
    parser.add_argument("--names", default="")
    parser.add_argument("--from", dest="start", default="")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--dynamic", action="store_true", help="sizes of 2 and more are symbols")
    parser.add_argument("--out", default="")
    given = parser.parse_args()
    names = set(given.names.split(",")) if given.names else None
    counts: Counter[str] = Counter()
    begin = time.time()
    out = open(given.out, "a") if given.out else None  # noqa: SIM115
    started = not given.start
    for op in op_db:
        started = started or op.name == given.start
        if not started or (names is not None and op.name not in names):
            continue
        if time.time() - begin > given.seconds:
            print("stopped before", op.name)
            break
        for name in given.dtypes.split(","):
            dtype = getattr(torch, name)
            if dtype not in op.supported_dtypes("cpu"):
                continue
            for sample in samples(op, dtype, given.samples):
                outcome, why = run(sample, given.dynamic)
                counts[outcome] += 1
                if out is not None:
                    print(json.dumps([sample.name, name, sample.number, outcome, why[:400]]), file=out, flush=True)
                elif outcome not in ("right", "skipped"):
                    print(sample.name, name, sample.number, outcome, why[:300], flush=True)
    print(dict(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
