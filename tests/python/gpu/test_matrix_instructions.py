"""Tensor cores and asynchronous copies, run on the CPU. The fragments are loaded as the PTX ISA lays them out."""

import ml_dtypes
import numpy as np
import pytest
from emulation import Program, empty

RNG = np.random.default_rng(5)


def program(kernel, a, b, sums):
    element = a.rpartition("x")[2].rstrip(">")
    return Program(f"""
module attributes {{gpu.container_module}} {{
  func.func @main(%a: {a} {{array.role = "argument"}}, %b: {b} {{array.role = "argument"}},
                  %c: {sums} {{array.role = "argument"}}, %d: {sums} {{array.role = "result"}}) {{
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%a : {a}, %b : {b}, %c : {sums}, %d : {sums})
    return
  }}
  gpu.module @kernels {{
    gpu.func @k(%a: {a}, %b: {b}, %c: {sums}, %d: {sums})
        workgroup(%sa: memref<16x24x{element}, #gpu.address_space<workgroup>>,
                  %sb: memref<16x8x{element}, #gpu.address_space<workgroup>>) kernel {{
      %lane = gpu.lane_id
      {"".join(f"%c{n} = arith.constant {n} : index{chr(10)}" for n in (0, 1, 2, 4, 8, 16))}
      %group = arith.divui %lane, %c4 : index
      %member = arith.remui %lane, %c4 : index
      %two_members = arith.muli %member, %c2 : index
      %group8 = arith.addi %group, %c8 : index
      {kernel}
      gpu.return
    }}
  }}
}}
""")


