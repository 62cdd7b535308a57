"""Memory: views, donation, memory borrowed from NumPy, statistics, limits, new pages."""

import functools
import gc
import os
import subprocess
import sys
import warnings
import weakref

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _runtime as rt
from pycompiler import lax

# 1 MiB of float32 in 512 rows: large enough for a view; a row is too small.
SHAPE = (512, 512)
VALUES = np.arange(512 * 512, dtype=np.float32).reshape(SHAPE)
DEVICE = pc.devices()[0]


def place(array) -> int:
    """The address of the elements."""
    return np.asarray(array).__array_interface__["data"][0]


def run(code: str, **environment: str) -> str:
    """The output of a program that starts with the imports of this file."""
    head = "import resource, numpy as np, pycompiler as pc, pycompiler.numpy as pnp\nfrom pycompiler import lax\n"
    done = subprocess.run(
        [sys.executable, "-c", head + code], env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def x():
    return pnp.array(VALUES)


# Views

WHOLE = {
    "reshape": (lambda x: x.reshape(256, 1024), VALUES.reshape(256, 1024)),
    "ravel": (pnp.ravel, VALUES.ravel()),
    "new axis": (lambda x: x[None], VALUES[None]),
    "expand_dims": (lambda x: pnp.expand_dims(x, (0, 3)), VALUES[None, :, :, None]),
    "squeeze": (lambda x: pnp.squeeze(pnp.expand_dims(x, 1)), VALUES),
    "bits": (lambda x: lax.bitcast_convert_type(x, np.int32), VALUES.view(np.int32)),
    "ones moved": (lambda x: pnp.moveaxis(x[:, None], 1, 2), VALUES[:, :, None]),
}
PARTS = {
    "rows": (lambda x: x[100:300], VALUES[100:300], 100 * 512 * 4),
    "rows to the end": (lambda x: x[256:], VALUES[256:], 256 * 512 * 4),
    "rows of a reshaped": (lambda x: x.reshape(64, 4096)[1:33].ravel(), VALUES.reshape(64, 4096)[1:33].ravel(), 16384),
    "a large row": (lambda x: x.reshape(4, -1)[2], VALUES.reshape(4, -1)[2], 2 * 65536 * 4),
    "a range of a place": (lambda x: x.reshape(2, 256, 512)[1, 10:200], VALUES[266:456], 266 * 512 * 4),
}
COPIED = {
    "columns": (lambda x: x[:, 1:500], VALUES[:, 1:500]),
    "every other row": (lambda x: x[::2], VALUES[::2]),
    "transposed": (lambda x: x.T, VALUES.T),
    "less than 64 KiB": (lambda x: x[:31], VALUES[:31]),
    "less than an eighth": (lambda x: x[:63], VALUES[:63]),
    "backwards": (lambda x: x[::-1], VALUES[::-1]),
    "another dtype": (lambda x: x.astype(np.int32), VALUES.astype(np.int32)),
    "bits of half the width": (lambda x: lax.bitcast_convert_type(x, np.int16), VALUES.view(np.int16)[..., None]),
}


@pytest.mark.parametrize("how", ["eager", "jit"])
@pytest.mark.parametrize("name", WHOLE)
def test_the_same_elements_in_another_shape_are_not_copied(x, name, how):
    function, expected = WHOLE[name]
    result = (pc.jit(function) if how == "jit" else function)(x)
    assert place(result) == place(x)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("how", ["eager", "jit"])
@pytest.mark.parametrize("name", PARTS)
def test_a_large_run_of_elements_is_not_copied(x, name, how):
    function, expected, offset = PARTS[name]
    if name == "a range of a place":
        how = "jit"  # eagerly, one compiled slice serves every place
    result = (pc.jit(function) if how == "jit" else function)(x)
    assert place(result) - place(x) == offset
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", COPIED)
def test_other_parts_are_copied(x, name):
    function, expected = COPIED[name]
    result = pc.jit(function)(x)
    inside = place(x) <= place(result) < place(x) + x.nbytes
    assert not inside
    np.testing.assert_array_equal(result, np.asarray(expected).reshape(result.shape))


def test_views_next_to_what_is_computed(x):
    flat, twice, same, lower = pc.jit(lambda x: (x.ravel(), 2 * x, x, x[256:]))(x)
    assert same is not x
    assert place(same) == place(x)
    assert (place(flat) - place(x), place(lower) - place(x)) == (0, 256 * 512 * 4)
    np.testing.assert_array_equal(twice, 2 * VALUES)
    np.testing.assert_array_equal(lower, VALUES[256:])


def test_a_view_of_a_view_keeps_the_first_memory_alone():
    gc.collect()
    before = rt.memory_stats().live_buffers
    x = pnp.array(VALUES)
    start = place(x)
    part = x[128:][128:]
    assert place(part) - start == 256 * 512 * 4
    del x
    assert rt.memory_stats().live_buffers == before + 1
    np.testing.assert_array_equal(part, VALUES[256:])
    # An eighth of the part, but not of the memory.
    assert not start <= place(part[:63]) < start + VALUES.nbytes


def test_a_small_part_keeps_no_large_memory():
    x = pnp.array(VALUES)
    row = x[3]
    held = rt.memory_stats().live_bytes
    del x
    assert rt.memory_stats().live_bytes < held - VALUES.nbytes // 2
    np.testing.assert_array_equal(row, VALUES[3])


def test_a_view_of_what_is_pending_waits_for_it(x):
    work = pc.jit(lambda x: lax.fori_loop(0, 300, lambda i, y: y + 1, x))
    work(x).block_until_ready()
    pending = work(x)
    part = pending.reshape(-1)[65536:]
    assert part.is_ready() <= pending.is_ready()
    np.testing.assert_array_equal(part, VALUES.ravel()[65536:] + 300)


def test_a_view_of_what_failed_has_the_first_error(load):
    large = rt.ShapedArray(SHAPE, np.float32)
    (failed,) = load("fails", cost_ns=1e9).execute([pnp.ones(4)], [large])
    part = failed[256:].ravel()
    for _ in range(2):
        with pytest.raises(Exception, match="fails: a library routine failed"):
            part.block_until_ready()
    np.testing.assert_array_equal(pnp.ones(3) + 1, [2, 2, 2])


def test_a_view_outlives_the_deletion_of_its_array(x):
    part, whole = x[256:], x.ravel()
    x.delete()
    np.testing.assert_array_equal(part, VALUES[256:])
    np.testing.assert_array_equal(whole, VALUES.ravel())
    for function in (pnp.ravel, lambda x: x[256:], lambda x: x.reshape(4, -1)[1]):
        with pytest.raises(Exception, match="was deleted by delete"):
            function(x).block_until_ready()


def test_memory_of_others_is_copied_by_views():
    given = np.arange(1 << 16, dtype=np.float32)
    shared = pnp.from_dlpack(given)
    assert place(shared) == given.ctypes.data
    whole, part = shared.reshape(2, -1), shared[1 << 14 :]
    pc.block_until_ready((whole, part))
    given[:] = 7
    assert float(whole[0, 1]) == 1
    assert float(part[1]) == (1 << 14) + 1


def test_views_are_where_their_array_is():
    code = """
second = pc.devices()[1]
x = pc.device_put(np.zeros((512, 512), np.float32), second)
views = [x.reshape(-1), x[256:], *pc.jit(lambda x: (x.ravel(), x[256:], x + 1))(x)]
print([view.device == second and view.committed for view in views])
print([view.device == second for view in (x.reshape(-1)[:3], (x.ravel() + 1)[1 << 17:])])
"""
    assert run(code, PYCOMPILER_NUM_CPU_DEVICES="2") == "[True, True, True, True, True]\n[True, True]"


KERNELS = {
    "sum": (lambda x: x.sum(), lambda x: np.float32(x.astype(np.float64).sum())),
    "elementwise": (lambda x: pnp.sqrt(x) + x, lambda x: np.sqrt(x) + x),
    "rows": (lambda x: x.reshape(-1, 127).max(axis=1), lambda x: x.reshape(-1, 127).max(axis=1)),
    "product": (lambda x: x[: 127 * 127].reshape(127, 127) @ pnp.eye(127), lambda x: x[: 127 * 127].reshape(127, 127)),
    "sorted": (lambda x: pnp.sort(-x), lambda x: np.sort(-x)),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, ml_dtypes.bfloat16, np.int8])
