// cuFFT has one batch dimension. It gets the larger of the two dimensions around the transformed one, with a call for
// each position along the other.
#include "gpulibraries/FourierTransforms.h"

using namespace pcrt;
using namespace pcrt::cuda;

/// A plan holds tables in the device's memory.
static constexpr size_t mostPlans = 64;

namespace {
template <typename To> To *as(const void *pointer) { return static_cast<To *>(const_cast<void *>(pointer)); }

struct Row {
  PcrtDType from, to;
  cufftType type;
  int64_t fromBytes, toBytes;
  const char *call;
  cufftResult (*run)(const Cufft &library, cufftHandle plan, const void *from, void *to, int direction);
};
} // namespace

static constexpr Row rows[] = {
    {PCRT_DTYPE_Complex64, PCRT_DTYPE_Complex64, CUFFT_C2C, 8, 8, "cufftExecC2C",
     [](const Cufft &library, cufftHandle plan, const void *from, void *to, int direction) {
       return library.cufftExecC2C(plan, as<cufftComplex>(from), as<cufftComplex>(to), direction);
     }},
    {PCRT_DTYPE_Complex128, PCRT_DTYPE_Complex128, CUFFT_Z2Z, 16, 16, "cufftExecZ2Z",
     [](const Cufft &library, cufftHandle plan, const void *from, void *to, int direction) {
       return library.cufftExecZ2Z(plan, as<cufftDoubleComplex>(from), as<cufftDoubleComplex>(to), direction);
     }},
    {PCRT_DTYPE_Float32, PCRT_DTYPE_Complex64, CUFFT_R2C, 4, 8, "cufftExecR2C",
     [](const Cufft &library, cufftHandle plan, const void *from, void *to, int) {
       return library.cufftExecR2C(plan, as<float>(from), as<cufftComplex>(to));
     }},
    {PCRT_DTYPE_Float64, PCRT_DTYPE_Complex128, CUFFT_D2Z, 8, 16, "cufftExecD2Z",
     [](const Cufft &library, cufftHandle plan, const void *from, void *to, int) {
       return library.cufftExecD2Z(plan, as<double>(from), as<cufftDoubleComplex>(to));
     }},
};

static const Row *findRow(const TransformCall &call) {
  for (const Row &row : rows)
    if (row.from == call.fromType && row.to == call.toType)
      return &row;
  return nullptr;
}

FourierTransforms::~FourierTransforms() {
  if (!plans.empty() && resources.context().makeCurrent().isOk())
    forget();
}

void FourierTransforms::forget() {
  for (const auto &[key, plan] : plans)
    Cufft::loaded()->cufftDestroy(plan.handle);
  plans.clear();
}

Result<FourierTransforms::Plan> FourierTransforms::planFor(const Cufft &library, const Key &key) {
  if (auto known = plans.find(key); known != plans.end())
    return known->second;
  // The resources of a plan are in use until the device has passed it.
  if (plans.size() >= mostPlans) {
    if (Status status = resources.synchronize(); !status.isOk())
      return status;
    forget();
  }
  auto [type, batch, length, step, batchStep] = key;
  bool isReal = type == CUFFT_R2C || type == CUFFT_D2Z;
  // The steps are used only if sizes are given.
  long long sizes[] = {length}, outputSizes[] = {isReal ? length / 2 + 1 : length};
  Plan plan = {};
  Status status = library.check(library.cufftCreate(&plan.handle), "cufftCreate");
  if (!status.isOk())
    return status;
  // The workspace is allocated from the device's pool for each call.
  status = library.check(library.cufftSetAutoAllocation(plan.handle, 0), "cufftSetAutoAllocation");
  if (status.isOk())
    status = library.check(library.cufftMakePlanMany64(plan.handle, 1, sizes, sizes, step, batchStep, outputSizes, step,
                                                       isReal ? outputSizes[0] : batchStep,
                                                       static_cast<cufftType>(type), batch, &plan.workspaceBytes),
                           "cufftMakePlanMany64");
  if (status.isOk())
    status = library.check(library.cufftSetStream(plan.handle, resources.stream()), "cufftSetStream");
  if (!status.isOk()) {
    library.cufftDestroy(plan.handle);
    return status;
  }
  plans[key] = plan;
  return plan;
}

Status FourierTransforms::run(const Cufft &library, const TransformCall &call) {
  const Row *row = findRow(call);
  if (!row || (row->type != CUFFT_C2C && row->type != CUFFT_Z2Z && call.inner != 1))
    return Status(Code::InvalidArgument, "numbers of type " + std::to_string(call.fromType) +
                                             " are not transformed to " + std::to_string(call.toType));
  bool alongOuter = call.outer >= call.inner;
  int64_t batch = alongOuter ? call.outer : call.inner, times = alongOuter ? call.inner : call.outer;
  Key key(row->type, batch, call.length, call.inner, alongOuter ? call.length * call.inner : 1);
  Result<Plan> plan = planFor(library, key);
  if (!plan.isOk())
    return Status(plan.status().code(), plan.status().message());
  CUdeviceptr workspace = 0;
  if (plan.value().workspaceBytes > 0) {
    Result<CUdeviceptr> taken = resources.memory().allocate(plan.value().workspaceBytes);
    if (!taken.isOk())
      return Status(taken.status().code(), "the workspace of cuFFT: " + taken.status().message());
    workspace = taken.value();
  }
  Status status = library.check(library.cufftSetWorkArea(plan.value().handle, reinterpret_cast<void *>(workspace)),
                                "cufftSetWorkArea");
  int64_t between = alongOuter ? 1 : call.length * call.inner;
  for (int64_t i = 0; i < times && status.isOk(); ++i)
    status = library.check(row->run(library, plan.value().handle,
                                    static_cast<const char *>(call.from) + i * between * row->fromBytes,
                                    static_cast<char *>(call.to) + i * between * row->toBytes,
                                    call.isInverse ? CUFFT_INVERSE : CUFFT_FORWARD),
                           row->call);
  // Later work on the stream may reuse it.
  if (workspace)
    resources.memory().free(workspace);
  return status;
}

Status FourierTransforms::transform(const TransformCall &call) {
  const Cufft *library = Cufft::loaded();
  if (!library)
    return notLoaded("cufft");
  Status status = run(*library, call);
  if (status.isOk())
    return status;
  return Status(status.code(), "a transform of length " + std::to_string(call.length) + " of " +
                                   std::to_string(call.outer * call.inner) + " lines by cuFFT: " + status.message());
}
