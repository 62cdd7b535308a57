// The descriptor of a factor in shared memory for warpgroup instructions: the fields of the PTX ISA's matrix
// descriptor, for the one layout that matmuls use. Adjacent elements, either terms or rows or columns, fill rows of 128
// bytes. Eight rows are a block of 1024 bytes, in which the 16 bytes number `c` of row `r` are at `c ^ r` (the swizzle
// of 128 bytes). GpuMatmulWarpgroup.cpp makes descriptors, EmulateGpuMatrix.cpp reads them.
#ifndef ARRAY_LIB_GPU_MATMUL_MATRIXDESCRIPTOR_H
#define ARRAY_LIB_GPU_MATMUL_MATRIXDESCRIPTOR_H

#include <cstdint>

namespace mlir::array::descriptor {

/// The significant bits of an address in shared memory; all addresses and distances are in units of 16 bytes.
constexpr int64_t kAddressBits = 18, kUnitBits = 4;
/// The first bits of the fields: the address, the distance of blocks of adjacent rows or columns, the distance of
/// blocks of eight rows, the swizzle.
constexpr int64_t kLeading = 16, kStride = 32, kSwizzle = 62;
constexpr int64_t kFieldMask = (int64_t(1) << (kAddressBits - kUnitBits)) - 1;
constexpr int64_t kSwizzle128 = 1;

constexpr int64_t kRowBytes = 128, kRows = 8, kBlockBytes = kRowBytes * kRows;

} // namespace mlir::array::descriptor

#endif // ARRAY_LIB_GPU_MATMUL_MATRIXDESCRIPTOR_H
