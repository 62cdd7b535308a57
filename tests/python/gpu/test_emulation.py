"""GPU kernels run on the CPU: cooperation of the threads of a block and of the lanes of a warp."""

import numpy as np
import pytest
from emulation import LaunchError, Program, empty

RNG = np.random.default_rng(7)


def program(arguments, kernel, launch):
    """A @main that launches one kernel, @k, on all its arguments: `arguments` are pairs of a type and a role."""
    head = ", ".join(f'%a{i}: {kind} {{array.role = "{role}"}}' for i, (kind, role) in enumerate(arguments))
    passed = ", ".join(f"%a{i} : {kind}" for i, (kind, _) in enumerate(arguments))
    grid, block = launch
    sizes = sorted({*grid, *block})
    constants = "\n".join(f"%c{size} = arith.constant {size} : index" for size in sizes)
    blocks, threads = (", ".join(f"%c{size}" for size in three) for three in launch)
    return Program(f"""
module attributes {{gpu.container_module}} {{
  func.func @main({head}) {{
    {constants}
    gpu.launch_func @kernels::@k blocks in ({blocks}) threads in ({threads}) args({passed})
    return
  }}
  gpu.module @kernels {{
    {kernel}
  }}
}}
""")


def test_elementwise_with_a_tail():
    run = program(
        [("memref<1000xf32>", "argument"), ("memref<1000xf32>", "argument"), ("memref<1000xf32>", "result")],
        """
    gpu.func @k(%x: memref<1000xf32>, %y: memref<1000xf32>, %z: memref<1000xf32>) kernel {
      %i = gpu.global_id x
      %n = arith.constant 1000 : index
      %inside = arith.cmpi ult, %i, %n : index
      scf.if %inside {
        %a = memref.load %x[%i] : memref<1000xf32>
        %b = memref.load %y[%i] : memref<1000xf32>
        %e = math.exp %a : f32
        %c = arith.addf %e, %b : f32
        memref.store %c, %z[%i] : memref<1000xf32>
      }
      gpu.return
    }""",
        ((4, 1, 1), (256, 1, 1)),
    )
    x, y = RNG.standard_normal((2, 1000)).astype(np.float32)
    (z,) = run([x, y], [empty(1000, np.float32)])
    np.testing.assert_allclose(z, np.exp(x) + y, rtol=1e-6, atol=1e-6)


def test_a_sum_over_the_block_through_shared_memory():
    run = program(
        [("memref<8x128xi32>", "argument"), ("memref<8xi32>", "result")],
        """
    gpu.func @k(%x: memref<8x128xi32>, %out: memref<8xi32>)
        workgroup(%shared: memref<128xi32, #gpu.address_space<workgroup>>) kernel {
      %row = gpu.block_id x
      %i = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %own = memref.load %x[%row, %i] : memref<8x128xi32>
      memref.store %own, %shared[%i] : memref<128xi32, #gpu.address_space<workgroup>>
      gpu.barrier
      %end = scf.while (%half = %c64) : (index) -> index {
        %more = arith.cmpi ugt, %half, %c0 : index
        scf.condition(%more) %half : index
      } do {
      ^bb0(%half: index):
        %takes = arith.cmpi ult, %i, %half : index
        scf.if %takes {
          %j = arith.addi %i, %half : index
          %a = memref.load %shared[%i] : memref<128xi32, #gpu.address_space<workgroup>>
          %b = memref.load %shared[%j] : memref<128xi32, #gpu.address_space<workgroup>>
          %c = arith.addi %a, %b : i32
          memref.store %c, %shared[%i] : memref<128xi32, #gpu.address_space<workgroup>>
        }
        gpu.barrier
        %next = arith.shrui %half, %c1 : index
        scf.yield %next : index
      }
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        %sum = memref.load %shared[%c0] : memref<128xi32, #gpu.address_space<workgroup>>
        memref.store %sum, %out[%row] : memref<8xi32>
      }
      gpu.return
    }""",
        ((8, 1, 1), (128, 1, 1)),
    )
    x = RNG.integers(-1000, 1000, (8, 128), np.int32)
    (out,) = run([x], [empty(8, np.int32)])
    np.testing.assert_array_equal(out, x.sum(1))


