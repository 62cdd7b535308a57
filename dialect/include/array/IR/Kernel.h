// The ops of own kernels (Kernel.td). Their lowering and the dialect include this file.
#ifndef ARRAY_IR_KERNEL_H
#define ARRAY_IR_KERNEL_H

#include "array/IR/Array.h"

namespace mlir::array {

/// The mark of the loop over the parallel indices of a kernel's grid. array-plan-memory gives its iterations memory of
/// their own, and shares it among threads.
inline constexpr llvm::StringLiteral kGridAttr = "array.grid";

/// The mark of another loop of the program with independent iterations (array-share-scans), which the memory plan
/// treats alike.
inline constexpr llvm::StringLiteral kIndependentAttr = "array.independent";

/// The mark of a loop over as many parts as the program has threads (array.threads). Each part does its share of all
/// the work, such as the updates of a scatter that are in its rows, and looks at the rest: one thread has one part.
inline constexpr llvm::StringLiteral kPartsAttr = "array.parts";

} // namespace mlir::array

#define GET_OP_CLASSES
#include "array/IR/KernelOps.h.inc"

#endif // ARRAY_IR_KERNEL_H
