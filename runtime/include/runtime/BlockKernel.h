// Elementwise kernels that the build compiled for blocks of three lengths, applied to any number of elements. After
// MappedObject; an Executable may hold one of these instead of an object.
#ifndef PYCOMPILER_RUNTIME_BLOCKKERNEL_H
#define PYCOMPILER_RUNTIME_BLOCKKERNEL_H

#include "runtime/Abi.h"
#include "runtime/DType.h"
#include "runtime/MappedObject.h"
#include "runtime/RefPtr.h"

#include <vector>

namespace pcrt {

/// The lengths. The minimum, with four bytes an element, is one line of PCRT_ALIGNMENT bytes.
constexpr int64_t blockLengths[] = {16, 128, 1024};
constexpr int blockCount = 3;

/// The source of a kernel's operand: an argument of the frame, with as many elements as the result or one. Bools and
/// int32 are converted to the kernel's type.
struct BlockOperand {
  unsigned argument;
  bool isScalar;
  DType given;
};

class BlockKernel : public RefCounted<BlockKernel> {
public:
  static constexpr unsigned mostOperands = 2;

  /// An object for each length, for operands of `operand` (int32 or float32).
  static Result<RefPtr<BlockKernel>> load(const std::string_view (&objects)[blockCount], const std::string &entry,
                                          DType operand, DType result);
  /// For entries with a different owner.
  BlockKernel(const PcrtEntry (&entries)[blockCount], DType operand, DType result);

  /// Whether an operand may have this dtype.
  bool takes(DType given) const {
    return given == operand || given == DType::Bool || (given == DType::Int32 && operand == DType::Float32);
  }

  /// Computes the first result of the frame, of `count` elements, in whole blocks: results have room for these, because
  /// the runtime's memory is allocated in multiples of PCRT_ALIGNMENT.
  int32_t run(const PcrtFrame &frame, const std::vector<BlockOperand> &operands, int64_t count) const;

private:
  MappedObject objects[blockCount];
  PcrtEntry entries[blockCount];
  const DType operand, result;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_BLOCKKERNEL_H
