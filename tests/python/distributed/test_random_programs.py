"""Random programs have the same bits for every division of four devices among processes."""

import re

import pytest
from starting import HERE, start


def hashes(count, each, first, programs):
    codes, output = start(
        "pmi", count, [HERE / "random_programs.py", first, programs], PYCOMPILER_NUM_CPU_DEVICES=str(each)
    ).wait(60 + 2 * programs)
    assert codes == [0] * count, output
    found = dict(re.findall(r"^program (\d+) (\w+)$", output, re.M))
    assert len(found) == programs, output
    return found


@pytest.mark.parametrize(("first", "programs"), [(0, 10), pytest.param(10, 190, marks=pytest.mark.full)])
def test_random_programs_have_the_same_bits(first, programs):
    one = hashes(1, 4, first, programs)
    assert hashes(2, 2, first, programs) == one
    assert hashes(4, 1, first, programs) == one
