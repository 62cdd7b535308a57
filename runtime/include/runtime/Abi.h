// The contract between compiled code and the runtime: the call frame and the table of callbacks. It is the only header
// of runtime/ that dialect/ includes, and it is plain C, so that exported objects can be called from C.
//
// An entry is one C function, `int32_t pcrt_main(const PcrtFrame *)`. It allocates nothing, unwinds nothing, and
// returns PCRT_OK or another status (PCRT_STATUS_BITS). All pointers of the frame live until it returns.
//
// Code with symbolic sizes has a second function, `int64_t pcrt_plan(const int64_t *sizes)`.
#ifndef PYCOMPILER_RUNTIME_ABI_H
#define PYCOMPILER_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PCRT_ABI_VERSION = 6 };

// The alignment in bytes of the arena and every result; on a GPU they are aligned to 256. Arguments may be borrowed
// memory, with only the alignment of their element type.
enum { PCRT_ALIGNMENT = 64 };

// An image of kernels with functions that call themselves has a variable of this name, whose size is the stack that a
// thread needs: the driver knows only the stack of other functions. It reserves so much for every thread that the
// device can hold, 4 GiB on a large one. The largest frame of the recursions in use (confluent hypergeometric
// functions) has 1.5 KiB, by ptxas -v; their depth was not measured on a card.
#define PCRT_STACK_VARIABLE "pcrt_stack"
enum { PCRT_RECURSIVE_STACK_BYTES = 16384 };

enum PcrtStatus {
  PCRT_OK = 0,
  PCRT_INVALID_ARGUMENT = 1,
  PCRT_OUT_OF_MEMORY = 2,
  PCRT_LIBRARY_FAILED = 3,
  PCRT_CALLBACK_FAILED = 4,
  // The run stopped because its frame's budget was used up. Its partial results must not be used. No operation failed.
  PCRT_OUT_OF_BUDGET = 5
};

// A budget that no run uses up.
#define PCRT_UNLIMITED INT64_MAX

// The result of an entry has one of PcrtStatus in its low bits. The bits above are the call-site id of the failed
// operation, from 1, in the table that the compiler stores with the code; 0 if unknown.
enum { PCRT_STATUS_BITS = 8 };

// Element types. The codes are part of the ABI: never renumber. X(enumerator, code, bytes, name). A complex element is
// its real part, then its imaginary part. Elements of less than a byte take one, in its low bits; the others are zero.
// A key of random numbers is two uint32.
#define PCRT_DTYPES(X)                                                                                                 \
  X(Bool, 0, 1, "bool")                                                                                                \
  X(Int8, 1, 1, "int8")                                                                                                \
  X(Int16, 2, 2, "int16")                                                                                              \
  X(Int32, 3, 4, "int32")                                                                                              \
  X(Int64, 4, 8, "int64")                                                                                              \
  X(UInt8, 5, 1, "uint8")                                                                                              \
  X(UInt16, 6, 2, "uint16")                                                                                            \
  X(UInt32, 7, 4, "uint32")                                                                                            \
  X(UInt64, 8, 8, "uint64")                                                                                            \
  X(Float16, 9, 2, "float16")                                                                                          \
  X(BFloat16, 10, 2, "bfloat16")                                                                                       \
  X(Float32, 11, 4, "float32")                                                                                         \
  X(Float64, 12, 8, "float64")                                                                                         \
  X(Complex64, 13, 8, "complex64")                                                                                     \
  X(Complex128, 14, 16, "complex128")                                                                                  \
  X(Float8E4M3FN, 15, 1, "float8_e4m3fn")                                                                              \
  X(Float8E5M2, 16, 1, "float8_e5m2")                                                                                  \
  X(Int4, 17, 1, "int4")                                                                                               \
  X(UInt4, 18, 1, "uint4")                                                                                             \
  X(Float8E3M4, 19, 1, "float8_e3m4")                                                                                  \
  X(Float8E4M3, 20, 1, "float8_e4m3")                                                                                  \
  X(Float8E4M3B11FNUZ, 21, 1, "float8_e4m3b11fnuz")                                                                    \
  X(Float8E4M3FNUZ, 22, 1, "float8_e4m3fnuz")                                                                          \
  X(Float8E5M2FNUZ, 23, 1, "float8_e5m2fnuz")                                                                          \
  X(Float8E8M0FNU, 24, 1, "float8_e8m0fnu")                                                                            \
  X(Float4E2M1FN, 25, 1, "float4_e2m1fn")                                                                              \
  X(Float6E2M3FN, 26, 1, "float6_e2m3fn")                                                                              \
  X(Float6E3M2FN, 27, 1, "float6_e3m2fn")                                                                              \
  X(Int2, 28, 1, "int2")                                                                                               \
  X(UInt2, 29, 1, "uint2")                                                                                             \
  X(Int1, 30, 1, "int1")                                                                                               \
  X(UInt1, 31, 1, "uint1")                                                                                             \
  X(Key, 32, 8, "key<fry>")

