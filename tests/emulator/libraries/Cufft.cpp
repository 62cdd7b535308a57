// cuFFT on the emulated device: documented transforms along one dimension, term by term, for the runtime's calls. It
// refuses calls that the real library refuses.
#include "EmulatedLibrary.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

using namespace emulator;

extern "C" {
#define PCRT_LIBRARY(result, name, parameters) PCRT_EXPORTED result name parameters;
#include "gpulibraries/CufftFunctions.def"
}

namespace {
struct Plan {
  bool allocates = true, isMade = false;
  cufftType type = CUFFT_C2C;
  int64_t length = 0, batch = 0, step = 0, batchStep = 0, outputStep = 0, outputBatchStep = 0;
  uint64_t workspaceBytes = 0;
  void *workspace = nullptr;
  CUstream stream = nullptr;

  bool isReal() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  int64_t frequencies() const { return isReal() ? length / 2 + 1 : length; }
};
} // namespace

static std::mutex lock;
static std::map<cufftHandle, Plan> &plans() {
  static auto *const all = new std::map<cufftHandle, Plan>();
  return *all;
}

template <typename Change> static cufftResult change(cufftHandle handle, Change apply) {
  std::lock_guard<std::mutex> guard(lock);
  auto plan = plans().find(handle);
  return plan == plans().end() ? CUFFT_INVALID_PLAN : apply(plan->second);
}

//===-- Transforming
//------------------------------------------------------------------------------------------------===//

template <typename From, typename Real>
static void transformLines(const Plan &plan, const From *from, std::complex<Real> *to, int direction) {
  if (plan.workspaceBytes > 0)
    std::memset(plan.workspace, 0xab, plan.workspaceBytes);
  int64_t n = plan.length;
  std::vector<std::complex<double>> turns(static_cast<size_t>(n)), line(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    turns[i] = std::polar(1.0, direction * 2 * M_PI * static_cast<double>(i) / static_cast<double>(n));
  for (int64_t number = 0; number < plan.batch; ++number) {
    for (int64_t i = 0; i < n; ++i)
      line[i] = std::complex<double>(from[number * plan.batchStep + i * plan.step]);
    for (int64_t k = 0; k < plan.frequencies(); ++k) {
      std::complex<double> sum = 0;
      for (int64_t i = 0, turn = 0; i < n; ++i, turn = (turn + k) % n)
        sum += line[i] * turns[turn];
      to[number * plan.outputBatchStep + k * plan.outputStep] = std::complex<Real>(sum);
    }
  }
}

template <typename From, typename Real>
static cufftResult execute(cufftHandle handle, cufftType type, const void *from, void *to, int direction) {
  if (int asked = takeFailure())
    return static_cast<cufftResult>(asked);
  Plan plan;
  if (cufftResult found = change(handle, [&](Plan &own) { return plan = own, CUFFT_SUCCESS; }); found != CUFFT_SUCCESS)
    return found;
  if (!plan.isMade || plan.type != type || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE))
    return CUFFT_INVALID_PLAN;
  auto extent = [&](int64_t length, int64_t step, int64_t batchStep) {
    return static_cast<uint64_t>((plan.batch - 1) * batchStep + (length - 1) * step + 1);
  };
  if (plan.workspaceBytes > 0 && !emulatorHolds(plan.workspace, plan.workspaceBytes))
    return CUFFT_EXEC_FAILED;
  if (!emulatorHolds(from, extent(plan.length, plan.step, plan.batchStep) * sizeof(From)) ||
      !emulatorHolds(to, extent(plan.frequencies(), plan.outputStep, plan.outputBatchStep) * 2 * sizeof(Real)))
    return CUFFT_EXEC_FAILED;
  auto work = [=] {
    transformLines(plan, static_cast<const From *>(from), static_cast<std::complex<Real> *>(to), direction);
  };
  return enqueue(plan.stream, work) ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

//===-- The functions
//-----------------------------------------------------------------------------------------------===//

extern "C" {

cufftResult cufftCreate(cufftHandle *plan) {
  static int last = 0;
  std::lock_guard<std::mutex> guard(lock);
  plans()[ *plan = ++last] = {};
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle plan) {
  std::lock_guard<std::mutex> guard(lock);
  return plans().erase(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftSetAutoAllocation(cufftHandle plan, int allocates) {
  return change(plan, [&](Plan &own) { return own.allocates = allocates, CUFFT_SUCCESS; });
}

cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long *sizes, long long *inputSizes,
                                long long inputStep, long long inputBatchStep, long long *outputSizes,
                                long long outputStep, long long outputBatchStep, cufftType type, long long batch,
                                size_t *workspaceBytes) {
  // Without these sizes the steps would be ignored; the emulation allocates nothing.
  if (rank != 1 || !inputSizes || !outputSizes || batch < 1 || inputStep < 1 || outputStep < 1)
    return CUFFT_INVALID_VALUE;
  if (sizes[0] < 1)
    return CUFFT_INVALID_SIZE;
  return change(handle, [&](Plan &plan) {
    if (plan.isMade || plan.allocates)
      return CUFFT_INVALID_PLAN;
    bool isPower = (sizes[0] & (sizes[0] - 1)) == 0;
    plan = {false,     true,           type,       sizes[0],        batch,
            inputStep, inputBatchStep, outputStep, outputBatchStep, isPower ? 0 : uint64_t(4096),
            nullptr,   plan.stream};
    *workspaceBytes = plan.workspaceBytes;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftSetStream(cufftHandle plan, CUstream stream) {
  return change(plan, [&](Plan &own) { return own.stream = stream, CUFFT_SUCCESS; });
}

cufftResult cufftSetWorkArea(cufftHandle plan, void *workspace) {
  return change(plan, [&](Plan &own) { return own.workspace = workspace, CUFFT_SUCCESS; });
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *from, cufftComplex *to, int direction) {
  return execute<std::complex<float>, float>(plan, CUFFT_C2C, from, to, direction);
}

cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *from, cufftDoubleComplex *to, int direction) {
  return execute<std::complex<double>, double>(plan, CUFFT_Z2Z, from, to, direction);
}

cufftResult cufftExecR2C(cufftHandle plan, float *from, cufftComplex *to) {
  return execute<float, float>(plan, CUFFT_R2C, from, to, CUFFT_FORWARD);
}

cufftResult cufftExecD2Z(cufftHandle plan, double *from, cufftDoubleComplex *to) {
  return execute<double, double>(plan, CUFFT_D2Z, from, to, CUFFT_FORWARD);
}
}