# Mode and offset, and for each lane the lane that it reads, or -1.
SHUFFLES = {
    "xor 5": lambda lane: lane ^ 5,
    "up 3": lambda lane: lane - 3 if lane >= 3 else -1,
    "down 30": lambda lane: lane + 30 if lane < 2 else -1,
    "idx 17": lambda lane: 17,
}
TYPES = {"i8": np.int8, "f16": np.float16, "i32": np.int32, "f32": np.float32, "i64": np.int64, "f64": np.float64}


@pytest.mark.parametrize("kind", TYPES)
def test_shuffles(kind):
    array, bytes_ = f"memref<64x{kind}>", "memref<64xi8>"
    parameters, code = "", ""
    for n, shuffle in enumerate(SHUFFLES):
        mode, offset = shuffle.split()
        parameters += f", %y{n}: {array}, %seen{n}: {bytes_}"
        code += f"""
      %offset{n} = arith.constant {offset} : i32
      %other{n}, %valid{n} = gpu.shuffle {mode} %own, %offset{n}, %width : {kind}
      %byte{n} = arith.extui %valid{n} : i1 to i8
      memref.store %other{n}, %y{n}[%i] : {array}
      memref.store %byte{n}, %seen{n}[%i] : {bytes_}"""
    run = program(
        [(array, "argument"), *((kind, "result") for kind in [array, bytes_] * len(SHUFFLES))],
        f"""
    gpu.func @k(%x: {array}{parameters}) kernel {{
      %i = gpu.thread_id x
      %width = arith.constant 32 : i32
      %own = memref.load %x[%i] : {array}
      {code}
      gpu.return
    }}""",
        ((1, 1, 1), (64, 1, 1)),
    )
    x = RNG.integers(-100, 100, 64).astype(TYPES[kind])
    if x.itemsize == 8:
        x *= TYPES[kind](1 << 40)  # both halves matter
    results = run([x], [empty(64, dtype) for _ in SHUFFLES for dtype in (x.dtype, np.int8)])
    for source, y, seen in zip(SHUFFLES.values(), results[::2], results[1::2], strict=True):
        sources = np.array([source(lane) for lane in range(32)])
        heard = sources >= 0
        np.testing.assert_array_equal(seen, np.tile(heard, 2))
        for warp in (slice(0, 32), slice(32, 64)):
            np.testing.assert_array_equal(y[warp][heard], x[warp][sources[heard]])


@pytest.mark.parametrize("kind", ["f32", "f64", "f16"])
def test_reductions_over_warps(kind):
    run = program(
        [(f"memref<3x32x{kind}>", "argument"), (f"memref<3x32x{kind}>", "result"), (f"memref<3x32x{kind}>", "result")],
        f"""
    gpu.func @k(%x: memref<3x32x{kind}>, %sums: memref<3x32x{kind}>, %greatest: memref<3x32x{kind}>) kernel {{
      %warp = gpu.subgroup_id : index
      %lane = gpu.lane_id
      %own = memref.load %x[%warp, %lane] : memref<3x32x{kind}>
      %sum = gpu.subgroup_reduce add %own : ({kind}) -> {kind}
      %max = gpu.subgroup_reduce maximumf %own cluster(size = 8) : ({kind}) -> {kind}
      memref.store %sum, %sums[%warp, %lane] : memref<3x32x{kind}>
      memref.store %max, %greatest[%warp, %lane] : memref<3x32x{kind}>
      gpu.return
    }}""",
        ((1, 1, 1), (16, 3, 2)),
    )
    x = RNG.integers(-20, 20, (3, 32)).astype(TYPES[kind])
    sums, greatest = run([x], [empty(x.shape, x.dtype), empty(x.shape, x.dtype)])
    np.testing.assert_array_equal(sums, np.broadcast_to(x.sum(1, keepdims=True), x.shape))
    np.testing.assert_array_equal(greatest, x.reshape(3, 4, 8).max(2).repeat(8, 1))