enum PcrtDType {
#define PCRT_DTYPE_ENUMERATOR(enumerator, code, bytes, name) PCRT_DTYPE_##enumerator = code,
  PCRT_DTYPES(PCRT_DTYPE_ENUMERATOR)
#undef PCRT_DTYPE_ENUMERATOR
};

// A dense row-major operand of a library call.
typedef struct PcrtTensor {
  void *data;
  const int64_t *dims;
  int32_t rank;
  int32_t dtype; // PcrtDType
} PcrtTensor;

struct PcrtFrame;

// A library routine behind `array.runtime_call "name"`: inputs first, then outputs, then the op's integer parameters.
typedef int32_t (*PcrtLibraryCall)(const struct PcrtFrame *frame, const PcrtTensor *inputs, int32_t inputCount,
                                   const PcrtTensor *outputs, int32_t outputCount, const int64_t *params);

// Computes the iterations [low, high) of a loop with independent iterations.
typedef int32_t (*PcrtLoopBody)(const struct PcrtFrame *frame, const void *captured, int64_t low, int64_t high);

// Computes the iterations [0, count) of a loop by calls of `body`, possibly in several threads at the same time. Each
// call has at least `grain` iterations, except for the last one. `captured` is passed to the body, and lives until this
// returns.
typedef int32_t (*PcrtParallelFor)(const struct PcrtFrame *frame, PcrtLoopBody body, const void *captured,
                                   int64_t count, int64_t grain);

// The shape of the launch of a kernel.
typedef struct PcrtLaunchShape {
  // The numbers of blocks, and of threads in each; the blocks of a cluster, 1 x 1 x 1 without clusters.
  uint32_t grid[3], block[3], cluster[3];
  // In addition to the kernel's static shared memory.
  uint32_t sharedBytes;
} PcrtLaunchShape;

// Launches a kernel of the executable's image, by its number there, and returns. `params` points to the value of each
// argument; they are copied. Launches run in order.
typedef int32_t (*PcrtLaunch)(const struct PcrtFrame *frame, int32_t kernel, const PcrtLaunchShape *shape,
                              void *const *params);

// Copies bytes of the device's memory to the host's after all earlier launches are done. The run waits.
typedef int32_t (*PcrtRead)(const struct PcrtFrame *frame, const void *source, void *target, int64_t bytes);

// Every library routine, one slot of the table each. X(name). Append only.
//   sort: params = {dimension, number of keys, stable}; as many outputs as inputs.
//   special: params = {code of PCRT_SPECIAL_FUNCTIONS}; as many inputs as that function takes, one output, all of one
//     shape, all f32 or all f64.
//   fft: params = {type (0 FFT, 1 IFFT, 2 RFFT, 3 IRFFT), number of trailing dimensions}; one input, one output.
//   cholesky to expm: named and parametrized like the ops of the dialect's LinearAlgebra family, params are their
//   attributes in alphabetical order; PCRT_LIBRARY_FAILED unless the table of runtime/Lapack.h is filled.
// clang-format off
#define PCRT_LINEAR_ALGEBRA_CALLS(X) \
  X(cholesky) X(triangular_solve) X(lu) X(lu_pivots_to_permutation) \
  X(linear_solve) X(tridiagonal_solve) X(cholesky_update) X(qr) \
  X(geqrf) X(geqp3) X(householder_product) X(ormqr) \
  X(hessenberg) X(tridiagonal) X(eigh) X(eig) \
  X(svd) X(schur) X(sylvester) X(expm) \
  X(expm_frechet)
// clang-format on

