// Kernels and memory of a GPU.
#include "cuda/CudaDevice.h"

#include "cuda/DeviceExchange.h"
#include "cuda/NcclCollective.h"
#include "runtime/KernelImage.h"

#include <algorithm>
#include <climits>
#include <cstring>

using namespace pcrt;
using namespace pcrt::cuda;

/// Copies to the host have parts of this size, because page-locked memory is scarce.
static constexpr size_t partBytes = size_t(32) << 20;

Result<std::unique_ptr<CudaDevice>> CudaDevice::create(const Driver &driver, int number, ThreadPool &threads,
                                                       bool inPlace, RunAhead bound) {
  Result<std::unique_ptr<DeviceResources>> made = DeviceResources::create(driver, number);
  if (!made.isOk())
    return Status(made.status().code(), made.status().message());
  return std::unique_ptr<CudaDevice>(new CudaDevice(made.take(), number, threads, inPlace, bound));
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::create(const Driver &driver, int number, ThreadPool &threads,
                                                       bool inPlace) {
  // Executions in flight have allocated their memory, and release it when it is no longer needed. The bound is a share
  // of the memory, because one program may well fill all of it.
  Result<DeviceProperties> known = driver.properties(number);
  if (!known.isOk())
    return Status(known.status().code(), known.status().message());
  return create(driver, number, threads, inPlace, RunAhead{1024, known.value().totalBytes / 4, UINT_MAX});
}

CudaDevice::CudaDevice(std::unique_ptr<DeviceResources> made, int number, ThreadPool &threads, bool inPlace,
                       RunAhead bound)
    : CudaDeviceBase(std::move(made), number), owned(*resources), pool(threads), buffers(*this, resources->memory()),
      executions(*this, *resources, inPlace, bound) {}

std::string CudaDevice::computeCapability() const {
  const DeviceProperties &known = resources->properties();
  return std::to_string(known.major) + "." + std::to_string(known.minor);
}

//===-- Kernels
//-----------------------------------------------------------------------------------------------------===//

namespace {
class CudaKernels final : public LoadedKernels {
public:
  CudaKernels(std::unique_ptr<KernelModule> module, CUstream stream) : module(std::move(module)), stream(stream) {}
  Status launch(size_t kernel, const PcrtLaunchShape &shape, void *const *params) override {
    return module->launch(kernel, shape, stream, params);
  }

private:
  const std::unique_ptr<KernelModule> module;
  CUstream const stream;
};
} // namespace

Result<std::unique_ptr<LoadedKernels>> CudaDevice::load(const KernelImage &image) {
  Result<std::unique_ptr<KernelModule>> module =
      KernelModule::load(resources->context(), image.bytes(), image.kernels());
  if (!module.isOk())
    return Status(module.status().code(), name() + " can't load the program's kernels: " + module.status().message());
  return std::unique_ptr<LoadedKernels>(new CudaKernels(module.take(), resources->stream()));
}

std::string CudaDevice::assembler() const {
  int version = resources->context().driver().version();
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Result<std::string> CudaDevice::assemble(const std::string &image) {
  if (Status status = resources->context().makeCurrent(); !status.isOk())
    return status;
  Result<std::string> code = resources->context().driver().assemble(image);
  if (!code.isOk())
    return Status(code.status().code(), name() + " can't assemble the program's kernels: " + code.status().message());
  return code;
}

std::unique_ptr<CollectiveWork> CudaDevice::collectiveWork() { return std::make_unique<DeviceExchange>(); }

std::unique_ptr<CollectiveWork> CudaDevice::collectiveWork(SharedLaunch &launch, const std::vector<int64_t> &members) {
  return std::make_unique<NcclCollective>(launch, members);
}

void CudaDevice::giveUp() {
  const Context &context = resources->context();
  if (context.makeCurrent().isOk())
    context.driver().cuDevicePrimaryCtxRelease(context.device());
}

//===-- Bytes
//-------------------------------------------------------------------------------------------------------===//

/// Waits for the work on `stream`, and for the copy after it.
Status CudaDevice::receive(CUstream stream, CUdeviceptr source, void *target, size_t bytes) {
  const Driver &driver = resources->context().driver();
  Staging &copies = resources->staging();
  for (size_t at = 0; at < bytes; at += partBytes) {
    size_t part = std::min(partBytes, bytes - at);
    Result<void *> block = copies.download(source + at, part, stream);
    if (!block.isOk())
      return Status(block.status().code(), block.status().message());
    BlockingScope blocking;
    Status status = driver.check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
    if (status.isOk())
      std::memcpy(static_cast<char *>(target) + at, block.value(), part);
    copies.release(block.value());
    if (!status.isOk())
      return status;
  }
  return Status::ok();
}

Status CudaDevice::read(const void *source, void *target, size_t bytes) {
  return receive(resources->stream(), addressOf(source), target, bytes);
}

Status CudaDevice::readBuffer(const Buffer &source, void *target) {
  // If the source has a token, it was filled before the token was done. Without one, a copy that may still be on the
  // stream fills it.
  CUstream stream = source.token() ? resources->readingStream() : resources->stream();
  return receive(stream, addressOf(source.data()), target, source.size());
}

Status CudaDevice::write(void *target, const void *source, size_t bytes) {
  return resources->staging().upload(addressOf(target), source, bytes);
}
