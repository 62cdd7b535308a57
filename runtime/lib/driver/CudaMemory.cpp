// Stream-ordered allocation. The lock guards the counts alone: driver calls, which may wait, are made without it.
#include "driver/CudaMemory.h"

#include <algorithm>

using namespace pcrt;
using namespace pcrt::cuda;

Result<std::unique_ptr<CudaMemory>> CudaMemory::create(const Context &context, CUstream stream) {
  const Driver &driver = context.driver();
  std::unique_ptr<CudaMemory> memory(new CudaMemory(context, stream));
  if (Status status = context.makeCurrent(); !status.isOk())
    return status;
  int hasPools = 0;
  CUresult asked = driver.cuDeviceGetAttribute(&hasPools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, context.device());
  if (asked == CUDA_SUCCESS && !hasPools)
    return Status(Code::LibraryFailed, "cuda:" + std::to_string(context.device()) +
                                           " has no memory pools, which allocation in the order of a stream needs");
  Status status =
      driver.check(driver.cuDeviceGetDefaultMemPool(&memory->pool, context.device()), "cuDeviceGetDefaultMemPool");
  if (!status.isOk())
    return status;
  // By default, a pool returns all free memory at each synchronization. This setting keeps it for the next call.
  uint64_t everything = UINT64_MAX;
  status = driver.check(driver.cuMemPoolSetAttribute(memory->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &everything),
                        "cuMemPoolSetAttribute");
  if (!status.isOk())
    return status;
  size_t total = 0;
  status = driver.check(driver.cuDeviceTotalMem(&total, context.device()), "cuDeviceTotalMem");
  if (!status.isOk())
    return status;
  memory->total = memory->most = total;
  return memory;
}

//===-- Allocating and freeing
//--------------------------------------------------------------------------------------===//

Status CudaMemory::freeDeferred() {
  std::vector<CUdeviceptr> pointers;
  {
    std::lock_guard<std::mutex> guard(lock);
    pointers.swap(deferred);
  }
  const Driver &driver = context.driver();
  Status first;
  for (CUdeviceptr pointer : pointers)
    if (Status status = driver.check(driver.cuMemFreeAsync(pointer, stream), "cuMemFreeAsync");
        !status.isOk() && first.isOk())
      first = std::move(status);
  return first;
}

/// A block of the pool. If there is none, tries again after synchronization, which completes pending frees.
Result<CUdeviceptr> CudaMemory::take(size_t bytes) {
  const Driver &driver = context.driver();
  CUdeviceptr pointer = 0;
  CUresult result = driver.cuMemAllocAsync(&pointer, bytes, stream);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    if (Status status = trim(); !status.isOk())
      return status;
    result = driver.cuMemAllocAsync(&pointer, bytes, stream);
  }
  if (Status status = driver.check(result, "cuMemAllocAsync"); !status.isOk())
    return status;
  return pointer;
}

Result<CUdeviceptr> CudaMemory::allocate(size_t bytes) {
  if (Status status = context.makeCurrent(); !status.isOk())
    return status;
  if (Status status = freeDeferred(); !status.isOk())
    return status;
  bytes = std::max<size_t>(bytes, 1);
  {
    std::unique_lock<std::mutex> guard(lock);
    if (bytes > most || live > most - bytes) {
      guard.unlock();
      return refusal(bytes, "");
    }
    // Count the bytes before the allocation, so that several threads together respect the limit.
    live += bytes;
  }
  Result<CUdeviceptr> taken = take(bytes);
  std::unique_lock<std::mutex> guard(lock);
  if (!taken.isOk()) {
    live -= bytes;
    guard.unlock();
    if (taken.status().code() != Code::OutOfMemory)
      return taken;
    return refusal(bytes, taken.status().message());
  }
  peak = std::max(peak, live);
  largestEver = std::max<uint64_t>(largestEver, bytes);
  ++allocations;
  blocks[taken.value()] = {bytes, ""};
  return taken;
}

