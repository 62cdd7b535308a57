// The call frame's table on a GPU: where a program was compiled for NVIDIA's libraries, routines are theirs. The others
// are the host's, wherever their operands are (callbacks, collectives); nobody compiles a call of one that is not.
#include "cuda/CudaDevice.h"
#include "runtime/Executable.h"

using namespace pcrt;
using namespace pcrt::cuda;

static DeviceLibraries &librariesOf(const RunContext &run) { return static_cast<CudaDevice &>(run.device).libraries(); }

static int32_t resultOf(const RunContext &run, Status status) {
  return status.isOk() ? PCRT_OK : run.fail(std::move(status));
}

static int32_t product(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t, const PcrtTensor *outputs, int32_t,
                       const int64_t *params) {
  const RunContext &run = RunContext::of(frame);
  return resultOf(run, librariesOf(run).multiply({*reinterpret_cast<const PcrtProduct *>(params), inputs[0].data,
                                                  inputs[1].data, outputs[0].data, inputs[0].dtype, outputs[0].dtype}));
}

const PcrtTable &CudaDevice::table() const {
  static const PcrtTable own = [] {
    PcrtTable made = libraryTable();
    made.product = product;
    return made;
  }();
  return own;
}