def test_kernels_take_arguments_that_are_aligned_to_an_element_alone(name, dtype):
    function, reference = KERNELS[name]
    count = 127 * 1040
    with pc.enable_x64(dtype is np.float64):
        values = (np.arange(count + 1) % 100).astype(dtype)
        whole = pnp.array(values)
        part = whole[1:]
        assert place(part) - place(whole) == whole.dtype.itemsize
        result = np.asarray(pc.jit(function)(part))
        expected = reference(values[1:])
        if dtype in (np.float32, np.float64) or name in ("rows", "sorted", "product"):
            np.testing.assert_allclose(result.astype(np.float64), np.asarray(expected, np.float64), rtol=1e-6)
        np.testing.assert_array_equal(result, pc.jit(function)(pnp.array(values[1:])))


# Donation


def told(x):
    """The warnings of a call that x is donated to, and whether the result has its memory."""
    start, expected = place(x), np.asarray(x) + 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = pc.jit(lambda x: x + 1, donate_argnums=0)(x).block_until_ready()
    assert x.is_deleted()
    np.testing.assert_array_equal(result, expected)
    return [str(warning.message) for warning in caught], place(result) == start


def test_memory_that_nobody_else_has_is_taken(x):
    assert told(x) == ([], True)


def test_a_donation_with_a_live_slice(x):
    part = x[256:]
    messages, taken = told(x)
    assert not taken
    assert "f32[512,512] was copied" in messages[0]
    assert "a live slice of it uses its memory" in messages[0]
    np.testing.assert_array_equal(part, VALUES[256:])