//   top_k: params = {dimension}; outputs the maximum elements, as many as fit the outputs, and their positions (int32).
//   cumulative: params = {0 sum, 1 product, 2 max, 3 min, 4 log-sum-exp; dimension; whether from the end}.
//   reduce_window: params = {0 sum, 1 product, 2 max, 3 min}, then for each dimension {window, stride, low padding,
//     base dilation, window dilation}. select_and_gather and select_and_scatter (inputs: source, operand): the same,
//     but the first says whether the maximum is selected (or the minimum).
//   host_call: params = {slot in the executable's table of host callbacks}; PCRT_CALLBACK_FAILED if that failed.
#define PCRT_WINDOW_CALLS(X) X(top_k) X(cumulative) X(reduce_window) X(select_and_gather) X(select_and_scatter)

//   product: params = a PcrtProduct; inputs: the factors, of one type; one output. Only on a GPU, by a library.
//   collective: params = {PcrtCollective; PcrtReduction; dimension that is gathered or cut; dimension that is joined;
//     number of pairs; number of groups; members of each}, then the members of all groups, then the pairs. One input,
//     one output; PCRT_PARTICIPANT: params = {it}, no input, one int32. Only within a run of several participants.
//   collective_start: the operands of `collective`, which it begins. Until the collective_wait with the same output,
//   the
//     program does not write the input, and does not use the output.
//   collective_wait: the same operands; params = {}. Waits for the collective that was started with this output.
//   check: no operands; params = {PcrtCheck, number of the operand, dimension, the params of PcrtCheck};
//     PCRT_INVALID_ARGUMENT unless it holds. On the host, wherever the program's arrays are.
#define PCRT_LIBRARY_CALLS(X)                                                                                          \
  X(sort)                                                                                                              \
  PCRT_LINEAR_ALGEBRA_CALLS(X)                                                                                         \
  X(special)                                                                                                           \
  PCRT_WINDOW_CALLS(X)                                                                                                 \
  X(fft)                                                                                                               \
  X(collective)                                                                                                        \
  X(host_call)                                                                                                         \
  X(product)                                                                                                           \
  X(check)                                                                                                             \
  X(collective_start)                                                                                                  \
  X(collective_wait)

// The condition of `check`, and the params that follow the operand's number and the dimension. The codes are part of
// the ABI: never renumber.
enum PcrtCheck {
  PCRT_CHECK_EQUAL = 0,   // {size, expected}: they are equal
  PCRT_CHECK_AT_MOST = 1, // {size, bound}: 0 <= size <= bound
  PCRT_CHECK_INDEX = 2,   // {index, size}: 0 <= index < size
  PCRT_CHECK_SLICE = 3,   // {offset, count, stride, size}: all elements of the slice are in the dimension
  PCRT_CHECK_SHAPE = 4,   // {bytes of an element, rank, sizes...}: no size is negative, and the bytes do not overflow
  PCRT_CHECK_COUNT = 5,   // {count, rank, sizes...}: none is negative, and their product is the count
  PCRT_CHECK_STEP = 6,    // {step}: it is positive
  PCRT_CHECK_RESHAPE = 7  // {rank, sizes..., rank, sizes...}: both shapes have the same number of elements
};

// The params of `product`: result[b, i, j] = the sum over l of left[b, i, l] * right[b, l, j]. Each factor is a batch
// of matrices with one dimension of step 1; the result is dense and row-major. Sums are float64 for float64, else
// float32.
typedef struct PcrtProduct {
  int64_t batch, rows, columns, terms;
  // From an element of a matrix to the next one along a dimension, in elements.
  int64_t leftBatch, leftRow, leftTerm, rightBatch, rightTerm, rightColumn, resultBatch, resultRow;
  // Whether factors of float32 may be rounded to tf32.
  int64_t allowsTf32;
} PcrtProduct;

// The codes are part of the ABI: never renumber.
enum PcrtCollective {
  PCRT_PARTICIPANT = 0,
  PCRT_ALL_REDUCE = 1,
  PCRT_ALL_GATHER = 2,
  PCRT_REDUCE_SCATTER = 3,
  PCRT_ALL_TO_ALL = 4,
  PCRT_COLLECTIVE_PERMUTE = 5
};
enum PcrtReduction {
  PCRT_REDUCTION_SUM = 0,
  PCRT_REDUCTION_PROD = 1,
  PCRT_REDUCTION_MAX = 2,
  PCRT_REDUCTION_MIN = 3,
  PCRT_REDUCTION_AND = 4,
  PCRT_REDUCTION_OR = 5
};

