// Copies from device to device.
#include "cuda/CudaDeviceBase.h"

using namespace pcrt;
using namespace pcrt::cuda;

std::mutex &cuda::betweenStreams() {
  static auto *const lock = new std::mutex();
  return *lock;
}

Status CudaDeviceBase::enqueueCopy(CUdeviceptr target, CudaDeviceBase &other, CUdeviceptr source, size_t bytes) {
  if (bytes == 0)
    return Status::ok();
  const Context &here = resources->context(), &there = other.resources->context();
  const Driver &driver = here.driver();
  CUstream stream = resources->stream();
  if (here.device() == there.device())
    return driver.check(driver.cuMemcpyDtoDAsync(target, source, bytes, stream), "cuMemcpyDtoDAsync");
  if (Status status = other.resources->memory().letIn(here.device()); !status.isOk())
    return status;
  return driver.check(driver.cuMemcpyPeerAsync(target, here.handle(), source, there.handle(), bytes, stream),
                      "cuMemcpyPeerAsync");
}

Status CudaDeviceBase::copyFrom(CudaDeviceBase &other, const Buffer &source, CUdeviceptr target) {
  const Context &here = resources->context(), &there = other.resources->context();
  const Driver &driver = here.driver();
  CUevent filled = nullptr;
  Status status;
  std::unique_lock<std::mutex> guard(betweenStreams(), std::defer_lock);
  if (&other != this) {
    guard.lock();
    status = there.makeCurrent();
    if (status.isOk())
      status = driver.check(driver.cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    if (status.isOk())
      status = driver.check(driver.cuEventRecord(filled, other.resources->stream()), "cuEventRecord");
  }
  if (status.isOk())
    status = here.makeCurrent();
  if (status.isOk() && filled)
    status = driver.check(driver.cuStreamWaitEvent(resources->stream(), filled, 0), "cuStreamWaitEvent");
  if (status.isOk())
    status = enqueueCopy(target, other, addressOf(source.data()), source.size());
  if (filled && there.makeCurrent().isOk())
    driver.cuEventDestroy(filled);
  return status;
}
