// Headers over blocks.
#include "cuda/CudaBufferPool.h"

using namespace pcrt;
using namespace pcrt::cuda;

Result<RefPtr<Buffer>> CudaBufferPool::allocate(size_t bytes) {
  Result<CUdeviceptr> block = memory.allocate(bytes);
  if (!block.isOk())
    return Status(block.status().code(), block.status().message());
  return RefPtr<Buffer>::adopt(makeHeader(&device, reinterpret_cast<void *>(block.value()), bytes));
}

void CudaBufferPool::recycle(Buffer *buffer) {
  memory.free(addressOf(buffer->data()));
  deleteHeader(buffer);
}

void CudaBufferPool::note(Buffer &buffer, std::string made) { memory.note(addressOf(buffer.data()), std::move(made)); }
