// Operands of routines that work in the host's memory (callbacks, collectives), for runs on devices with other memory.
// After Device; before those routines.
#ifndef PYCOMPILER_RUNTIME_LIB_HOSTOPERANDS_H
#define PYCOMPILER_RUNTIME_LIB_HOSTOPERANDS_H

#include "runtime/Abi.h"
#include "runtime/Status.h"

#include <memory>
#include <vector>

namespace pcrt {

class Device;

/// The bytes of a dense tensor.
int64_t bytesOf(const PcrtTensor &tensor);

/// The operands themselves, or their copies in the host's memory.
class HostOperands {
public:
  HostOperands(Device &device, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
               int32_t outputCount);

  /// Copies the inputs to the host, before the routine reads them.
  Status fetch();
  /// Copies the outputs back, after the routine has written them.
  Status store();

  const PcrtTensor *inputs() const { return own.empty() ? given : own.data(); }
  const PcrtTensor *outputs() const { return own.empty() ? givenOutputs : own.data() + inputCount; }

private:
  Device &device;
  const PcrtTensor *const given, *const givenOutputs;
  const size_t inputCount;
  std::vector<PcrtTensor> own;
  std::vector<std::unique_ptr<char[]>> blocks;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_HOSTOPERANDS_H
