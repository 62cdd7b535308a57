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


# The type of the factors and the number of summed terms; a register of A holds two numbers of 16 bits.
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
        # B is transposed, so that the summed dimension is contiguous.
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
        # The hardware ignores the lower 13 bits.
        a = (a.view(np.uint32) | 0x1FFF).view(np.float32)
        exact = (a.view(np.uint32) & 0xFFFFE000).view(np.float32)
    else:
        exact = a.astype(np.float32)
    c = RNG.integers(-8, 9, (16, 8)).astype(np.float32)
    (d,) = run([a, b, c], [empty((16, 8), np.float32)])
    np.testing.assert_array_equal(d, exact @ b.astype(np.float32).T + c)


# Instructions of a warpgroup.


def shared_image(factor, terms_inner):
    """The bytes of a factor [rows or columns, terms] in shared memory, by the PTX ISA's canonical layouts with a
    swizzle of 128 bytes, and the distances of the descriptor: side by side, and of eight rows."""
    lines = factor if terms_inner else factor.T
    rows, columns = lines.shape
    per_row = 64
    blocks = -(-columns // per_row)
    padded = np.zeros((rows, blocks * per_row), factor.dtype)
    padded[:, :columns] = lines
    image = np.zeros((blocks, rows, 8, 8), factor.dtype)  # by block, row, 16 bytes
    for block in range(blocks):
        for row in range(rows):
            for unit in range(8):
                first = block * per_row + unit * 8
                image[block, row, unit ^ (row % 8)] = padded[row, first : first + 8]
    return image.reshape(-1).view(np.int8), rows * 128, 1024


def warpgroup_program(columns, kind, layouts, images, swizzle=1):
    """One instruction on factors in shared memory. Thread t leaves its sums in row t of the result."""
    (a, a_leading, a_stride), (b, b_leading, b_stride) = images
    registers = columns // 2
    struct = f"!llvm.struct<({', '.join(['f32'] * registers)})>"
    a_type, b_type, d_type = f"memref<{a.size}xi8>", f"memref<{b.size}xi8>", f"memref<128x{registers}xf32>"
    fields = [
        (leading >> 4) << 16 | (stride >> 4) << 32 | swizzle << 62
        for leading, stride in ((a_leading, a_stride), (b_leading, b_stride))
    ]
    signed = [value - (1 << 64) if value >> 63 else value for value in fields]
    copies = "".join(
        f"""
      scf.for %i = %thread to %{name}_size step %c128 {{
        %value = memref.load %{name}[%i] : {kind_of}
        %within = arith.addi %i, %{name}_start : index
        memref.store %value, %shared[%within] : memref<?xi8, #gpu.address_space<workgroup>>
      }}"""
        for name, kind_of in (("a", a_type), ("b", b_type))
    )
    stores = "".join(
        f"""
      %n{n} = arith.constant {n} : index
      %s{n} = llvm.extractvalue %r[{n}] : {struct}
      memref.store %s{n}, %d[%thread, %n{n}] : {d_type}"""
        for n in range(registers)
    )
    role = '{array.role = "argument"}'
    return Program(f"""
module attributes {{gpu.container_module}} {{
  func.func @main(%a: {a_type} {role}, %b: {b_type} {role}, %d: {d_type} {{array.role = "result"}}) {{
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %bytes = arith.constant {a.size + b.size + 1024} : i32
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
      dynamic_shared_memory_size %bytes args(%a : {a_type}, %b : {b_type}, %d : {d_type})
    return
  }}
  gpu.module @kernels {{
    gpu.func @k(%a: {a_type}, %b: {b_type}, %d: {d_type}) kernel {{
      %thread = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c128 = arith.constant 128 : index
      %c1023 = arith.constant 1023 : index
      %a_size = arith.constant {a.size} : index
      %b_size = arith.constant {b.size} : index
      %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %pointer = memref.extract_aligned_pointer_as_index %shared : memref<?xi8, #gpu.address_space<workgroup>> -> index
      %negative = arith.subi %c0, %pointer : index
      %a_start = arith.andi %negative, %c1023 : index
      %b_start = arith.addi %a_start, %a_size : index
      {copies}
      gpu.barrier
      %mask = arith.constant {0x3FFF} : i64
      %unit = arith.constant 4 : i64
      %a_index = arith.addi %pointer, %a_start : index
      %b_index = arith.addi %pointer, %b_start : index
      %a_address = arith.index_cast %a_index : index to i64
      %b_address = arith.index_cast %b_index : index to i64
      %a_units = arith.shrui %a_address, %unit : i64
      %b_units = arith.shrui %b_address, %unit : i64
      %a_low = arith.andi %a_units, %mask : i64
      %b_low = arith.andi %b_units, %mask : i64
      %a_fields = arith.constant {signed[0]} : i64
      %b_fields = arith.constant {signed[1]} : i64
      %a_matrix = arith.ori %a_low, %a_fields : i64
      %b_matrix = arith.ori %b_low, %b_fields : i64
      %zeros = llvm.mlir.zero : {struct}
      nvvm.wgmma.fence.aligned
      %q = nvvm.wgmma.mma_async %a_matrix, %b_matrix, %zeros, #nvvm.shape<m = 64, n = {columns}, k = 16>,
        D [#nvvm.wgmma_type<f32>, #nvvm.wgmma_scale_out<one>],
        A [#nvvm.wgmma_type<{kind}>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<{"row" if layouts[0] else "col"}>],
        B [#nvvm.wgmma_type<{kind}>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<{"col" if layouts[1] else "row"}>]
        : {struct} -> {struct}
      %r = nvvm.wgmma.mma_async %a_matrix, %b_matrix, %q, #nvvm.shape<m = 64, n = {columns}, k = 16>,
        D [#nvvm.wgmma_type<f32>, #nvvm.wgmma_scale_out<one>],
        A [#nvvm.wgmma_type<{kind}>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<{"row" if layouts[0] else "col"}>],
        B [#nvvm.wgmma_type<{kind}>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<{"col" if layouts[1] else "row"}>]
        : {struct} -> {struct}
      nvvm.wgmma.commit.group.sync.aligned
      nvvm.wgmma.wait.group.sync.aligned 0
      {stores}
      gpu.return
    }}
  }}
}}
""")


def gathered(rows):
    """The matrix that the threads of a warpgroup hold: lane 4 * g + c of warp w has rows 16 * w + g and 16 * w + g + 8,
    columns 2 * c and 2 * c + 1 of every 8."""
    threads, registers = rows.shape
    matrix = np.zeros((64, 2 * registers), np.float32)
    for thread in range(threads):
        warp, lane = divmod(thread, 32)
        for number in range(registers):
            row = 16 * warp + lane // 4 + 8 * (number // 2 % 2)
            matrix[row, number // 4 * 8 + lane % 4 * 2 + number % 2] = rows[thread, number]
    return matrix


WARPGROUP_KINDS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}


@pytest.mark.parametrize("layouts", [(True, True), (True, False), (False, True), (False, False)], ids=str)
@pytest.mark.parametrize(("columns", "kind"), [(8, "f16"), (128, "bf16")])
def test_products_of_a_warpgroup(columns, kind, layouts):
    # Two blocks of terms where they lie side by side would be 64 of them: the instruction reads the first 16.
    a, b = (RNG.integers(-8, 9, (rows, 16)).astype(WARPGROUP_KINDS[kind]) for rows in (64, columns))
    images = [shared_image(factor, inner) for factor, inner in zip((a, b), layouts, strict=True)]
    run = warpgroup_program(columns, kind, layouts, images)
    (d,) = run([image for image, _, _ in images], [empty((128, columns // 2), np.float32)])
    np.testing.assert_array_equal(gathered(d), 2 * (a.astype(np.float32) @ b.astype(np.float32).T))


def test_a_swizzle_that_is_not_known_gives_no_numbers():
    a, b = (RNG.integers(-8, 9, (rows, 16)).astype(np.float16) for rows in (64, 8))
    images = [shared_image(factor, True) for factor in (a, b)]
    run = warpgroup_program(8, "f16", (True, True), images, swizzle=2)
    (d,) = run([image for image, _, _ in images], [empty((128, 4), np.float32)])
    assert np.isnan(d).all()


def test_rounding_to_tf32():
    bits = np.array([0x3F800FFF, 0x3F801000, 0xBF801000, 0x3F803000, 0x7F7FFFFF, 0x7F800000, 0x7FC00001, 0], np.uint32)
    want = np.array([0x3F800000, 0x3F802000, 0xBF802000, 0x3F804000, 0x7F800000, 0x7F800000, 0x7FFFFFFF, 0], np.uint32)
    run = Program("""
module attributes {gpu.container_module} {
  func.func @main(%x: memref<8xf32> {array.role = "argument"}, %y: memref<8xi32> {array.role = "result"}) {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%x : memref<8xf32>, %y : memref<8xi32>)
    return
  }
  gpu.module @kernels {
    gpu.func @k(%x: memref<8xf32>, %y: memref<8xi32>) kernel {
      %thread = gpu.thread_id x
      %value = memref.load %x[%thread] : memref<8xf32>
      %rounded = nvvm.convert.float.to.tf32 %value {rnd = #nvvm.fp_rnd_mode<rna>}
      memref.store %rounded, %y[%thread] : memref<8xi32>
      gpu.return
    }
  }
}
""")
    (got,) = run([bits.view(np.float32)], [empty((8,), np.int32)])
    np.testing.assert_array_equal(got.view(np.uint32), want)