def test_a_donation_with_a_live_reshape(x):
    flat = x.ravel()
    messages, taken = told(x)
    assert not taken
    assert "another array has its memory too" in messages[0]
    np.testing.assert_array_equal(flat, VALUES.ravel())


def test_a_donation_that_numpy_looks_at(x):
    seen = np.asarray(x)
    messages, taken = told(x)
    assert not taken
    assert "NumPy, or another library, reads its memory" in messages[0]
    np.testing.assert_array_equal(seen, VALUES)


def test_a_donation_that_another_library_looks_at(x):
    seen = np.from_dlpack(x)
    assert not told(x)[1]
    np.testing.assert_array_equal(seen, VALUES)


def test_a_donation_of_borrowed_memory():
    given = VALUES.copy()
    messages, taken = told(pnp.from_dlpack(given))
    assert not taken
    assert "its memory is another library's" in messages[0]
    np.testing.assert_array_equal(given, VALUES)


def test_a_donation_of_what_the_call_has_twice(x):
    f = pc.jit(lambda x, y: x + 2 * y, donate_argnums=0)
    same = pc.jit(lambda x: x)(x)
    with pytest.warns(UserWarning, match="the call has it twice"):
        result = f(x, same)
    np.testing.assert_array_equal(result, 3 * VALUES)
    np.testing.assert_array_equal(same, VALUES)
    with pytest.raises(ValueError, match="is given twice"):
        f(same, same)


def test_a_donated_part():
    x = pnp.array(VALUES)
    part = x[256:]
    messages, taken = told(part)
    assert not taken
    assert "it is a part of another array's memory" in messages[0]
    np.testing.assert_array_equal(x, VALUES)
    # The remaining part of an array at an aligned place is as good as separate memory; at other places it is not.
    part, odd = x[256:], pnp.array(VALUES.ravel())[1:]
    x.delete()
    assert told(part)[1]
    assert not told(odd)[1]


def test_views_that_donated_memory_is_returned_as(x):
    f = pc.jit(lambda x: (x.ravel(), x[256:], x + 1), donate_argnums=0)
    start = place(x)
    flat, part, more = f(x)
    assert x.is_deleted()
    assert (place(flat), place(part)) == (start, start + 256 * 512 * 4)
    np.testing.assert_array_equal(flat, VALUES.ravel())
    np.testing.assert_array_equal(part, VALUES[256:])
    np.testing.assert_array_equal(more, VALUES + 1)


