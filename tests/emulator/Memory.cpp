// The emulated driver: pools, memory of the device and of the host, copies.
#include "Calls.h"

#include <cstdlib>
#include <cstring>
#include <vector>

using namespace emulator;

static DeviceMemory *memoryOf(CUmemoryPool pool) { return reinterpret_cast<DeviceMemory *>(pool); }

template <typename T> static T *hostView(CUdeviceptr pointer) { return reinterpret_cast<T *>(pointer); }

namespace {
/// Page-locked memory of the host: copies from and to it are asynchronous.
struct PinnedMemory {
  std::mutex lock;
  std::map<uint64_t, size_t> blocks;

  bool holds(const void *pointer, size_t bytes) {
    std::lock_guard<std::mutex> guard(lock);
    auto address = reinterpret_cast<uint64_t>(pointer);
    auto block = blocks.upper_bound(address);
    if (block == blocks.begin())
      return false;
    --block;
    return address - block->first <= block->second && bytes <= block->second - (address - block->first);
  }
};
} // namespace

static PinnedMemory &pinned() {
  static auto *const memory = new PinnedMemory();
  return *memory;
}

/// Work that touches the device's memory.
template <typename Work> static void enqueueAccess(CUstream stream, Work work) {
  stream->enqueue([work, context = stream->context](BlockRunner &) {
    DeviceMemory::Access access(context->memory);
    work();
    return CUDA_SUCCESS;
  });
}

extern "C" {

CUresult cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  PCRT_ENTER(cuMemGetInfo);
  DeviceMemory &memory = currentContext->memory;
  *totalBytes = memory.totalBytes();
  *freeBytes = memory.totalBytes() - memory.get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
  PCRT_ENTER(cuCtxGetLimit);
  if (!value || limit != CU_LIMIT_STACK_SIZE)
    return CUDA_ERROR_INVALID_VALUE;
  *value = currentContext->stackBytes;
  return CUDA_SUCCESS;
}

/// The stacks of fibers are always large.
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  PCRT_ENTER(cuCtxSetLimit);
  if (limit != CU_LIMIT_STACK_SIZE)
    return CUDA_ERROR_INVALID_VALUE;
  currentContext->stackBytes = value;
  return CUDA_SUCCESS;
}

