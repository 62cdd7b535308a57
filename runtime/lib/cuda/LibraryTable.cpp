// The call frame's table on a GPU. If a program was compiled for NVIDIA's libraries, their routines replace the host's.
// Other routines are the host's: those for operands in any memory (callbacks, collectives); the compiler emits no calls
// of the others.
//
// These routines differ from the host's routines of the same names; lib/Gpu/MapRoutinesToGpu*.cpp of the dialect emit
// the remaining work. fft: params = {whether inverse, outer, length, inner}; along the middle one of these dimensions,
// without a division by the length; for real numbers the first length / 2 + 1 frequencies. The others change
// column-major matrices in place, which are the input and the first output; the last output is an int32 for each
// matrix, 0 on success. cholesky: of the upper triangle. lu: pivots (int64, from 1). eigh: params = {whether with
// vectors, whether of the lower triangle}; values. svd, of tall matrices: params = {whether with vectors, whether with
// all}; values, then with vectors both factors.
#include "cuda/CudaDevice.h"
#include "runtime/Executable.h"
#include "runtime/HostLibrary.h"

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

static int32_t fft(const PcrtFrame *frame, const PcrtTensor *inputs, int32_t, const PcrtTensor *outputs, int32_t,
                   const int64_t *params) {
  const RunContext &run = RunContext::of(frame);
  return resultOf(run, librariesOf(run).transform({inputs[0].data, outputs[0].data, inputs[0].dtype, outputs[0].dtype,
                                                   params[1], params[2], params[3], params[0] != 0}));
}

template <Status (Decompositions::*routine)(const PcrtTensor *, const int64_t *)>
static int32_t decompose(const PcrtFrame *frame, const PcrtTensor *, int32_t, const PcrtTensor *outputs, int32_t,
                         const int64_t *params) {
  const RunContext &run = RunContext::of(frame);
  return resultOf(run, librariesOf(run).decompose(routine, outputs, params));
}

const PcrtTable &CudaDevice::table() const {
  static const PcrtTable own = [] {
    PcrtTable made = libraryTable();
    made.product = product;
    made.fft = fft;
    made.cholesky = decompose<&Decompositions::cholesky>;
    made.lu = decompose<&Decompositions::lu>;
    made.eigh = decompose<&Decompositions::eigh>;
    made.svd = decompose<&Decompositions::svd>;
    return made;
  }();
  return own;
}