UNUSABLE = {
    "shape": (lambda x, y: x.sum() + y.sum(), "no result has its shape and dtype"),
    "dtype": (lambda x, y: x.astype(np.int32) + y.astype(np.int32), "no result of its shape has its dtype"),
    "taken": (lambda x, y: x + y, "another donated argument's memory is taken"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_donation_that_fits_nothing_says_why(name):
    function, reason = UNUSABLE[name]
    with pytest.warns(UserWarning, match=reason):
        pc.jit(function, donate_argnums=(0, 1))(pnp.ones(SHAPE), pnp.ones(SHAPE))


def test_a_donation_that_is_returned_is_nothing_to_be_told():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = pnp.ones(SHAPE)
        first, second = pc.jit(lambda x: (x, x.ravel()), donate_argnums=0)(x)
    assert x.is_deleted()
    assert place(first) == place(second)


# NumPy's memory

identity = pc.jit(lambda x: x)
LARGE = 1 << 16


def numbers(count=LARGE, dtype=np.float32):
    return np.arange(count, dtype=dtype)


@pytest.fixture
def learned():
    """The dtype must occur once before arrays of it are converted without Python."""
    identity(numbers())


def test_a_temporary_is_not_copied(learned):
    addresses = []

    def fresh():
        made = numbers()
        addresses.append(made.ctypes.data)
        return made

    results = [identity(fresh()), identity(x=fresh()), identity(fresh().ravel() + 0)]
    assert [place(result) for result in results[:2]] == addresses[:2]
    for result in results:
        np.testing.assert_array_equal(result, numbers())


def test_nor_is_it_copied_where_a_guard_of_transfers_allows_it(learned):
    with pc.transfer_guard("disallow"), pytest.raises(RuntimeError, match="type numpy"):
        identity(numbers())
    addresses = []

    def fresh():
        made = numbers()
        addresses.append(made.ctypes.data)
        return made

    results = [identity(fresh())]
    with pc.transfer_guard("disallow"), pc.transfer_guard("allow"):
        identity(numbers())  # the dtype is learned for each configuration
        results.append(identity(fresh()))
    assert [place(result) for result in results] == addresses


def test_a_named_array_is_copied(learned):
    given = numbers()
    result = identity(given)
    assert place(result) != given.ctypes.data
    given[:] = 0
    np.testing.assert_array_equal(result, numbers())


def test_what_a_later_write_could_reach_is_copied(learned):
    given = [numbers()]
    address = given[0].ctypes.data
    results = [identity(given[0]), identity(*given), identity(*tuple(given)), identity(x=given[0])]
    results += list(map(identity, given))
    results.append(identity(memoryview(given[0]).obj))
    tree = pc.jit(lambda tree: tree[0])
    results.append(tree(given))
    arguments = (given.pop(),)
    results.append(identity(*arguments))
    arguments[0][:] = 0
    for result in results:
        assert place(result) != address
        np.testing.assert_array_equal(result, numbers())


def test_a_partial_keeps_its_arguments(learned):
    given = numbers()
    address = given.ctypes.data
    partial = functools.partial(identity, given)
    del given
    result = partial()
    assert place(result) != address
    partial.args[0][:] = 0
    np.testing.assert_array_equal(result, numbers())


def test_parts_read_only_arrays_and_subclasses_are_copied(learned):
    class Own(np.ndarray):
        pass

    base = numbers(2 * LARGE)
    locked = numbers()
    locked.flags.writeable = False
    assert place(identity(base[:LARGE])) != base.ctypes.data
    assert place(identity(locked)) != locked.ctypes.data
    own = numbers().view(Own)
    assert place(identity(own)) != own.ctypes.data
    base[:] = 0


def test_a_weakly_referenced_array_is_copied(learned):
    references = []

    def fresh():
        made = numbers()
        references.append((weakref.ref(made), made.ctypes.data))
        return made

    result = identity(fresh())
    assert place(result) != references[0][1]
    np.testing.assert_array_equal(result, numbers())


def test_misaligned_and_small_arrays_are_copied(learned):
    raw = np.zeros(4 * LARGE + 1, np.uint8)
    odd = raw[1:].view(np.float32)
    assert not odd.flags.aligned
    result = identity(odd)
    raw[:] = 1
    np.testing.assert_array_equal(result, np.zeros(LARGE, np.float32))
    addresses = []

    def fresh():
        made = numbers(LARGE // 8)
        addresses.append(made.ctypes.data)
        return made

    result = identity(fresh())
    assert place(result) not in addresses


def test_borrowed_memory_goes_back_when_the_work_is_done(learned):
    work = pc.jit(lambda x: lax.fori_loop(0, 50, lambda i, y: y + 1, x))
    for _ in range(3):
        results = [work(np.ones(1 << 18, np.float32)) for _ in range(20)]
        for result in results:
            np.testing.assert_array_equal(result, np.full(1 << 18, 51, np.float32))


# Statistics


def test_live_arrays_are_those_that_are_alive():
    gc.collect()
    before = {id(array) for array in pc.live_arrays()}
    x, y = pnp.ones(3), pnp.ones(4)
    found = [array for array in pc.live_arrays() if id(array) not in before]
    assert [array.shape for array in found] == [(3,), (4,)]
    assert pc.live_arrays("cpu")[-1] is y
    del found
    y.delete()
    assert pc.live_arrays()[-1] is x
    del x
    gc.collect()
    assert {id(array) for array in pc.live_arrays()} <= before
    with pytest.raises(ValueError, match=r"live_arrays: there is no platform 'tpu' here, only cpu"):
        pc.live_arrays("tpu")


def test_the_devices_statistics():
    DEVICE.reset_peak_memory()
    before = DEVICE.memory_stats()
    assert before["peak_bytes_in_use"] >= before["bytes_in_use"]
    x = pnp.zeros((1 << 21,), np.float32)
    x.block_until_ready()
    now = DEVICE.memory_stats()
    assert now["bytes_in_use"] - before["bytes_in_use"] == 8 << 20
    assert now["peak_bytes_in_use"] - before["peak_bytes_in_use"] >= 8 << 20
    assert now["num_allocs"] > before["num_allocs"]
    assert now["largest_alloc_size"] >= 8 << 20
    assert now["pool_bytes"] >= now["bytes_in_use"]
    del x
    rt.synchronize()  # the execution lets go of its result a moment after the result is there
    later = DEVICE.memory_stats()
    assert later["bytes_in_use"] == before["bytes_in_use"]
    assert later["peak_bytes_in_use"] == now["peak_bytes_in_use"]
    DEVICE.reset_peak_memory()
    assert DEVICE.memory_stats()["peak_bytes_in_use"] < now["peak_bytes_in_use"]
    assert DEVICE.memory_stats()["bytes_limit"] >= 1 << 28


# Limits


@pytest.fixture
def limited():
    """A limit of 32 MiB above the live memory."""
    gc.collect()
    pc.config.update("memory_limit", DEVICE.memory_stats()["bytes_in_use"] + (32 << 20))
    yield
    pc.config.update("memory_limit", None)


def test_out_of_memory_names_what_is_large_and_who_made_it(limited):
    held = pnp.ones((1 << 20, 4)) * 2  # 16 MiB
    held.block_until_ready()
    del_me = pnp.ones((1 << 19,))
    with pytest.raises(MemoryError) as caught:
        pnp.zeros((1 << 22, 2)).block_until_ready()
    text = str(caught.value)
    assert "32.0 MiB (33554432 bytes)" in text
    assert "f32[4194304,2]" in text
    assert "cpu:0 has a limit of" in text
    line = f"{__file__}:{test_out_of_memory_names_what_is_large_and_who_made_it.__code__.co_firstlineno + 1}"
    assert f"16.0 MiB f32[1048576,4] made at {line} by multiply" in text
    assert "2.0 MiB f32[524288] made at" in text
    # The next call works.
    np.testing.assert_array_equal(pnp.ones(3) + 1, [2, 2, 2])
    del held, del_me
    pnp.zeros((1 << 20, 2)).block_until_ready()


def test_temporaries_that_there_is_no_memory_for_are_an_error_at_the_read(limited):
    @pc.jit
    def hungry(x):
        return pnp.sort(pnp.outer(x, x).ravel())[::4096].sum()

    x = pnp.ones(1 << 12)
    result = hungry(x)
    with pytest.raises(MemoryError, match=r"temporaries: out of memory: cannot allocate .* MiB"):
        result.block_until_ready()
    np.testing.assert_array_equal(pc.jit(lambda x: x.sum())(x), 4096)


def test_the_limit_is_a_setting_of_the_environment():
    code = """
print(pc.devices()[0].memory_stats()["bytes_limit"])
try:
    pnp.zeros(1 << 20).block_until_ready()
except MemoryError as error:
    print("limit of 1.0 MiB" in str(error))
"""
    assert run(code, PYCOMPILER_MEMORY_LIMIT=str(1 << 20)).split() == [str(1 << 20), "True"]


def test_a_repeated_call_touches_no_new_page():
    code = """
f = pc.jit(lambda x: x * 2 + 1)
x = pnp.ones(1 << 20)
for _ in range(10):
    f(x).block_until_ready()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    f(x).block_until_ready()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
    # A fresh result of 4 MiB has 1024 pages, or two large ones.
    assert int(run(code)) < 50


def test_ten_thousand_calls_stay_within_the_bound(load):
    large = rt.ShapedArray((1 << 18,), np.float32)
    x = pnp.ones(1 << 18)
    slow = load("brief_add_one", cost_ns=1e9)
    DEVICE.reset_peak_memory()
    before = DEVICE.memory_stats()["bytes_in_use"]
    held = None
    for _ in range(300):
        (held,) = slow.execute([x], [large])
    held.block_until_ready()
    assert DEVICE.memory_stats()["peak_bytes_in_use"] - before <= 256 << 20
