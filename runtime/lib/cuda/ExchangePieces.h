// The bytes that the members of a group of GPUs fetch from each other: all_gather and all_to_all along the first
// dimension, and collective_permute. The computations of a collective are kernels around it (array-expand-collectives
// of the dialect). DeviceExchange moves them within a process, NcclCollective between processes.
#ifndef PYCOMPILER_RUNTIME_LIB_CUDA_EXCHANGEPIECES_H
#define PYCOMPILER_RUNTIME_LIB_CUDA_EXCHANGEPIECES_H

#include "collective/CollectiveJob.h"

namespace pcrt::cuda {

/// Bytes of a source's input, and their place in the target's output.
struct Piece {
  size_t from, to, bytes;
};

class ExchangePieces {
public:
  ExchangePieces() = default;
  ExchangePieces(size_t members, const PcrtTensor &input);

  /// Whether it is one of these collectives, on such operands.
  bool fits(const CollectiveParams &form, const PcrtTensor &input, const PcrtTensor &output) const;
  /// The bytes that the target fetches from the source; possibly none.
  Piece between(const CollectiveParams &form, size_t target, size_t source) const;
  /// Whether the target fetches any. The output of the others is zero.
  bool isReceiver(const CollectiveParams &form, size_t target) const;

  size_t members = 0;
  /// Of one input.
  size_t bytes = 0;
};

} // namespace pcrt::cuda

#endif // PYCOMPILER_RUNTIME_LIB_CUDA_EXCHANGEPIECES_H
