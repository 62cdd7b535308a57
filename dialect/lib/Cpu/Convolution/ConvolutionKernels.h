// The functions that a convolution calls. A module has one for each element type and tile, with run-time sizes, so the
// convolutions of a network share them. LowerConvolutions.cpp calls them tile by tile. The functions of MatmulKernels.h
// pack the kernel's panels.
#ifndef ARRAY_LIB_CPU_CONVOLUTION_CONVOLUTIONKERNELS_H
#define ARRAY_LIB_CPU_CONVOLUTION_CONVOLUTIONKERNELS_H

#include "Cpu/Matmul/MatmulKernels.h"

namespace mlir::array {

/// A buffer from some element on.
MemRefType convolutionFlatType(Type element);

/// The offsets of rows or terms, of 32 bits.
MemRefType convolutionTableType(MLIRContext *context);

/// @convolution_tiles_*(slab, slab offsets of the rows, result offsets of the rows, number of rows, slab offsets of the
/// terms, number of terms, panel, result, columns, accumulate: i1): for each row,
///   result[row's offset + column] (+)= sum over terms slab[row's offset + term's offset] * panel[term][column].
func::FuncOp getConvolutionTiles(ModuleOp module, Type element, const MatmulTile &tile);

/// @convolution_pack_*(source, step, slab, before, count, all, channels): fills `all` consecutive places of `channels`
/// elements in the slab: `before` zeros, `count` places that are `step` elements apart in the source, then zeros.
func::FuncOp getConvolutionPack(ModuleOp module, Type element, const MatmulTile &tile);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_CONVOLUTION_CONVOLUTIONKERNELS_H
