// Chooses the sizes of slabs and panels (ConvolutionPlan.h).
#include "ConvolutionPlan.h"

namespace mlir::array {

namespace {

constexpr int64_t panelBytes = 1 << 20;

/// The largest divisor of `size` up to `most`, or `size` itself if that is too small.
int64_t blockSize(int64_t size, int64_t most) {
  constexpr int64_t least = 16;
  for (int64_t block = std::min(size, most); block >= least; --block)
    if (size % block == 0)
      return block;
  return size;
}

} // namespace

ConvolutionPlan::ConvolutionPlan(const Convolution &convolution, Type element, const ConvolutionLimits &limits)
    : convolution(convolution), dims(convolution.dims.size()) {
  int64_t terms = 1;
  if (convolution.sumsChannels) {
    terms = convolution.taps();
    channels = blockSize(convolution.channels.size, std::max<int64_t>(limits.terms / terms, 1));
    terms *= channels;
  } else {
    channels = convolution.channels.size;
  }
  int64_t most = limits.slabBytes * 8 / element.getIntOrFloatBitWidth();
  int64_t limit = convolution.sumsChannels ? limits.rows : limits.terms;
  taken.assign(dims, 1);
  for (tiled = dims - 1; tiled >= 0; --tiled) {
    int64_t all = count(tiled), others = items();
    auto fits = [&](int64_t number) {
      taken[tiled] = number;
      return number * others <= limit && slabElements() <= most;
    };
    if (fits(all) && tiled > 0)
      continue;
    int64_t number = all;
    while (number > 1 && !fits(number))
      number = number / 2;
    // Tiles of about the same size.
    taken[tiled] = llvm::divideCeil(all, llvm::divideCeil(all, number));
    break;
  }
  tiled = std::max<int64_t>(tiled, 0);
  if (!convolution.sumsChannels)
    terms = items();
  // At least panels of a few columns.
  columns = limits.columns;
  if (columns == 0)
    columns = std::max<int64_t>(panelBytes * 8 / element.getIntOrFloatBitWidth() / terms / 64 * 64, 64);
  columns = std::min(columns, convolution.columns.size);
  depth = terms;
}

} // namespace mlir::array