//===-- The pool
//----------------------------------------------------------------------------------------------------===//

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
  if (CUresult refused = begin(Call::cuDeviceGetDefaultMemPool); refused != CUDA_SUCCESS)
    return refused;
  CUcontext found = findDevice(device);
  if (!found)
    return CUDA_ERROR_INVALID_DEVICE;
  *pool = reinterpret_cast<CUmemoryPool>(&found->memory);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  if (CUresult refused = begin(Call::cuMemPoolGetAttribute); refused != CUDA_SUCCESS)
    return refused;
  if (!pool || attribute < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD || attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t found = memoryOf(pool)->get(attribute);
  std::memcpy(value, &found, sizeof(found));
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  if (CUresult refused = begin(Call::cuMemPoolSetAttribute); refused != CUDA_SUCCESS)
    return refused;
  uint64_t wanted;
  std::memcpy(&wanted, value, sizeof(wanted));
  return pool && memoryOf(pool)->set(attribute, wanted) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count) {
  if (CUresult refused = begin(Call::cuMemPoolSetAccess); refused != CUDA_SUCCESS)
    return refused;
  if (!pool || !map)
    return CUDA_ERROR_INVALID_VALUE;
  // Copies work with and without it: it only changes their speed.
  for (size_t i = 0; i < count; ++i) {
    CUcontext reader = map[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE ? findDevice(map[i].location.id) : nullptr;
    if (!reader)
      return CUDA_ERROR_INVALID_VALUE;
    if (&reader->memory != memoryOf(pool) && !havePeers())
      return CUDA_ERROR_INVALID_DEVICE;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytesToKeep) {
  if (CUresult refused = begin(Call::cuMemPoolTrimTo); refused != CUDA_SUCCESS)
    return refused;
  if (!pool)
    return CUDA_ERROR_INVALID_VALUE;
  memoryOf(pool)->trimTo(bytesToKeep);
  return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
  PCRT_ENTER_STREAM(cuMemAllocAsync);
  if (!pointer || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (failsOnPurpose(bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = stream->context->memory.allocate(bytes);
  if (!*pointer) {
    // Memory that the stream frees before may be reused in its order.
    stream->synchronize();
    *pointer = stream->context->memory.allocate(bytes);
  }
  return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  PCRT_ENTER_STREAM(cuMemFreeAsync);
  if (!stream->context->memory.retire(pointer))
    return CUDA_ERROR_INVALID_VALUE;
  stream->enqueue(
      [pointer, context = stream->context](BlockRunner &) {
        context->memory.release(pointer);
        return CUDA_SUCCESS;
      },
      true);
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void **pointer, size_t bytes) {
  PCRT_ENTER(cuMemAllocHost);
  if (!pointer || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (failsOnPurpose(bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = std::aligned_alloc(4096, (bytes + 4095) & ~size_t(4095));
  if (!*pointer)
    return CUDA_ERROR_OUT_OF_MEMORY;
  std::lock_guard<std::mutex> guard(pinned().lock);
  pinned().blocks[reinterpret_cast<uint64_t>(*pointer)] = bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *pointer) {
  PCRT_ENTER(cuMemFreeHost);
  std::lock_guard<std::mutex> guard(pinned().lock);
  if (pinned().blocks.erase(reinterpret_cast<uint64_t>(pointer)) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::free(pointer);
  return CUDA_SUCCESS;
}

//===-- Copies
//------------------------------------------------------------------------------------------------------===//

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t bytes, CUstream stream) {
  PCRT_ENTER_STREAM(cuMemcpyHtoDAsync);
  DeviceMemory &memory = stream->context->memory;
  if (!memory.holds(target, bytes) || memory.isInRange(source))
    return CUDA_ERROR_INVALID_VALUE;
  if (pinned().holds(source, bytes)) {
    enqueueAccess(stream, [=] { std::memcpy(hostView<void>(target), source, bytes); });
    return CUDA_SUCCESS;
  }
  // Pageable memory belongs to the caller again when the call returns.
  const char *first = static_cast<const char *>(source);
  auto staged = std::make_shared<std::vector<char>>(first, first + bytes);
  enqueueAccess(stream, [=] { std::memcpy(hostView<void>(target), staged->data(), bytes); });
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t bytes, CUstream stream) {
  PCRT_ENTER_STREAM(cuMemcpyDtoHAsync);
  DeviceMemory &memory = stream->context->memory;
  if (!memory.holds(source, bytes) || memory.isInRange(target))
    return CUDA_ERROR_INVALID_VALUE;
  enqueueAccess(stream, [=] { std::memcpy(target, hostView<void>(source), bytes); });
  // For pageable memory the call returns when it is done.
  return pinned().holds(target, bytes) ? CUDA_SUCCESS : stream->synchronize();
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  PCRT_ENTER_STREAM(cuMemcpyDtoDAsync);
  // Memory of a pool belongs to its device alone, unless other devices have access.
  if (!stream->context->memory.holds(target, bytes) || !stream->context->memory.holds(source, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  enqueueAccess(stream, [=] { std::memmove(hostView<void>(target), hostView<void>(source), bytes); });
  return CUDA_SUCCESS;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr target, CUcontext targetContext, CUdeviceptr source, CUcontext sourceContext,
                           size_t bytes, CUstream stream) {
  PCRT_ENTER_STREAM(cuMemcpyPeerAsync);
  if (!targetContext->memory.holds(target, bytes) || !sourceContext->memory.holds(source, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  stream->enqueue([=](BlockRunner &) {
    DeviceMemory::Access read(sourceContext->memory), write(targetContext->memory);
    std::memmove(hostView<void>(target), hostView<void>(source), bytes);
    return CUDA_SUCCESS;
  });
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t bytes, CUstream stream) {
  PCRT_ENTER_STREAM(cuMemsetD8Async);
  if (!stream->context->memory.holds(target, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  enqueueAccess(stream, [=] { std::memset(hostView<void>(target), value, bytes); });
  return CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count, CUstream stream) {
  PCRT_ENTER_STREAM(cuMemsetD32Async);
  if (target % 4 != 0 || !stream->context->memory.holds(target, 4 * count))
    return CUDA_ERROR_INVALID_VALUE;
  enqueueAccess(stream, [=] { std::fill_n(hostView<unsigned>(target), count, value); });
  return CUDA_SUCCESS;
}
}
