"""Processes that live but do not come: the others say after a while where these are, and do not wait for ever."""

import re

import pytest
from starting import HERE, patience, start

SCRIPT = HERE / "program_of_waits.py"
TOLD = (
    r"pycompiler: process 0 has waited for \d s in launch 2, `summed` \(\S*program_of_waits.py:\d+\), for process 1 "
    r"\(.*, pid \d+\): "
)


def late(what, timeout):
    started = start("pmi", 3, [SCRIPT, what, 60 * patience()], PYCOMPILER_COLLECTIVE_TIMEOUT=str(timeout))
    return started.wait(80)


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("sleeps", r"it has not reached this launch, at program_of_waits.py:\d+ \(sleep_here\)"),
        ("holds", r"it has not reached this launch, and its Python does not answer"),
        ("callback", r"it computes in this launch, or before it, at program_of_waits.py:\d+ \(sleep_here\)"),
    ],
)
def test_a_late_process_is_named_with_its_line_and_awaited(what, told):
    codes, output = late(what, 8)
    assert codes == [0, 0, 0], output
    assert re.search(TOLD + told, output), output
    assert output.count("had its result") == 3


@pytest.mark.parametrize("what", ["sleeps", pytest.param("callback", marks=pytest.mark.full)])
def test_after_the_timeout_this_launch_fails_everywhere_and_the_next_works(what):
    codes, output = late(what, 2)
    assert codes == [0, 0, 0], output
    told = re.findall(r"process (\d) was told of (\d) after ([\d.]+): (.*) \[(.*)\]", output)
    assert sorted(number for number, *_ in told) == ["0", "1", "2"], output
    assert {other for _, other, *_ in told} == {"1"}, output
    assert all("(the setting collective_timeout)" in cause for *_, cause, _ in told), output
    assert all(re.fullmatch(r"program_of_waits.py:\d+ \(sleep_here\)", place) for *_, place in told), output
    assert output.count("is done") == 3