void CudaMemory::free(CUdeviceptr pointer) {
  {
    std::lock_guard<std::mutex> guard(lock);
    auto block = blocks.find(pointer);
    if (block != blocks.end()) {
      live -= block->second.bytes;
      blocks.erase(block);
    }
    deferred.push_back(pointer);
  }
  if (!HostFunctionScope::isActive() && context.makeCurrent().isOk())
    (void)freeDeferred();
}

Status CudaMemory::refusal(size_t bytes, const std::string &why) {
  MemoryStatistics now = statistics();
  std::string text = "out of memory: cannot allocate " + formatBytes(bytes) + " (" + std::to_string(bytes) +
                     " bytes); cuda:" + std::to_string(context.device()) + " has a limit of " + formatBytes(limit());
  size_t unused = 0, total = 0;
  const Driver &driver = context.driver();
  if (!why.empty() && driver.cuMemGetInfo(&unused, &total) == CUDA_SUCCESS)
    text += ", of its " + formatBytes(total) + " of memory " + formatBytes(unused) + " are free";
  text += ", and " + formatBytes(now.liveBytes) + " are live in " + std::to_string(now.liveBuffers) + " buffers";
  const char *separator = ", the largest of them: ";
  for (const LiveBlock &block : largest(5)) {
    text += separator + formatBytes(block.bytes) + (block.made.empty() ? "" : " ") + block.made;
    separator = "; ";
  }
  return Status(Code::OutOfMemory, text + (why.empty() ? "" : " (" + why + ")"));
}

Status CudaMemory::trim() {
  const Driver &driver = context.driver();
  if (Status status = context.makeCurrent(); !status.isOk())
    return status;
  if (Status status = freeDeferred(); !status.isOk())
    return status;
  if (Status status = driver.check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize"); !status.isOk())
    return status;
  return driver.check(driver.cuMemPoolTrimTo(pool, 0), "cuMemPoolTrimTo");
}

Status CudaMemory::letIn(CUdevice reader) {
  if (reader == context.device())
    return Status::ok();
  // Under the lock: a second thread may rely on it.
  std::lock_guard<std::mutex> guard(lock);
  if (readers.count(reader))
    return Status::ok();
  const Driver &driver = context.driver();
  int can = 0;
  Status status = driver.check(driver.cuDeviceCanAccessPeer(&can, reader, context.device()), "cuDeviceCanAccessPeer");
  if (status.isOk() && can) {
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, reader}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    status = driver.check(driver.cuMemPoolSetAccess(pool, &access, 1), "cuMemPoolSetAccess");
  }
  if (status.isOk())
    readers.insert(reader);
  return status;
}

//===-- Statistics
//--------------------------------------------------------------------------------------------------===//

uint64_t CudaMemory::poolBytes(CUmemPool_attribute attribute) const {
  uint64_t value = 0;
  bool known = context.driver().cuMemPoolGetAttribute(pool, attribute, &value) == CUDA_SUCCESS;
  return known ? value : 0;
}

MemoryStatistics CudaMemory::statistics() {
  uint64_t reserved = poolBytes(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT),
           used = poolBytes(CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
  std::lock_guard<std::mutex> guard(lock);
  return {live, peak, reserved > used ? reserved - used : 0, blocks.size(), allocations, largestEver};
}

void CudaMemory::resetPeak() {
  std::lock_guard<std::mutex> guard(lock);
  peak = live;
}

uint64_t CudaMemory::limit() {
  std::lock_guard<std::mutex> guard(lock);
  return most;
}

void CudaMemory::setLimit(uint64_t bytes) {
  std::lock_guard<std::mutex> guard(lock);
  most = bytes;
}

void CudaMemory::note(CUdeviceptr pointer, std::string made) {
  std::lock_guard<std::mutex> guard(lock);
  if (auto block = blocks.find(pointer); block != blocks.end())
    block->second.made = std::move(made);
}

std::vector<LiveBlock> CudaMemory::largest(size_t count) {
  std::vector<LiveBlock> found;
  {
    std::lock_guard<std::mutex> guard(lock);
    found.reserve(blocks.size());
    for (const auto &[pointer, block] : blocks)
      found.push_back(block);
  }
  size_t kept = std::min(found.size(), count);
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(),
                    [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
  found.resize(kept);
  return found;
}
