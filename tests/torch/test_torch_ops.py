"""Torch's operator database through the backend: a part of its operations; all, with all samples, under `-m full`.

Each test holds the outcomes of one operation's samples, with one dtype, against the lists in known/ (op_outcomes.py),
and counts what was compared: results at least once, and gradients where torch has them. The samples run in a process
beside the tests (op_worker.py).
"""

import zlib

import pytest
from op_crashes import work
from op_outcomes import Known, Outcome, Wanted, problems
from op_samples import RANDOM, UNSET, cases, name_of, outcomes, wanted_of
from op_worker import Worker
from torch.testing._internal.common_methods_invocations import op_db

DTYPES = "float32,float64,bfloat16,int64,int32,int16,int8,uint8,bool,complex64,float16,complex128"
# The quick run has one operation of this many for each case but float32, and one of the second number for float32.
ONE_OF, ONE_OF_FLOAT32 = 32, 6

KNOWN = Known.read()


@pytest.fixture(scope="module")
def worker():
    made = Worker(outcomes)
    yield made
    made.close()


def _cases(quick: bool):
    for op, case in [*cases(DTYPES), *cases("float32,int8", dynamic=True)]:
        share = ONE_OF_FLOAT32 if case == "float32" else ONE_OF
        if not quick or zlib.crc32(f"{name_of(op)} {case}".encode()) % share == 0:
            yield pytest.param(wanted_of(op, case), id=f"{name_of(op)}-{case}")


def _parts(wanted: Wanted) -> tuple[str, ...]:
    """What at least one sample has to have compared."""
    parts = ("forward", "gradient") if wanted.gradient else ("forward",)
    return tuple([part for part in parts if (wanted.name, wanted.case, part) not in KNOWN.uncompared])


@pytest.mark.parametrize("wanted", list(_cases(quick=True)))
def test_first_samples(wanted, worker):
    """The first samples until everything was compared that torch has."""
    parts = _parts(wanted)
    limit = None if parts else 1
    assert not problems(wanted, worker(wanted.name, wanted.case, limit, parts), KNOWN, every=False)


@pytest.mark.full
@pytest.mark.parametrize("wanted", list(_cases(quick=False)))
def test_all_samples(wanted, worker):
    made = worker(wanted.name, wanted.case, None)
    assert not problems(wanted, made, KNOWN, every=True)
    is_random = any(one.random for one in made)
    assert is_random or wanted.name not in RANDOM or not any(one.forward for one in made), "take it from RANDOM"


def test_the_lists_name_operations_and_cases_of_the_database():
    tested = {(wanted.name, wanted.case) for param in _cases(quick=False) for wanted in param.values}
    assert sorted(KNOWN.keys() - tested) == []
    assert sorted((RANDOM | UNSET) - {name_of(op) for op in op_db}) == []
    names = [name_of(op) for op in op_db]
    assert len(set(names)) == len(names)


WANTED = Wanted("f", "float32", gradient=True)
RIGHT = Outcome(0, "right", forward=True, gradient=True)


@pytest.mark.parametrize(
    ("outcomes", "known", "said"),
    [
        ([RIGHT], {}, ""),
        ([], {}, "no sample has a forward"),
        ([Outcome(0, "skipped", "torch raises")], {}, "no sample has a forward"),
        ([Outcome(0, "skipped"), Outcome(1, "right", forward=True)], {}, "no sample has a gradient"),
        ([Outcome(0, "right", forward=True)], {"uncompared": "f int8,float32 gradient why"}, ""),
        ([RIGHT], {"uncompared": "f float32 gradient why"}, "take it from known/uncompared.txt"),
        ([RIGHT, Outcome(1, "wrong", "is 2")], {}, "wrong: sample 1: is 2"),
        ([RIGHT, Outcome(1, "wrong", "is 2")], {"wrong": "f float32 2 why"}, "wrong: sample 1: is 2"),
        ([RIGHT, Outcome(1, "wrong", "is 2")], {"wrong": "f int64 1 why"}, "wrong: sample 1: is 2"),
        ([RIGHT, Outcome(3, "failed", "is 2")], {"wrong": "f float32 1-4 why\n"}, ""),
        ([RIGHT], {"wrong": "# f\nf float32 0 why"}, "take it from known/wrong.txt"),
        ([RIGHT], {"wrong": "f float32 all why"}, "take it from known/wrong.txt"),
        ([RIGHT, Outcome(1, "crashed", "SIGSEGV")], {"wrong": "f float32 1 why"}, "crashed: sample 1: SIGSEGV"),
        ([RIGHT, Outcome(1, "not taken", left=["a"])], {}, "not taken: sample 1 leaves ['a'] to torch"),
        ([RIGHT, Outcome(1, "not taken", left=["a"])], {"not_taken": "f float32 a b"}, ""),
        ([RIGHT, Outcome(1, "not taken", left=["a", "c"])], {"not_taken": "f float32 a b"}, "leaves ['c'] to torch"),
        ([RIGHT, Outcome(1, "wrong", "is 2", ["a"])], {"wrong": "f float32 1 why"}, "leaves ['a'] to torch"),
    ],
)
def test_outcomes_beside_lists(outcomes, known, said):
    found = problems(WANTED, outcomes, Known(**known), every=False)
    assert any(said in one for one in found) if said else not found, found


@pytest.mark.parametrize(
    "known", [{"wrong": "f float32 5 why"}, {"wrong": "f float32 1 why"}, {"not_taken": "f float32 a"}]
)
def test_all_samples_beside_lists(known):
    """A line for a sample that torch skips, or does not have, or an operation that is taken, is no longer needed."""
    outcomes = [RIGHT, Outcome(1, "skipped")]
    assert problems(WANTED, outcomes, Known(**known), every=True)
    assert not problems(WANTED, outcomes, Known(), every=True)


@pytest.mark.parametrize(("how", "said"), [("signal", "SIGSEGV"), ("error", "of the work"), ("hang", "more than 5 s")])
def test_a_crash_is_reported_and_the_next_call_works(how, said):
    worker = Worker(work, seconds=5)
    made = worker(how)
    assert [(one.number, one.kind) for one in made] == [(0, "right"), (1, "crashed")]
    assert said in made[1].why
    assert "op_crashes.py" in made[1].why
    assert [one.kind for one in worker("")] == ["right"] * 3
    worker.close()
