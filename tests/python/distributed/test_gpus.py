"""GPUs of several processes, emulated: which of them each process takes, and collectives by NCCL or by the host."""

import json
import tempfile
from pathlib import Path

import pytest
import starting

from pycompiler.distributed.gpus import given, share

EMULATED = Path(__file__).parents[3] / "build" / "tests"
PROGRAM = Path(__file__).parent / "gpu_program.py"


def test_processes_of_a_machine_divide_its_gpus():
    four = ["a", "b", "c", "d"]
    assert [share([four] * 4, ["m"] * 4, process) for process in range(4)] == [[0], [1], [2], [3]]
    assert [share([four] * 2, ["m"] * 2, process) for process in range(2)] == [[0, 1], [2, 3]]
    assert [share([four] * 3, ["m"] * 3, process) for process in range(3)] == [[0], [1], [2, 3]]
    # Alone on its machine, or with GPUs of its own.
    assert share([four, four], ["m", "n"], 1) == [0, 1, 2, 3]
    assert [share([["a", "b"], ["c", "d"]], ["m"] * 2, process) for process in range(2)] == [[0, 1], [0, 1]]
    # A machine whose GPUs are numbered differently for each process.
    assert share([["a", "b"], ["b", "a"]], ["m"] * 2, 1) == [1]
    # More processes than GPUs, and none.
    assert [share([["a", "b"]] * 3, ["m"] * 3, process) for process in range(3)] == [[0], [1], [0]]
    assert share([[], []], ["m"] * 2, 1) == []


def test_local_device_ids_are_numbers_of_visible_gpus():
    assert given(1, ["a", "b"]) == [1]
    assert given((1, 0), ["a", "b"]) == [1, 0]
    with pytest.raises(ValueError, match=r"local_device_ids must be different numbers below 2.*got \[2\]"):
        given([2], ["a", "b"])
    with pytest.raises(ValueError, match="different numbers"):
        given([1, 1], ["a", "b"])
    with pytest.raises(TypeError, match="must be an int or a sequence of ints, got 'a'"):
        given("a", ["a", "b"])


def told_by(count, gpus, kind="standard-abi", **variables):
    """What each of `count` processes on a machine of so many GPUs tells, by process."""
    base = {
        "PYCOMPILER_PLATFORM": "gpu",
        "PYCOMPILER_CUDA_DRIVER": str(EMULATED / "libcuda-emulated.so"),
        "PYCOMPILER_EMULATED_DEVICES": str(gpus),
        "PYCOMPILER_NCCL": str(EMULATED / "libnccl-emulated.so"),
    }
    with tempfile.TemporaryDirectory() as folder:
        codes, output = starting.start(kind, count, [PROGRAM, folder], **(base | variables)).wait(120)
        assert not any(codes), output
        found = [json.loads((Path(folder) / f"{process}.json").read_text()) for process in range(count)]
    assert [each["process"] for each in found] == list(range(count)), output
    return found


@pytest.fixture(scope="module")
def in_one_process():
    (alone,) = told_by(1, 4, kind="standard-abi")
    assert alone["local"] == [0, 1, 2, 3]
    assert alone["exchanges"] == 0
    return alone["total"]


def test_two_processes_of_two_gpus_by_nccl(in_one_process):
    told = told_by(2, 4)
    assert [each["local"] for each in told] == [[0, 1], [2, 3]]
    assert all(each["devices"] == ["cuda:0", "cuda:1", "cuda:2", "cuda:3"] for each in told)
    assert all(each["exchanges"] > 0 for each in told)
    assert all(each["total"] == in_one_process for each in told)
    assert not any(each["remarks"] for each in told)


def test_four_processes_of_one_gpu_without_a_launcher(in_one_process):
    told = told_by(4, 4, kind="pmi")
    assert [each["local"] for each in told] == [[0], [1], [2], [3]]
    assert all(each["exchanges"] > 0 and each["total"] == in_one_process for each in told)


def test_where_one_process_lacks_nccl_all_go_by_the_host(in_one_process):
    told = told_by(2, 4, WITHOUT_NCCL="1")
    assert not any(each["exchanges"] for each in told)
    assert all(each["total"] == in_one_process for each in told)
    assert [each["remarks"] for each in told] == [[], ["library-not-used"]]


def test_the_setting_leaves_nccl_out(in_one_process):
    told = told_by(2, 4, PYCOMPILER_GPU_LIBRARIES="none")
    assert all(each["exchanges"] == 0 and each["total"] == in_one_process for each in told)


def test_a_process_may_see_gpus_of_its_own(in_one_process):
    told = told_by(2, 4, VISIBLE_OF="3,1;0,2")
    assert [each["local"] for each in told] == [[0, 1], [0, 1]]
    assert all(each["exchanges"] > 0 and each["total"] == in_one_process for each in told)


def test_processes_that_share_a_gpu_go_by_the_host():
    told = told_by(3, 2)
    assert [each["local"] for each in told] == [[0], [1], [0]]
    assert not any(each["exchanges"] for each in told)
    assert [each["remarks"] for each in told] == [["gpu-shared"], [], ["gpu-shared"]]


def test_chosen_gpus():
    told = told_by(2, 4, CHOSEN="3;1,2")
    assert [each["local"] for each in told] == [[3], [1, 2]]
    assert all(each["exchanges"] > 0 for each in told)
