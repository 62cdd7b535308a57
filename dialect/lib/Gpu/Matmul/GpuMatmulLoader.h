// Loads one operand's part of a block's tile from memory to shared memory, by all threads together, some terms at a
// time.
#ifndef ARRAY_LIB_GPU_MATMUL_GPUMATMULLOADER_H
#define ARRAY_LIB_GPU_MATMUL_GPUMATMULLOADER_H

#include "GpuMatmulKernel.h"

namespace mlir::array {

class GpuMatmulLoader {
public:
  /// `side` is 0 for the left factor, whose outer dimension is rows, and 1 for the right one, with columns.
  GpuMatmulLoader(GpuMatmulKernel &kernel, unsigned side);

  /// Whether elements go to shared memory without registers.
  bool isAsync() const { return async; }
  /// The types of a thread's values between `begin` and `finish`; none if copies are asynchronous.
  SmallVector<Type> held() const;

  /// Starts loading the terms from `firstTerm` on for a stage. Elements beyond the operand's end count as zero.
  SmallVector<Value> begin(Value firstTerm, Value stage);
  /// Stores the values of `begin` in shared memory.
  void finish(ValueRange values, Value stage);

  Value memory() const { return buffer; }
  /// The start of the buffer in shared memory, in bytes, if the plan's unit uses descriptors.
  Value address() const { return start; }
  int64_t stageBytes() const;
  /// The position in shared memory of the element at a row or column `outer` of the tile and a term.
  SmallVector<Value> place(Value stage, Value outer, Value term);
  /// Whether terms are adjacent in shared memory, rather than rows or columns.
  bool areTermsInner() const { return termsInner; }

private:
  /// The position in the tile of the first element that a thread moves at once.
  struct Unit {
    Value outer, term;
    Value offset;   ///< of `outer`, in memory
    Value isInside; ///< null if it always is
  };

  void chooseWidth();
  void addUnits();
  /// Whether the unit's terms exist; null if they always do.
  Value isThere(const Unit &unit, Value term);
  Value load(const Unit &unit, Value firstTerm);
  void copy(const Unit &unit, Value firstTerm, Value stage);
  Value castElements(Value vector);

  GpuMatmulKernel &kernel;
  ImplicitLocOpBuilder &b;
  unsigned side;
  const GpuMatmulDims &outerDims;
  int64_t outerSize, terms; ///< of the tile
  Type element, stored;     ///< in memory and in shared memory
  bool termsInner;
  bool alongTerms = false; ///< which neighbours are moved at once
  int64_t width = 1;       ///< how many
  bool async = false;
  Value source, base, buffer, start;
  int64_t rows, columns; ///< of a block of shared memory; columns beyond are in the next block
  int64_t swizzleUnit = 1, swizzleRows = 1, swizzleCount = 1;
  SmallVector<Unit> units;
};

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_MATMUL_GPUMATMULLOADER_H