// The functions that the routine `special` computes element by element; the dialect has an op of the same name for
// each. X(name, code, inputs). The codes are part of the ABI: never renumber.
#define PCRT_SPECIAL_FUNCTIONS(X)                                                                                      \
  X(lgamma, 0, 1)                                                                                                      \
  X(digamma, 1, 1)                                                                                                     \
  X(gamma, 2, 1)                                                                                                       \
  X(polygamma, 3, 2)                                                                                                   \
  X(zeta, 4, 2)                                                                                                        \
  X(zeta_grad_x, 5, 2)                                                                                                 \
  X(igamma, 6, 2)                                                                                                      \
  X(igammac, 7, 2)                                                                                                     \
  X(igamma_grad_a, 8, 2)                                                                                               \
  X(random_gamma_grad, 9, 2)                                                                                           \
  X(betainc, 10, 3)                                                                                                    \
  X(betaln, 11, 2)                                                                                                     \
  X(bessel_i0e, 12, 1)                                                                                                 \
  X(bessel_i1e, 13, 1)                                                                                                 \
  X(bessel_j, 14, 2)                                                                                                   \
  X(exp1, 15, 1)                                                                                                       \
  X(expi, 16, 1)                                                                                                       \
  X(expn, 17, 2)                                                                                                       \
  X(erfcx, 18, 1)                                                                                                      \
  X(dawsn, 19, 1)                                                                                                      \
  X(log_ndtr, 20, 1)                                                                                                   \
  X(ndtri, 21, 1)                                                                                                      \
  X(wofz_real, 22, 2)                                                                                                  \
  X(wofz_imag, 23, 2)                                                                                                  \
  X(fresnel_sin, 24, 1)                                                                                                \
  X(fresnel_cos, 25, 1)                                                                                                \
  X(sin_integral, 26, 1)                                                                                               \
  X(cos_integral, 27, 1)                                                                                               \
  X(spence, 28, 1)                                                                                                     \
  X(owens_t, 29, 2)                                                                                                    \
  X(sph_legendre, 30, 3)                                                                                               \
  X(hyp1f1, 31, 3)                                                                                                     \
  X(hyp1f1_grad_a, 32, 3)                                                                                              \
  X(hyp1f1_grad_b, 33, 3)                                                                                              \
  X(hyp2f1, 34, 4)                                                                                                     \
  X(hyp2f1_grad_a, 35, 4)                                                                                              \
  X(hyp2f1_grad_c, 36, 4)

typedef struct PcrtTable {
  int64_t abiVersion;
  PcrtParallelFor parallel_for;
  PcrtLaunch launch;
  PcrtRead read;
#define PCRT_TABLE_SLOT(name) PcrtLibraryCall name;
  PCRT_LIBRARY_CALLS(PCRT_TABLE_SLOT)
#undef PCRT_TABLE_SLOT
} PcrtTable;

// The arguments, the results and the arena are pointers into the memory of the device that the run is on.
typedef struct PcrtFrame {
  const void *const *args;
  void *const *results;
  void *arena;
  const PcrtTable *table;
  // Private to the runtime: the run's context for the routines of the table.
  void *context;
  // The number of operations that the run may spend in loops of unknown length. If all operations of the program are in
  // its own code, and it does not change its arguments, its entry then returns PCRT_OUT_OF_BUDGET; other programs
  // ignore the budget.
  int64_t budget;
  // The size of each symbol of the program, in the order of their numbers; null for a program without symbols.
  const int64_t *sizes;
  // The most threads that share a loop of this run, at least 1.
  int64_t threads;
} PcrtFrame;

typedef int32_t (*PcrtEntry)(const PcrtFrame *frame);

// The bytes of the arena for a run with these sizes; negative on overflow. It exists if, and only if, the program has
// symbols.
typedef int64_t (*PcrtPlan)(const int64_t *sizes);

#ifdef __cplusplus
}
#endif

#endif // PYCOMPILER_RUNTIME_ABI_H