def test_a_reduction_over_the_block():
    run = program(
        [("memref<128xf32>", "argument"), ("memref<128xf32>", "result")],
        """
    gpu.func @k(%x: memref<128xf32>, %sums: memref<128xf32>) kernel {
      %i = gpu.thread_id x
      %own = memref.load %x[%i] : memref<128xf32>
      %sum = gpu.all_reduce add %own uniform {} : (f32) -> f32
      memref.store %sum, %sums[%i] : memref<128xf32>
      gpu.return
    }""",
        ((1, 1, 1), (128, 1, 1)),
    )
    x = RNG.integers(-100, 100, 128).astype(np.float32)
    (sums,) = run([x], [empty(128, np.float32)])
    np.testing.assert_array_equal(sums, np.full(128, x.sum()))


TRANSPOSE = """
    gpu.func @k(%x: memref<64x96xf32>, %y: memref<96x64xf32>)
        workgroup(%tile: memref<32x33xf32, #gpu.address_space<workgroup>>) kernel {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %i = gpu.thread_id y
      %j = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c32 = arith.constant 32 : index
      %left = arith.muli %bx, %c32 : index
      %top = arith.muli %by, %c32 : index
      scf.for %step = %c0 to %c32 step %c8 {
        %r = arith.addi %i, %step : index
        %row = arith.addi %top, %r : index
        %column = arith.addi %left, %j : index
        %v = memref.load %x[%row, %column] : memref<64x96xf32>
        memref.store %v, %tile[%r, %j] : memref<32x33xf32, #gpu.address_space<workgroup>>
      }
      BARRIER
      scf.for %step = %c0 to %c32 step %c8 {
        %r = arith.addi %i, %step : index
        %row = arith.addi %left, %r : index
        %column = arith.addi %top, %j : index
        %v = memref.load %tile[%j, %r] : memref<32x33xf32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%row, %column] : memref<96x64xf32>
      }
      gpu.return
    }"""


@pytest.mark.parametrize("waits", [True, False])
def test_a_transpose_through_shared_memory(waits):
    arguments = [("memref<64x96xf32>", "argument"), ("memref<96x64xf32>", "result")]
    kernel = TRANSPOSE.replace("BARRIER", "gpu.barrier" if waits else "")
    run = program(arguments, kernel, ((3, 2, 1), (32, 8, 1)))
    x = RNG.standard_normal((64, 96)).astype(np.float32)
    (y,) = run([x], [empty((96, 64), np.float32)])
    # A missing barrier shows in the results.
    assert np.array_equal(y, x.T) == waits


def test_atomics():
    run = program(
        [("memref<1024xi32>", "argument"), ("memref<8xf32>", "result"), ("memref<8xi32>", "result")],
        """
    gpu.func @k(%x: memref<1024xi32>, %counts: memref<8xf32>, %greatest: memref<8xi32>) kernel {
      %i = gpu.global_id x
      %one = arith.constant 1.0 : f32
      %seven = arith.constant 7 : i32
      %v = memref.load %x[%i] : memref<1024xi32>
      %bits = arith.andi %v, %seven : i32
      %bin = arith.index_castui %bits : i32 to index
      %old = memref.atomic_rmw addf %one, %counts[%bin] : (f32, memref<8xf32>) -> f32
      %before = memref.generic_atomic_rmw %greatest[%bin] : memref<8xi32> {
      ^bb0(%current: i32):
        %max = arith.maxsi %current, %v : i32
        memref.atomic_yield %max : i32
      }
      gpu.return
    }""",
        ((8, 1, 1), (128, 1, 1)),
    )
    x = RNG.integers(0, 1 << 20, 1024, np.int32)
    counts, greatest = empty(8, np.float32), empty(8, np.int32)
    counts[:] = greatest[:] = 0
    run([x], [counts, greatest])
    np.testing.assert_array_equal(counts, np.bincount(x & 7, minlength=8))
    np.testing.assert_array_equal(greatest, [x[x & 7 == bin].max() for bin in range(8)])


