// Page-locked blocks, cached by size.
#include "driver/Staging.h"

#include <cstring>

using namespace pcrt;
using namespace pcrt::cuda;

static constexpr size_t smallestBlock = 4096;

/// Powers of two, so that few sizes serve many copies.
static size_t blockSize(size_t bytes) {
  size_t size = smallestBlock;
  while (size < bytes && size <= SIZE_MAX / 2)
    size *= 2;
  return size < bytes ? bytes : size;
}

/// Gives a block back when the stream has read it.
class Staging::Return final : public Completion {
public:
  Return(Staging &staging, void *block) : staging(staging), block(block) {}
  void done(const Status &) override {
    staging.release(block);
    delete this;
  }

private:
  Staging &staging;
  void *const block;
};

Staging::~Staging() { trim(); }

//===-- Blocks
//------------------------------------------------------------------------------------------------------===//

Result<void *> Staging::take(size_t bytes) {
  size_t size = blockSize(bytes);
  {
    std::lock_guard<std::mutex> guard(lock);
    // A block of up to twice the size is accepted.
    if (auto found = waiting.lower_bound(size); found != waiting.end() && found->first / 2 <= size) {
      void *block = found->second;
      cached -= found->first;
      waiting.erase(found);
      return block;
    }
  }
  shrinkTo(keptBytes);
  const Driver &driver = context.driver();
  void *block = nullptr;
  CUresult result = driver.cuMemAllocHost(&block, size);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    trim();
    result = driver.cuMemAllocHost(&block, size);
  }
  Status status = driver.check(result, "cuMemAllocHost");
  if (!status.isOk())
    return Status(status.code(), "cannot lock " + formatBytes(size) + " of the host's memory for a copy (" +
                                     formatBytes(lockedBytes()) + " are locked): " + status.message());
  std::lock_guard<std::mutex> guard(lock);
  sizes[block] = size;
  locked += size;
  return block;
}

void Staging::release(void *block) {
  std::lock_guard<std::mutex> guard(lock);
  size_t size = sizes.find(block)->second;
  waiting.emplace(size, block);
  cached += size;
}

void Staging::shrinkTo(uint64_t bytes) {
  std::vector<void *> blocks;
  {
    std::lock_guard<std::mutex> guard(lock);
    while (cached > bytes) {
      auto largest = std::prev(waiting.end());
      blocks.push_back(largest->second);
      cached -= largest->first;
      locked -= largest->first;
      sizes.erase(largest->second);
      waiting.erase(largest);
    }
  }
  for (void *block : blocks)
    context.driver().cuMemFreeHost(block);
}

void Staging::trim() {
  if (context.makeCurrent().isOk())
    shrinkTo(0);
}

uint64_t Staging::lockedBytes() {
  std::lock_guard<std::mutex> guard(lock);
  return locked;
}

uint64_t Staging::cachedBytes() {
  std::lock_guard<std::mutex> guard(lock);
  return cached;
}

//===-- Copies
//------------------------------------------------------------------------------------------------------===//

Status Staging::upload(CUdeviceptr target, const void *source, size_t bytes) {
  if (bytes == 0)
    return Status::ok();
  if (Status status = context.makeCurrent(); !status.isOk())
    return status;
  const Driver &driver = context.driver();
  Result<void *> block = take(bytes);
  // Without a block the driver uses its own small ones: that takes longer, because the host waits for the stream.
  if (!block.isOk() && block.status().code() == Code::OutOfMemory)
    return driver.check(driver.cuMemcpyHtoDAsync(target, source, bytes, stream), "cuMemcpyHtoDAsync");
  if (!block.isOk())
    return Status(block.status().code(), block.status().message());
  std::memcpy(block.value(), source, bytes);
  Status status = driver.check(driver.cuMemcpyHtoDAsync(target, block.value(), bytes, stream), "cuMemcpyHtoDAsync");
  if (!status.isOk()) {
    release(block.value());
    return status;
  }
  auto back = std::make_unique<Return>(*this, block.value());
  status = completions.add(*back);
  // Without a notification, the device is lost, and the block must not be reused: the copy may still read it.
  if (status.isOk())
    back.release();
  return status;
}

Result<void *> Staging::download(CUdeviceptr source, size_t bytes, CUstream on) {
  if (Status status = context.makeCurrent(); !status.isOk())
    return status;
  Result<void *> block = take(bytes);
  if (!block.isOk() || bytes == 0)
    return block;
  const Driver &driver = context.driver();
  Status status =
      driver.check(driver.cuMemcpyDtoHAsync(block.value(), source, bytes, on ? on : stream), "cuMemcpyDtoHAsync");
  if (!status.isOk()) {
    release(block.value());
    return status;
  }
  return block;
}