def store(kind):
    """The four numbers of each lane, to %d."""
    code = ""
    for n in range(4):
        row, column = ("%group", "%group8")[n // 2], n % 2
        code += f"""
      %column{n} = arith.addi %two_members, %c{column} : index
      %sum{n} = vector.extract %r[{n // 2}, {column}] : {kind} from vector<2x2x{kind}>
      memref.store %sum{n}, %d[{row}, %column{n}] : memref<16x8x{kind}>"""
    return code


def load_sums(kind):
    return f"""
      %above = vector.load %c[%group, %two_members] : memref<16x8x{kind}>, vector<2x{kind}>
      %below = vector.load %c[%group8, %two_members] : memref<16x8x{kind}>, vector<2x{kind}>
      %zero = arith.constant dense<0.0> : vector<2x2x{kind}>
      %half = vector.insert %above, %zero[0] : vector<2x{kind}> into vector<2x2x{kind}>
      %sums = vector.insert %below, %half[1] : vector<2x{kind}> into vector<2x2x{kind}>"""


@pytest.mark.parametrize("sums", ["f32", "f16"])
def test_a_product_with_asynchronous_copies_and_ldmatrix(sums):
    space = "#gpu.address_space<workgroup>"
    run = program(
        f"""
      %row16 = arith.remui %lane, %c16 : index
      %second = arith.divui %lane, %c16 : index
      %column8 = arith.muli %second, %c8 : index
      %t0 = nvgpu.device_async_copy %a[%row16, %column8], %sa[%row16, %column8], 8
          : memref<16x16xf16> to memref<16x24xf16, {space}>
      %t1 = nvgpu.device_async_copy %b[%row16, %c0], %sb[%row16, %c0], 8 : memref<16x8xf16> to memref<16x8xf16, {space}>
      %t = nvgpu.device_async_create_group %t0, %t1
      nvgpu.device_async_wait %t
      gpu.barrier
      %fa = nvgpu.ldmatrix %sa[%row16, %column8] {{numTiles = 4 : i32, transpose = false}}
          : memref<16x24xf16, {space}> -> vector<4x2xf16>
      %fb = nvgpu.ldmatrix %sb[%row16, %c0] {{numTiles = 2 : i32, transpose = true}}
          : memref<16x8xf16, {space}> -> vector<2x2xf16>
      {load_sums(sums)}
      %r = nvgpu.mma.sync (%fa, %fb, %sums) {{mmaShape = [16, 8, 16]}}
          : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2x{sums}>) -> vector<2x2x{sums}>
      {store(sums)}""",
        "memref<16x16xf16>",
        "memref<16x8xf16>",
        f"memref<16x8x{sums}>",
    )
    a, b = (RNG.integers(-8, 9, shape).astype(np.float16) for shape in ((16, 16), (16, 8)))
    c = RNG.integers(-8, 9, (16, 8)).astype({"f32": np.float32, "f16": np.float16}[sums])
    (d,) = run([a, b, c], [empty(c.shape, c.dtype)])
    np.testing.assert_array_equal(d, (a.astype(np.float32) @ b.astype(np.float32) + c).astype(c.dtype))


def test_a_copy_that_fills_with_zeros():
    run = program(
        """
      %first = arith.cmpi eq, %lane, %c0 : index
      scf.if %first {
        %t0 = nvgpu.device_async_copy %a[%c0, %c0], %sa[%c0, %c0], 4, %c1
            : memref<1x4xf32> to memref<16x24xf32, #gpu.address_space<workgroup>>
        %t = nvgpu.device_async_create_group %t0
        nvgpu.device_async_wait %t
        %v = vector.load %sa[%c0, %c0] : memref<16x24xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        vector.store %v, %d[%c0, %c0] : memref<16x8xf32>, vector<4xf32>
      }""",
        "memref<1x4xf32>",
        "memref<1x1xf32>",
        "memref<16x8xf32>",
    )
    a = np.array([[1, 2, 3, 4]], np.float32)
    (d,) = run([a, a[:, :1], np.zeros((16, 8), np.float32)], [empty((16, 8), np.float32)])
    np.testing.assert_array_equal(d[0, :4], [1, 0, 0, 0])


# Type of the factors and what is summed over: registers of A are two of a type of 16 bits.
PRODUCTS = [("f16", 8), ("bf16", 16), ("f32", 4), ("f32", 8)]


@pytest.mark.parametrize(("kind", "depth"), PRODUCTS)
def test_products_of_every_type(kind, depth):
    each = 1 if kind == "f32" else 2
    registers = depth // each // 4
    code = f"""
      %word = arith.muli %member, %c{each} : index
      %za = arith.constant dense<0.0> : vector<{2 * registers}x{each}x{kind}>
      %zb = arith.constant dense<0.0> : vector<{registers}x{each}x{kind}>
      {load_sums("f32")}"""
    names = {"a": "%za", "b": "%zb"}
    for q in range(registers):
        code += f"""
      %k{q}f = arith.constant {4 * each * q} : index
      %k{q} = arith.addi %word, %k{q}f : index"""
        # B stands transposed, so that what is summed over is contiguous.
        for matrix, row, number, count in (
            ("a", "%group", 2 * q, 2 * registers),
            ("a", "%group8", 2 * q + 1, 2 * registers),
            ("b", "%group", q, registers),
        ):
            shape = f"memref<{16 if matrix == 'a' else 8}x{depth}x{kind}>"
            vector, whole = f"vector<{each}x{kind}>", f"vector<{count}x{each}x{kind}>"
            code += f"""
      %l{matrix}{number} = vector.load %{matrix}[{row}, %k{q}] : {shape}, {vector}
      %f{matrix}{number} = vector.insert %l{matrix}{number}, {names[matrix]}[{number}] : {vector} into {whole}"""
            names[matrix] = f"%f{matrix}{number}"
    code += f"""
      %r = nvgpu.mma.sync ({names["a"]}, {names["b"]}, %sums) {{mmaShape = [16, 8, {depth}]{
        ", tf32Enabled" if kind == "f32" else ""
    }}} : (vector<{2 * registers}x{each}x{kind}>, vector<{registers}x{each}x{kind}>, vector<2x2xf32>) -> vector<2x2xf32>
      {store("f32")}"""
    run = program(code, f"memref<16x{depth}x{kind}>", f"memref<8x{depth}x{kind}>", "memref<16x8xf32>")
    dtype = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}[kind]
    a, b = (RNG.integers(-8, 9, (rows, depth)).astype(dtype) for rows in (16, 8))
    if kind == "f32":
        # The hardware does not look at the lower 13 bits.
        a = (a.view(np.uint32) | 0x1FFF).view(np.float32)
        exact = (a.view(np.uint32) & 0xFFFFE000).view(np.float32)
    else:
        exact = a.astype(np.float32)
    c = RNG.integers(-8, 9, (16, 8)).astype(np.float32)
    (d,) = run([a, b, c], [empty((16, 8), np.float32)])
    np.testing.assert_array_equal(d, exact @ b.astype(np.float32).T + c)
