// The division of a convolution into slabs and panels, by the sizes of the caches. LowerConvolutions.cpp emits the
// plan.
#ifndef ARRAY_LIB_CPU_CONVOLUTION_CONVOLUTIONPLAN_H
#define ARRAY_LIB_CPU_CONVOLUTION_CONVOLUTIONPLAN_H

#include "Analysis/ConvolutionForm.h"
#include <numeric>

namespace mlir::array {

/// The limits of a plan. The defaults fit the usual sizes of caches.
struct ConvolutionLimits {
  int64_t slabBytes = 192 << 10; ///< of a slab
  int64_t terms = 640;           ///< of a panel
  int64_t rows = 1024;           ///< of a slab
  int64_t columns = 0;           ///< of the packed panels; 0 for 1 MiB
};

/// The blocks of a convolution. Dimensions before `tiled` advance by one position (or tap), `tiled` advances by a
/// block, and dimensions after it are whole.
struct ConvolutionPlan {
  ConvolutionPlan(const Convolution &convolution, Type element, const ConvolutionLimits &limits);

  const WindowDim &dim(int64_t i) const { return convolution.dims[i]; }
  /// The number of positions, or taps, that are divided into tiles.
  int64_t count(int64_t i) const { return convolution.sumsChannels ? dim(i).positions : dim(i).taps; }
  int64_t items() const { return std::accumulate(taken.begin(), taken.end(), int64_t(1), std::multiplies<int64_t>()); }
  int64_t tiles() const {
    int64_t number = llvm::divideCeil(count(tiled), taken[tiled]);
    for (int64_t i = 0; i < tiled; ++i)
      number *= count(i);
    return number;
  }
  int64_t positions(int64_t i) const { return convolution.sumsChannels ? taken[i] : dim(i).positions; }
  int64_t taps(int64_t i) const { return convolution.sumsChannels ? dim(i).taps : taken[i]; }
  /// Places of the slab.
  int64_t extent(int64_t i) const { return (positions(i) - 1) * dim(i).step + (taps(i) - 1) * dim(i).dilation + 1; }
  int64_t stride(int64_t i) const {
    int64_t elements = channels;
    for (int64_t inner = i + 1; inner < dims; ++inner)
      elements *= extent(inner);
    return elements;
  }
  int64_t slabElements() const { return stride(0) * extent(0); }

  const Convolution &convolution;
  int64_t dims, tiled = 0;
  SmallVector<int64_t> taken;
  int64_t channels = 1; ///< of a slab
  int64_t columns = 1;  ///< of the packed panels
  int64_t depth = 1;    ///< terms of a panel
};

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_CONVOLUTION_CONVOLUTIONPLAN_H
