"""The same bits for every division of the devices among processes: 1x4, 2x2, 4x1."""

import re

from starting import HERE, start


def digest(count, each, seed, **variables):
    codes, output = start(
        "pmi", count, [HERE / "divisions_program.py", seed], PYCOMPILER_NUM_CPU_DEVICES=str(each), **variables
    ).wait(100)
    assert codes == [0] * count, output
    return re.search(r"hash (\w+)", output)[1]


def test_divisions_of_the_devices_have_the_same_bits():
    one = digest(1, 4, 7)
    assert digest(2, 2, 7) == one
    assert digest(4, 1, 7) == one


def test_messages_of_mpi_have_the_bits_of_messages_in_shared_memory():
    assert digest(4, 1, 3, PYCOMPILER_SHARED_MEMORY="0") == digest(4, 1, 3)


def test_a_slow_network_gives_the_same_bits():
    assert digest(2, 2, 5, PYCOMPILER_MESSAGE_DELAY="3") == digest(1, 4, 5)
