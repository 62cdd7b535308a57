"""Training that is killed, and goes on from its checkpoint: with the same processes, with fewer, with one."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pycompiler as pc

HERE = Path(__file__).parent
PROGRAM = HERE / "train_program.py"


def _starting():
    place = HERE.parent / "distributed" / "starting.py"
    spec = importlib.util.spec_from_file_location("starting_of_checkpoints", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


starting = _starting()
pytestmark = pytest.mark.xdist_group("distributed")


def train(folder, count, steps=10, killed_at=-1, torn_at=-1):
    """The exit codes, the losses by step, and the output."""
    command = [PROGRAM, folder, steps, killed_at, torn_at, 60 * starting.patience()]
    if count == 1:
        python = [sys.executable, *map(str, command)]
        done = subprocess.run(python, env=starting.environment(), capture_output=True, text=True, timeout=120)
        codes, output = [done.returncode], done.stdout + done.stderr
    else:
        codes, output = starting.start("pmi", count, command).wait(80)
    return codes, {int(number): value for number, value in re.findall(r"step (\d+) (-?0x\S+)", output)}, output


def close(losses, others):
    assert losses.keys() == others.keys()
    for number, value in losses.items():
        assert float.fromhex(value) == pytest.approx(float.fromhex(others[number]), rel=1e-5)


def test_training_goes_on_with_four_two_and_one(tmp_path):
    codes, unbroken, output = train(tmp_path / "unbroken", 4)
    assert codes == [0] * 4, output
    assert len(unbroken) == 10

    folder = tmp_path / "broken"
    codes, first, output = train(folder, 4, killed_at=4)
    assert codes[3] == -9, output
    assert 0 not in codes, output
    assert 97 not in codes, output
    assert pc.checkpoint.latest(folder) == 3
    # The same mesh: the same bits.
    codes, second, output = train(folder, 4, steps=6)
    assert codes == [0] * 4, output
    assert list(second) == [3, 4, 5]
    assert second == {number: unbroken[number] for number in second}
    assert first.items() <= unbroken.items()
    # Another one: sums in another order.
    codes, third, output = train(folder, 2, steps=9)
    assert codes == [0] * 2, output
    close(third, {number: unbroken[number] for number in (6, 7, 8)})
    codes, fourth, output = train(folder, 1)
    assert codes == [0], output
    close(fourth, {9: unbroken[9]})
    # Of checkpoints that all were whole, the last two are kept.
    assert sorted(entry.name for entry in folder.iterdir()) == ["step-6", "step-9"]


@pytest.mark.parametrize("count", [2, 1])
def test_a_kill_in_the_middle_of_a_save(tmp_path, count):
    codes, _, output = train(tmp_path, count, torn_at=6)
    assert codes[-1] == -9, output
    assert 97 not in codes, output
    assert 0 not in codes, output
    assert pc.checkpoint.latest(tmp_path) == 3
    assert (tmp_path / "step-6").is_dir()
    codes, losses, output = train(tmp_path, count)
    assert codes == [0] * count, output
    assert list(losses) == [3, 4, 5, 6, 7, 8, 9]
    assert pc.checkpoint.latest(tmp_path) == 9
