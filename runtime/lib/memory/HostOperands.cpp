// Copies of operands, which the device makes and copies back.
#include "memory/HostOperands.h"

#include "runtime/Device.h"

using namespace pcrt;

int64_t pcrt::bytesOf(const PcrtTensor &tensor) {
  static constexpr int64_t widths[] = {
#define PCRT_WIDTH(enumerator, code, bytes, name) bytes,
      PCRT_DTYPES(PCRT_WIDTH)
#undef PCRT_WIDTH
  };
  int64_t bytes = widths[tensor.dtype];
  for (int32_t i = 0; i < tensor.rank; ++i)
    bytes *= tensor.dims[i];
  return bytes;
}

HostOperands::HostOperands(Device &device, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                           int32_t outputCount)
    : device(device), given(inputs), givenOutputs(outputs), inputCount(static_cast<size_t>(inputCount)) {
  if (device.hasHostMemory())
    return;
  own.assign(inputs, inputs + inputCount);
  own.insert(own.end(), outputs, outputs + outputCount);
  for (PcrtTensor &tensor : own) {
    blocks.emplace_back(new char[std::max<int64_t>(bytesOf(tensor), 1)]);
    tensor.data = blocks.back().get();
  }
}

Status HostOperands::fetch() {
  Status status;
  for (size_t i = 0; i < std::min(inputCount, own.size()) && status.isOk(); ++i)
    status = device.read(given[i].data, own[i].data, static_cast<size_t>(bytesOf(own[i])));
  return status;
}

Status HostOperands::store() {
  Status status;
  for (size_t i = inputCount; i < own.size() && status.isOk(); ++i)
    status = device.write(givenOutputs[i - inputCount].data, own[i].data, static_cast<size_t>(bytesOf(own[i])));
  return status;
}
