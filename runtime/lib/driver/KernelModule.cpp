// Loads and launches kernels.
#include "driver/KernelModule.h"

using namespace pcrt;
using namespace pcrt::cuda;

/// The maximum shared memory of a launch without a request (cuFuncSetAttribute).
static constexpr uint32_t sharedWithoutAsking = 48 << 10;

/// Raises the context's stack to that of the module's recursive functions, if there are such.
static Status reserveStack(const Driver &driver, CUmodule module) {
  CUdeviceptr variable = 0;
  size_t needed = 0, before = 0;
  if (driver.cuModuleGetGlobal(&variable, &needed, module, PCRT_STACK_VARIABLE) != CUDA_SUCCESS)
    return Status::ok();
  Status status = driver.check(driver.cuCtxGetLimit(&before, CU_LIMIT_STACK_SIZE), "cuCtxGetLimit");
  if (!status.isOk() || before >= needed)
    return status;
  return driver.check(driver.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, needed), "cuCtxSetLimit");
}

Result<std::unique_ptr<KernelModule>> KernelModule::load(const Context &context, const std::string &image,
                                                         const std::vector<std::string> &kernels) {
  if (Status status = context.makeCurrent(); !status.isOk())
    return status;
  Result<CUmodule> loaded = context.driver().loadModule(image.c_str());
  if (!loaded.isOk())
    return Status(loaded.status().code(), loaded.status().message());
  std::unique_ptr<KernelModule> result(new KernelModule(context, kernels.size()));
  result->module = loaded.value();
  const Driver &driver = context.driver();
  // The driver would report a name that it does not find to tools such as compute-sanitizer.
  if (image.find(PCRT_STACK_VARIABLE) != std::string::npos)
    if (Status status = reserveStack(driver, result->module); !status.isOk())
      return status;
  for (size_t i = 0; i < kernels.size(); ++i) {
    Function &function = result->functions[i];
    function.name = kernels[i];
    function.sharedLimit = sharedWithoutAsking;
    Status status = driver.check(driver.cuModuleGetFunction(&function.handle, result->module, kernels[i].c_str()),
                                 "cuModuleGetFunction");
    if (!status.isOk())
      return Status(status.code(), "kernel '" + kernels[i] + "': " + status.message());
  }
  return result;
}

KernelModule::~KernelModule() {
  if (module && context.makeCurrent().isOk())
    context.driver().cuModuleUnload(module);
}

Status KernelModule::raiseSharedLimit(Function &function, uint32_t bytes) {
  // Under a lock: otherwise, of two threads, the one with the smaller limit could come last.
  std::lock_guard<std::mutex> guard(lock);
  if (bytes <= function.sharedLimit.load(std::memory_order_relaxed))
    return Status::ok();
  const Driver &driver = context.driver();
  CUresult result = driver.cuFuncSetAttribute(function.handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                              static_cast<int>(bytes));
  if (result == CUDA_SUCCESS)
    function.sharedLimit.store(bytes, std::memory_order_relaxed);
  return driver.check(result, "cuFuncSetAttribute");
}

static bool hasClusters(const PcrtLaunchShape &shape) {
  return shape.cluster[0] != 1 || shape.cluster[1] != 1 || shape.cluster[2] != 1;
}

Status KernelModule::describe(const Function &function, const PcrtLaunchShape &shape, const Status &why) const {
  auto product = [](const uint32_t *sizes) {
    return std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]) + " x " + std::to_string(sizes[2]);
  };
  std::string clusters = hasClusters(shape) ? " in clusters of " + product(shape.cluster) : "";
  return Status(why.code(), "kernel '" + function.name + "', a grid of " + product(shape.grid) + " blocks" + clusters +
                                " of " + product(shape.block) + " threads with " + formatBytes(shape.sharedBytes) +
                                " of shared memory: " + why.message());
}

static CUresult launchFunction(const Driver &driver, CUfunction function, const PcrtLaunchShape &shape, CUstream stream,
                               void **params) {
  const auto &[grid, block, cluster, sharedBytes] = shape;
  if (!hasClusters(shape))
    return driver.cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], sharedBytes, stream,
                                 params, nullptr);
  CUlaunchAttribute attribute = {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, {}, {}};
  attribute.value.clusterDim = {cluster[0], cluster[1], cluster[2]};
  CUlaunchConfig config = {grid[0], grid[1], grid[2], block[0], block[1], block[2], sharedBytes, stream, &attribute, 1};
  return driver.cuLaunchKernelEx(&config, function, params, nullptr);
}

Status KernelModule::launch(size_t kernel, const PcrtLaunchShape &shape, CUstream stream, void *const *params) {
  Function &function = functions[kernel];
  const auto &[grid, block, cluster, sharedBytes] = shape;
  // An empty array has no work; the driver refuses such grids.
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return Status::ok();
  if (Status status = context.makeCurrent(); !status.isOk())
    return status;
  if (sharedBytes > function.sharedLimit.load(std::memory_order_relaxed))
    if (Status status = raiseSharedLimit(function, sharedBytes); !status.isOk())
      return describe(function, shape, status);
  const Driver &driver = context.driver();
  CUresult result = launchFunction(driver, function.handle, shape, stream, const_cast<void **>(params));
  Status status = driver.check(result, hasClusters(shape) ? "cuLaunchKernelEx" : "cuLaunchKernel");
  return status.isOk() ? std::move(status) : describe(function, shape, status);
}
