"""`profiler.device_memory_profile`: arrays in memory in the format of pprof, read by the fields of profile.proto."""

import gzip

import pytest

import pycompiler as pc
import pycompiler.numpy as pnp


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of each field: an int or bytes."""
    at, found = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at : at + value], at + value
        found.append((tag >> 3, value))
    return found


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def read(profile):
    """{(type, device): (count, bytes)}, by the tables of the profile."""
    parts = fields(gzip.decompress(profile))
    strings = [value.decode() for number, value in parts if number == 6]
    assert strings[0] == ""
    kinds = [[strings[v] for _, v in fields(value)] for number, value in parts if number == 1]
    assert kinds == [["allocations", "count"], ["space", "bytes"]]
    functions = {dict(fields(v))[1]: strings[dict(fields(v))[2]] for number, v in parts if number == 5}
    lines = {dict(fields(v))[1]: dict(fields(dict(fields(v))[4]))[1] for number, v in parts if number == 4}
    found = {}
    for number, value in parts:
        if number != 2:
            continue
        sample = fields(value)
        labels = dict(tuple(strings[x] for _, x in fields(v)) for n, v in sample if n == 3)
        assert labels["kind"] == "buffer"
        (place,) = packed(dict(sample)[1])
        found[functions[lines[place]], labels["device"]] = tuple(packed(dict(sample)[2]))
    return found


def test_the_arrays_of_each_type_are_counted(tmp_path):
    keep = [pnp.ones((123, 45)), pnp.zeros((123, 45)), pnp.ones(54321, pnp.int8)]
    found = read(pc.profiler.device_memory_profile())
    device = str(pc.devices()[0])
    assert found["f32[123,45]", device] == (2, 2 * 4 * 123 * 45)
    assert found["i8[54321]", device] == (1, 54321)
    path = tmp_path / "memory.prof"
    pc.profiler.save_device_memory_profile(path, backend="cpu")
    assert read(path.read_bytes()) == found
    del keep
    assert ("f32[123,45]", device) not in read(pc.profiler.device_memory_profile())
    with pytest.raises(ValueError, match="no platform 'tpu'"):
        pc.profiler.device_memory_profile("tpu")
