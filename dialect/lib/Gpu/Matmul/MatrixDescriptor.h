// How an instruction of a warpgroup finds a factor in shared memory: the fields of the PTX ISA's matrix descriptor, for
// the one layout that products use. What lies side by side, terms or else rows or columns, fills rows of 128 bytes;
// eight rows are a block of 1024 bytes, in which the 16 bytes number `c` of row `r` stand at `c ^ r` (the swizzle of
// 128 bytes). GpuMatmulWarpgroup.cpp makes descriptors, EmulateGpuMatrix.cpp reads them.
#ifndef ARRAY_LIB_GPU_MATMUL_MATRIXDESCRIPTOR_H
#define ARRAY_LIB_GPU_MATMUL_MATRIXDESCRIPTOR_H

#include <cstdint>

namespace mlir::array::descriptor {

/// Bits of an address in shared memory that count; all addresses and distances are in units of 16 bytes.
constexpr int64_t kAddressBits = 18, kUnitBits = 4;
/// The first bits of the fields: the address, the distance of blocks of rows or columns that lie side by side, the
/// distance of blocks of eight rows, the swizzle.
constexpr int64_t kLeading = 16, kStride = 32, kSwizzle = 62;
constexpr int64_t kFieldMask = (int64_t(1) << (kAddressBits - kUnitBits)) - 1;
constexpr int64_t kSwizzle128 = 1;

constexpr int64_t kRowBytes = 128, kRows = 8, kBlockBytes = kRowBytes * kRows;

} // namespace mlir::array::descriptor

#endif // ARRAY_LIB_GPU_MATMUL_MATRIXDESCRIPTOR_H
