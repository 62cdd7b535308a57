// The passes from linalg on buffers to kernels of a GPU, in the order in which lib/Pipelines/Gpu.cpp runs them.
// One pass is one file of lib/Gpu and one of tests/lit/Gpu.
#ifndef ARRAY_GPU_PASSES
#define ARRAY_GPU_PASSES

include "mlir/Pass/PassBase.td"

def MapToGpuLibraries : Pass<"array-map-to-gpu-libraries", "::mlir::func::FuncOp"> {
  let summary = "Map large matmuls and routines to NVIDIA's libraries";
  let description = [{
    A contraction on buffers that is large enough becomes an `array.runtime_call "product"`. If the only reader of the
    result is a cast, the library also casts; other readers remain. A call of the runtime's library stays a call if one
    of `libraries` is faster than kernels. Both kinds of calls get the attribute `array.library`, the name of the
    library, which later passes use. Without libraries the pass does nothing.

    Invariants: buffers have static shapes. Elements are read and written in place: nothing is copied for a library.
  }];
  let options = [ListOption<"libraries", "libraries", "std::string", "Those that may be used, by the runtime's names">];
  let dependentDialects = ["::mlir::array::ArrayDialect", "::mlir::memref::MemRefDialect"];
}

def MapMatmulsToGpu : Pass<"array-map-matmuls-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "Map matmuls and convolutions to tiles of a GPU";
  let description = [{
    A contraction or convolution on buffers (a body that multiplies and adds, operands at linear functions of the loops)
    becomes a `gpu.launch`. Each block computes a tile of the result. Terms pass through shared memory in stages, with
    asynchronous copies on sm_80 and later. Threads multiply them, or tensor cores for f16 and bf16 with sums in f32
    (bf16 from sm_80 on). If the only reader of the result is an elementwise op, the op is fused. If there are many
    terms for few results, several blocks share the terms of a tile, and a `linalg.generic` adds their sums in order.

    Invariants: buffers have static shapes; temporaries have no offsets yet (array-plan-memory comes later). Matmuls
    with few rows, columns or terms remain for array-map-to-gpu.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_80\"", "For which GPU">,
                 Option<"leastBlocks", "least-blocks", "int64_t", "108",
                        "Blocks that keep the GPU busy: tiles are as large as leaves so many">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def MapRowFusionsToGpu : Pass<"array-map-row-fusions-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "Fuse linalg ops on the same rows into one kernel";
  let description = [{
    Neighbouring linalg ops of a block that work row by row become one `gpu.launch`: at least one reduction along
    memory, and elementwise ops on the same rows, or on one value for each row. Lanes of a warp, or a block, share a
    row. Values that one op passes to another are values of the kernel. The kernel loads values from before it and
    stores values with other readers. Temporaries without other readers are removed. Other ops move behind the launch if
    they are independent of the later members.

    A member reads an element of a buffer that the kernel writes only at the same row and column. Long rows that several
    blocks share remain for array-map-to-gpu if there are few of them. Reductions across memory also remain.

    Invariants: buffers have static shapes, indexing maps are linear; temporaries are not planned yet.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def MapToGpu : Pass<"array-map-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "Map each linalg op and copy on buffers to the threads of a GPU";
  let description = [{
    Each `linalg.generic`, `linalg.fill` and `memref.copy` becomes a `gpu.launch` of blocks of threads. A thread of an
    elementwise op takes neighbouring points of 16 bytes. Lanes of a warp, or a block, share a reduction along memory.
    Rows of threads share a reduction across memory. Several blocks share a reduction with few results: they store
    partial results in temporaries, and a second launch combines them. The schedule depends only on sizes, so results
    are the same on every GPU. Control flow, and its reads of buffers, stay on the host.

    Invariants: buffers have static shapes, indexing maps are linear; array-plan-memory comes later, because reductions
    need temporaries. Afterwards no linalg op is left.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def MapScattersToGpu : Pass<"array-map-scatters-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Map the updates of scatters to the threads of a GPU";
  let description = [{
    A `linalg.generic` that is a scatter (array/Analysis/ScatterForm.h) becomes launches of functions of the device
    library (dialect/device/Scatter.cpp), with a thread for each element of the updates. If updates collide and their
    order matters, it is the order of the updates: `set` keeps the last one, and the updates alone determine the cuts of
    sums and products of floats. So results are the same in every run. A table maps scatters to launches.

    Invariants: buffers have static shapes; temporaries are not planned yet. Afterwards no such op is left.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

def MapRoutinesToGpu : Pass<"array-map-routines-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Replace calls of the runtime's library by launches of functions of the device library";
  let description = [{
    An `array.runtime_call` of a routine with a row in the pass's table becomes `gpu.launch`es. Their threads call
    functions of the device library (dialect/device) on bare pointers to their buffers. A special function becomes a
    `linalg.generic` that calls it for each element. The pass declares the functions; array-link-device-library defines
    them. A routine without a row, or with the attribute `array.library`, stays a call.

    Invariants: buffers are whole and of static shapes; temporaries are not planned yet.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def LinkDeviceLibrary : Pass<"array-link-device-library", "::mlir::ModuleOp"> {
  let summary = "Add the bodies of device library functions";
  let description = [{
    Looks up each `llvm.func` without a body in the device library (dialect/device), and copies it with its callees and
    data, as private functions without a target. Calls of the C library's math functions become operations of the math
    dialect. A function about the current thread (dialect/device/Device.h) becomes operations of the GPU dialect in the
    `gpu.launch` that calls it. A module without such declarations costs nothing.

    Invariants: such a function is called directly in the body of a `gpu.launch`, not in a nested region. Afterwards no
    `llvm.func` of the module is external.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::DLTIDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect"];
}

def MapKernelsToGpu : Pass<"array-map-kernels-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "Map the programs of own kernels to blocks of threads of a GPU";
  let description = [{
    A loop over the parallel programs of an `array.kernel_call` (`array.grid`) becomes one `gpu.launch`, with a block of
    threads for each program. The threads share each linalg op and each copy of the body: a thread computes some of the
    results, or several lanes compute one result of a reduction together. One thread does the stores of single elements.
    Loops and branches of the body stay, and all threads take the same ones, because their scalars come from memory. A
    barrier follows each operation that writes.

    Temporaries of a program are in shared memory as far as they fit, the smallest first. The others are in one buffer
    with a part for each block; then the number of blocks is bounded, and a block runs several programs.

    If the body calls routines of the runtime's library, or if its outputs are not updated in place, the loop stays on
    the host, which launches the operations of each program. A remark says so.

    Products of 16-bit floats, signed bytes and f32 that may be rounded to tf32 use the tensor cores of sm_80 and later,
    if their sizes are multiples of 16 rows, 8 columns and 32 bytes of terms.

    Invariants: buffers have static shapes, temporaries are not planned yet. Afterwards no loop has the mark.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_80\"", "For which GPU">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def MapLoopsToGpu : Pass<"array-map-loops-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "Map small loops and conditionals to one thread of a GPU";
  let description = [{
    The host can continue a loop, or choose a branch, only after it has read a result of the device: it waits, and each
    operation inside is a launch. If every operation inside an `scf.for`, `scf.while` or `scf.if` works on few elements,
    one thread of the device is faster: the whole becomes a `gpu.launch` of one thread, and its linalg ops become loops.
    Their temporaries are allocated before it.

    Invariants: buffers have static shapes, temporaries are not planned yet. Code that calls the runtime's library does
    not change.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def LaunchStores : Pass<"array-launch-stores", "::mlir::func::FuncOp"> {
  let summary = "Move the stores of @main into kernels of one thread";
  let description = [{
    Stores of @main, with loops and conditionals that launch nothing, and the code between two such stores, become a
    `gpu.launch` of one thread.

    Invariants: linalg ops are launches (array-map-to-gpu). Afterwards @main writes memory only by launches and by calls
    of the runtime's library.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"];
}

def PredicateLaunches : Pass<"array-predicate-launches", "::mlir::func::FuncOp"> {
  let summary = "Launch branches and loops before their condition is known";
  let description = [{
    If the condition of an `scf.if` is loaded, and its branches have only a few launches, both branches are launched. A
    kernel keeps the condition in a flag. The threads of the other kernels return at once if their branch is not
    chosen. For such an `scf.while`, some iterations are launched, then the host reads the flag. A kernel
    of each iteration clears the flag when the condition no longer holds.

    Invariants: @main stores nothing itself (array-launch-stores), temporaries are not planned yet.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def SinkLoads : Pass<"array-sink-loads", "::mlir::func::FuncOp"> {
  let summary = "Move loads of @main into the kernels that use them";
  let description = [{
    If a `gpu.launch` captures a value that is computed from a load, the kernel loads and computes it. If the memory is
    overwritten before the kernel runs, or by its other threads, a launch of one thread keeps the value in a temporary.
    If the host needs a value, its load stays on the host: the condition of a loop or of a branch, the bounds of a loop.

    Invariants: @main stores nothing itself (array-launch-stores), temporaries are not planned yet. Afterwards no launch
    captures a value that was loaded outside it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"];
}

def OutlineGpuKernels : Pass<"array-outline-gpu-kernels", "::mlir::ModuleOp"> {
  let summary = "Move the launches of @main into kernels of one gpu.module";
  let description = [{
    A launch becomes a `gpu.launch_func` of a `gpu.func` of the module @kernels. Launches that differ only in their
    arguments share a kernel. The kernel computes constants, and views that are more than a pointer. Constants and
    functions that it refers to by name are copied into its module. The attribute `array.kernels` of the module numbers
    the kernels.

    Invariants: a kernel captures whole buffers of static shapes (passed as bare pointers) and scalars, each an argument
    in the order of its first use.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def LowerLaunches : Pass<"array-lower-launches", "::mlir::ModuleOp"> {
  let summary = "Launch kernels by number, and read device memory, through the table of the call frame";
  let description = [{
    `gpu.launch_func` becomes a call of the slot `launch` of PcrtTable (runtime/include/runtime/Abi.h), with the
    kernel's number in the attribute `array.kernels`. A `memref.load` of the host becomes a call of the slot `read`,
    which waits for the device; then the module gets the attribute `array.waits`. Both can fail, and get call-site ids
    in the table `array.call_sites`. As in array-lower-runtime-calls, @main gets the frame and returns a status.

    A call of the runtime's library is an error, with two exceptions: routines of the host for operands anywhere
    (callbacks, collectives), and routines of a GPU library (`array.library`).

    Invariants: structured control flow is lowered; @main writes memory only by launches (array-launch-stores).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect"];
}

def DefineDeviceFunctions : Pass<"array-define-device-functions", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Define the C library functions that kernels use";
  let description = [{
    The functions @sin, @cos, @tan and @fmod (with the suffix f for f32), which array-expand-math calls for large
    arguments and quotients, get bodies; @fmod divides the significands step by step. All keep the error bounds of the
    C library.

    Invariants: structured control flow is not lowered yet. Afterwards no function of a gpu.module is external.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def ConvertKernelsToNvvm : Pass<"array-convert-kernels-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Convert the kernels of a gpu.module to the LLVM and NVVM dialects";
  let description = [{
    Buffers are bare pointers. Functions of the math dialect become LLVM's intrinsics: array-expand-math left only those
    that are instructions.

    Invariants: no structured control flow and no affine operation is left, and no view that is more than its strides.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def EmulateGpu : Pass<"array-emulate-gpu", "::mlir::ModuleOp"> {
  let summary = "Turn the kernels of a GPU into functions of the CPU";
  let description = [{
    For tests without a GPU. Each kernel of a `gpu.module` becomes a function `void (const EmulatedThread *thread, void
    *const *params)`, which does the work of one thread; tests/emulator/EmulatedKernel.h declares the structure. The
    constant `<kernel>_params` has the bytes of each argument. The constant `<kernel>_shared` has the bytes of shared
    memory that a block needs besides those of the launch. Reductions over warps and blocks become shuffles, and so do
    `nvgpu.mma.sync` and `nvgpu.ldmatrix`; an asynchronous copy is done at once. The `gpu.module` is removed.

    A `gpu.launch_func` becomes a call of `void emulated_launch(EmulatedKernel kernel, int64_t gridX, int64_t gridY,
    int64_t gridZ, int64_t blockX, int64_t blockY, int64_t blockZ, int64_t sharedBytes, void *const *params)`.

    Invariants: buffers have static shapes and no layout; kernels call no other `gpu.func`. An unknown operation is an
    error. Afterwards the pipelines of the CPU lower the module.
  }];
  let options = [Option<"launchFunction", "launch-function", "std::string", "\"emulated_launch\"",
                        "The function that launches become calls of">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif // ARRAY_GPU_PASSES
