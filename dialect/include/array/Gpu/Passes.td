// The passes from linalg on buffers to kernels of a GPU, in the order in which lib/Pipelines/Gpu.cpp runs them.
// One pass is one file of lib/Gpu and one of tests/lit/Gpu.
#ifndef ARRAY_GPU_PASSES
#define ARRAY_GPU_PASSES

include "mlir/Pass/PassBase.td"

def MapToGpuLibraries : Pass<"array-map-to-gpu-libraries", "::mlir::func::FuncOp"> {
  let summary = "Give large products and routines to the libraries of the GPU's maker";
  let description = [{
    A contraction on buffers that is large enough becomes an `array.runtime_call "product"`; a cast that alone reads it is
    done by the library, what else follows remains. A call of the runtime's library which one of `libraries` does better
    than kernels do stays a call. Either gets the attribute `array.library`, which names the library, and which later
    passes respect. Without libraries the pass does nothing.

    Invariants: buffers have static shapes. Elements are read and written where they lie: nothing is copied for a library.
  }];
  let options = [ListOption<"libraries", "libraries", "std::string", "Those that may be used, by the runtime's names">];
  let dependentDialects = ["::mlir::array::ArrayDialect", "::mlir::memref::MemRefDialect"];
}

def MapMatmulsToGpu : Pass<"array-map-matmuls-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "Give products of matrices and convolutions to a GPU in tiles";
  let description = [{
    A contraction or convolution on buffers (a body that multiplies and adds, operands at linear functions of the loops)
    becomes a `gpu.launch` whose blocks have a tile of the result each: terms pass through shared memory in stages, on
    sm_80 and later by asynchronous copies, and are multiplied by the threads, or by tensor cores for f16 and bf16 with
    sums in f32 (bf16 from sm_80 on). An elementwise op that alone reads the result is computed with it. Where there are
    many terms for few results, blocks share the terms of a tile; a `linalg.generic` adds their sums in order.

    Invariants: buffers have static shapes; temporaries have no places yet (array-plan-memory comes later). Afterwards
    products with few rows, columns or terms are left, for array-map-to-gpu.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_80\"", "For which GPU">,
                 Option<"leastBlocks", "least-blocks", "int64_t", "108",
                        "Blocks that keep the GPU busy: tiles are as large as leaves so many">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::nvgpu::NVGPUDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def MapRowFusionsToGpu : Pass<"array-map-row-fusions-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "Give linalg ops on the same rows to the threads of one kernel";
  let description = [{
    Neighbouring linalg ops of a block that work row by row become one `gpu.launch`: reductions along memory, at least one,
    and elementwise ops on the same rows, or on a value for each of them. A row is shared by lanes of a warp, or by a
    block; what the ops hand on to each other are values of the kernel, which loads what was there before them, and
    stores what others read. Temporaries that nobody else reads go away. An op that does not fit stays behind the launch,
    if the later members have nothing to do with it.

    A cluster reads no element of a buffer that it writes but the one at the same row and column. Few rows that are so
    long that several blocks share one are left to array-map-to-gpu, as are reductions across memory.

    Invariants: buffers have static shapes, indexing maps are linear; temporaries are not planned yet.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def MapToGpu : Pass<"array-map-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "Give each linalg op and copy on buffers to the threads of a GPU";
  let description = [{
    Each `linalg.generic`, `linalg.fill` and `memref.copy` becomes a `gpu.launch` of blocks of threads. A thread of an
    elementwise op takes as many neighbouring points as are 16 bytes; a reduction along memory is shared by lanes of a warp
    or by a block, one across memory by rows of threads; one of few results by several blocks, which leave their parts in
    temporaries that a second launch joins. How work is cut depends on sizes alone, so results are the same on every GPU.
    Control flow, and what it reads of buffers, stays with the host.

    Invariants: buffers have static shapes, indexing maps are linear; array-plan-memory comes later, as reductions ask for
    temporaries. Afterwards no linalg op is left.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def MapScattersToGpu : Pass<"array-map-scatters-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Give the updates of scatters to the threads of a GPU";
  let description = [{
    A `linalg.generic` that is a scatter (array/Conversion/ScatterForm.h) becomes launches of functions of the device
    library (dialect/device/Scatter.cpp), in which each element of the updates has a thread. Where updates meet, and their
    order matters, it is that of the updates: of `set` the last one stays, sums and products of floats are cut by the
    updates alone. So results are the same in every run. A table says which launches are for which scatters.

    Invariants: buffers have static shapes; temporaries are not planned yet. Afterwards no such op is left.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

def MapRoutinesToGpu : Pass<"array-map-routines-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Make launches of the device library's functions of calls of the runtime's";
  let description = [{
    An `array.runtime_call` of a routine that has a row in the pass's table becomes `gpu.launch`es, the threads of which
    call functions of the device library (dialect/device) on bare pointers to their buffers; a special function becomes a
    `linalg.generic` that calls it for each element. The functions are declared; array-link-device-library defines them.
    A routine without a row, or with the attribute `array.library`, stays a call.

    Invariants: buffers are whole and of static shapes; temporaries are not planned yet.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def LinkDeviceLibrary : Pass<"array-link-device-library", "::mlir::ModuleOp"> {
  let summary = "Give the device library's functions that kernels call their bodies";
  let description = [{
    An `llvm.func` without a body is looked up in the device library (dialect/device), and copied with all that it calls
    and reads, as private functions of no target. Calls of the C library's mathematical functions become operations of
    the math dialect. A function that asks what its thread is (dialect/device/Device.h) becomes a part of the
    `gpu.launch` that calls it, as operations of the GPU dialect. A module that declares none costs nothing.

    Invariants: such a function is called in the body of a `gpu.launch` itself, in no region inside. Afterwards no
    `llvm.func` of the module is external.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::DLTIDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect"];
}

def MapLoopsToGpu : Pass<"array-map-loops-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "Give small loops and conditionals as a whole to one thread of a GPU";
  let description = [{
    The host can go on with a loop, or choose a branch, only when it has read what the device computed: it waits for that,
    and each operation inside is a launch. Where every operation inside an `scf.for`, `scf.while` or `scf.if` works on few
    elements, a thread of the device does better alone: the whole becomes a `gpu.launch` of one thread, its linalg ops
    loops. Their temporaries are allocated before it.

    Invariants: buffers have static shapes, temporaries are not planned yet. What calls the runtime's library stays.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def LaunchStores : Pass<"array-launch-stores", "::mlir::func::FuncOp"> {
  let summary = "Have a GPU store what @main stores itself";
  let description = [{
    What @main stores, with the loops and conditionals that launch nothing, becomes a `gpu.launch` of one thread, as does
    what is between two stores.

    Invariants: linalg ops are launches (array-map-to-gpu). Afterwards @main writes no memory but by launches and by calls
    of the runtime's library.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"];
}

def PredicateLaunches : Pass<"array-predicate-launches", "::mlir::func::FuncOp"> {
  let summary = "Launch what depends on a condition that a kernel computes, without waiting for it";
  let description = [{
    Of an `scf.if` whose condition is loaded, both branches are launched, if they are a few launches and nothing else: a
    kernel keeps the condition in a flag, and the threads of the others return at once if theirs is not the branch. Of
    such an `scf.while` some trips are launched, then the host looks at the flag, which a kernel of each trip takes back
    when the condition does not hold any more.

    Invariants: @main stores nothing itself (array-launch-stores), temporaries are not planned yet.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def SinkLoads : Pass<"array-sink-loads", "::mlir::func::FuncOp"> {
  let summary = "Load in kernels what they need of what @main loads";
  let description = [{
    What a `gpu.launch` captures that was computed of a load is computed in the kernel, which loads it; where it is
    overwritten before the kernel runs, or by its other threads, a launch of one thread keeps the value in a temporary.
    Loads are left where the host must know the value: the condition of a loop or of a branch, the bounds of a loop.

    Invariants: @main stores nothing itself (array-launch-stores), temporaries are not planned yet. Afterwards no launch
    captures what is loaded outside of it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"];
}

def OutlineGpuKernels : Pass<"array-outline-gpu-kernels", "::mlir::ModuleOp"> {
  let summary = "Make kernels of one gpu.module of the launches of @main";
  let description = [{
    A launch becomes a `gpu.launch_func` of a `gpu.func` of the module @kernels. Launches that differ in what they are given
    alone share a kernel. Constants, and views that are more than a pointer, are computed in the kernel. What it refers to
    by name, constants and functions, is copied into its module. The attribute `array.kernels` of the module numbers
    the kernels.

    Invariants: a kernel captures whole buffers of static shapes (they are passed as bare pointers) and scalars, each
    an argument in the order of its first use.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def LowerLaunches : Pass<"array-lower-launches", "::mlir::ModuleOp"> {
  let summary = "Launch kernels by number, and read a device's memory, through the call frame's table";
  let description = [{
    `gpu.launch_func` becomes a call of the slot `launch` of PcrtTable (runtime/include/runtime/Abi.h), with the kernel's
    number in the attribute `array.kernels`. A `memref.load` of
    the host becomes a call of the slot `read`, which waits for the device: then the module gets the attribute
    `array.waits`. Both can fail, and get numbers in the table `array.call_sites`. As array-lower-runtime-calls does, @main
    gets the frame and returns a status.

    A call of the runtime's library is an error, but for those that are the host's wherever the operands are (callbacks,
    collectives), and those that a library of the GPU does (`array.library`).

    Invariants: structured control flow is lowered; @main writes memory by launches alone (array-launch-stores).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect"];
}

def DefineDeviceFunctions : Pass<"array-define-device-functions", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Define what kernels need of the C library";
  let description = [{
    The functions @sin, @cos and @tan (of f32 with the suffix f), which array-expand-math calls for large arguments, get
    bodies; `arith.remf` calls a function that divides the significands step by step. Both are within the bounds that
    the C library keeps.

    Invariants: structured control flow is not lowered yet. No function of a gpu.module is external afterwards.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def ConvertKernelsToNvvm : Pass<"array-convert-kernels-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Convert the kernels of a gpu.module to the LLVM and NVVM dialects";
  let description = [{
    Buffers are bare pointers. Functions of the math dialect become LLVM's intrinsics: array-expand-math has left those
    alone that are instructions.

    Invariants: no structured control flow and no affine operation is left, and no view that is more than its strides.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def EmulateGpu : Pass<"array-emulate-gpu", "::mlir::ModuleOp"> {
  let summary = "Make functions of the CPU of a GPU's kernels";
  let description = [{
    For tests without a GPU. Each kernel of a `gpu.module` becomes a function `void (const EmulatedThread *thread,
    void *const *params)`, which does the work of one thread; the structure is declared in
    tests/emulator/EmulatedKernel.h. The constants `<kernel>_params` and `<kernel>_shared` say how many bytes each
    argument has, and how many of shared memory a block of it needs besides what the launch asks for. Reductions over
    warps and blocks become shuffles, and so do `nvgpu.mma.sync` and `nvgpu.ldmatrix`; an asynchronous copy is done at
    once. The `gpu.module` goes away.

    A `gpu.launch_func` becomes a call of `void emulated_launch(EmulatedKernel kernel, int64_t gridX, int64_t gridY,
    int64_t gridZ, int64_t blockX, int64_t blockY, int64_t blockZ, int64_t sharedBytes, void *const *params)`.

    Invariants: buffers have static shapes and no layout; kernels call no other `gpu.func`. An operation that the pass
    does not know is an error. Afterwards the pipelines of the CPU lower the module.
  }];
  let options = [Option<"launchFunction", "launch-function", "std::string", "\"emulated_launch\"",
                        "The function that launches become calls of">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif // ARRAY_GPU_PASSES