def test_shared_memory_of_the_launch_and_scalars():
    run = Program("""
module attributes {gpu.container_module} {
  func.func @main(%out: memref<64xf32> {array.role = "result"}) {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %bytes = arith.constant 128 : i32
    %half = arith.constant 0.5 : f32
    %yes = arith.constant true
    scf.for %part = %c0 to %c2 step %c1 {
      gpu.launch_func @kernels::@reverse blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
        dynamic_shared_memory_size %bytes args(%out : memref<64xf32>, %part : index, %half : f32, %yes : i1)
    }
    return
  }
  gpu.module @kernels {
    gpu.func @reverse(%out: memref<64xf32>, %part: index, %scale: f32, %flag: i1)
        workgroup(%own: memref<3xf32, #gpu.address_space<workgroup>>) kernel {
      %i = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %c31 = arith.constant 31 : index
      %raw = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %all = memref.view %raw[%c0][] : memref<?xi8, #gpu.address_space<workgroup>>
        to memref<32xf32, #gpu.address_space<workgroup>>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        memref.store %scale, %own[%c0] : memref<3xf32, #gpu.address_space<workgroup>>
      }
      %bits = arith.index_cast %i : index to i32
      %v = arith.sitofp %bits : i32 to f32
      memref.store %v, %all[%i] : memref<32xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %j = arith.subi %c31, %i : index
      %w = memref.load %all[%j] : memref<32xf32, #gpu.address_space<workgroup>>
      %s = memref.load %own[%c0] : memref<3xf32, #gpu.address_space<workgroup>>
      %u = arith.mulf %w, %s : f32
      %base = arith.muli %part, %c32 : index
      %at = arith.addi %base, %i : index
      scf.if %flag {
        memref.store %u, %out[%at] : memref<64xf32>
      }
      gpu.return
    }
  }
}
""")
    (out,) = run([], [empty(64, np.float32)])
    np.testing.assert_array_equal(out, np.tile(np.arange(31, -1, -1) * 0.5, 2))


def test_threads_that_wait_at_different_places():
    run = program(
        [("memref<32xi32>", "result")],
        """
    gpu.func @k(%x: memref<32xi32>) kernel {
      %i = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %width = arith.constant 32 : i32
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        gpu.barrier
      } else {
        %y, %valid = gpu.shuffle xor %one, %one, %width : i32
        memref.store %y, %x[%i] : memref<32xi32>
      }
      gpu.return
    }""",
        ((1, 1, 1), (32, 1, 1)),
    )
    with pytest.raises(LaunchError, match="deadlock: thread"):
        run([], [empty(32, np.int32)])


def test_an_access_beyond_the_shared_memory():
    run = program(
        [("memref<1xi32>", "result")],
        """
    gpu.func @k(%x: memref<1xi32>) workgroup(%s: memref<32xi32, #gpu.address_space<workgroup>>) kernel {
      %far = arith.constant 1000 : index
      %c0 = arith.constant 0 : index
      %v = memref.load %s[%far] : memref<32xi32, #gpu.address_space<workgroup>>
      memref.store %v, %x[%c0] : memref<1xi32>
      gpu.return
    }""",
        ((1, 1, 1), (1, 1, 1)),
    )
    with pytest.raises(LaunchError, match=r"thread \(0, 0, 0\) of block \(0, 0, 0\) accesses 0x"):
        run([], [empty(1, np.int32)])


@pytest.mark.parametrize("wrong", ["behind the result", "behind the argument", "into the argument"])
def test_an_access_that_a_kernel_must_not_do(wrong):
    # An element beyond 1024 is on the protected page; an element beyond 1000 is after the result.
    size = 1000 if wrong == "behind the result" else 1024
    stored = "%x" if wrong == "into the argument" else "%y"
    run = program(
        [(f"memref<{size}xf32>", "argument"), (f"memref<{size}xf32>", "result")],
        f"""
    gpu.func @k(%x: memref<{size}xf32>, %y: memref<{size}xf32>) kernel {{
      %i = gpu.global_id x
      %one = arith.constant 1 : index
      %next = arith.addi %i, %one : index
      %v = memref.load %x[{"%next" if wrong == "behind the argument" else "%i"}] : memref<{size}xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, {stored}[{"%next" if wrong == "behind the result" else "%i"}] : memref<{size}xf32>
      gpu.return
    }}""",
        ((size // 8, 1, 1), (8, 1, 1)),
    )
    message = "accesses 0x" if wrong == "behind the argument" else "behind result 0|argument 0 was changed"
    with pytest.raises((LaunchError, AssertionError), match=message):
        run([np.ones(size, np.float32)], [empty(size, np.float32)])
