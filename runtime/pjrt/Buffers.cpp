// Arrays on devices: their properties, deletion, references from outside, and copies to other devices.
#include "pjrt/Functions.h"
#include "pjrt/Objects.h"
#include "runtime/BufferPool.h"
#include "runtime/Stream.h"

using namespace pcrt;
using namespace pcrt::pjrt;

/// References from outside keep the memory also after the array was deleted.
void PJRT_Buffer::hold() {
  std::lock_guard<std::mutex> guard(lock);
  if (holders++ == 0)
    held = content;
}

void PJRT_Buffer::unhold() {
  RefPtr<Buffer> last;
  std::lock_guard<std::mutex> guard(lock);
  if (holders != 0 && --holders == 0)
    last = std::move(held);
}

Result<RefPtr<Buffer>> pcrt::pjrt::allocate(Device &device, uint64_t bytes) {
  Result<RefPtr<Buffer>> buffer = device.memory().allocate(bytes);
  if (!buffer.isOk() && device.stream().callsInFlight() > 0) {
    // Executions in flight hold memory, and release it when they end.
    device.stream().synchronize();
    buffer = device.memory().allocate(bytes);
  }
  return buffer;
}

Result<RefPtr<Buffer>> pcrt::pjrt::copyTo(Device &device, Buffer &source) {
  Result<RefPtr<Buffer>> target = allocate(device, source.size());
  if (!target.isOk())
    return target;
  Buffer *const args[] = {&source};
  Buffer *const results[] = {target.value().get()};
  Launch launch = {nullptr, args, 1, results, 1, "a copy between devices"};
  Stream &stream = device.stream();
  Stream::LaunchPolicy policy = stream.policyOf(launch);
  if (policy == Stream::LaunchPolicy::Inline || policy == Stream::LaunchPolicy::InlineWithoutGil) {
    stream.runInPlace(launch);
    return target;
  }
  if (!stream.hasRoom(source.size()))
    stream.waitForRoom(source.size());
  stream.enqueue(launch);
  return target;
}

static PJRT_Error *deleted(const char *what) {
  return failure(PJRT_Error_Code_INVALID_ARGUMENT, std::string(what) + ": the array has been deleted or donated");
}

PJRT_Error *pcrt::pjrt::Buffer_Destroy(PJRT_Buffer_Destroy_Args *args) {
  delete args->buffer;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_ElementType(PJRT_Buffer_ElementType_Args *args) {
  args->type = typeOf(args->buffer->type.dtype);
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_Dimensions(PJRT_Buffer_Dimensions_Args *args) {
  args->dims = args->buffer->type.dims.data();
  args->num_dims = args->buffer->type.dims.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args *args) {
  args->unpadded_dims = args->buffer->type.dims.data();
  args->num_dims = args->buffer->type.dims.size();
  return nullptr;
}

/// Sizes are fixed.
PJRT_Error *pcrt::pjrt::Buffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args *args) {
  args->dynamic_dim_indices = nullptr;
  args->num_dynamic_dims = 0;
  return nullptr;
}

/// Of a row-major array, the last dimension is the minor one.
PJRT_Error *pcrt::pjrt::Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args *args) {
  static constexpr size_t most = 64;
  static const std::vector<int64_t> descending = [] {
    std::vector<int64_t> made;
    for (size_t i = 0; i < most; ++i)
      made.push_back(static_cast<int64_t>(most - 1 - i));
    return made;
  }();
  size_t rank = args->buffer->type.dims.size();
  if (rank > most)
    return failure(PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_Buffer_GetMemoryLayout: more than 64 dimensions");
  args->layout = {};
  args->layout.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
  args->layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  args->layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  const std::vector<int64_t> &own = args->buffer->minorToMajor;
  args->layout.tiled.minor_to_major = own.empty() ? descending.data() + (most - rank) : own.data();
  args->layout.tiled.minor_to_major_size = rank;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args *args) {
  args->on_device_size_in_bytes = args->buffer->bytes;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_Device(PJRT_Buffer_Device_Args *args) {
  args->device = args->buffer->device;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_Memory(PJRT_Buffer_Memory_Args *args) {
  args->memory = args->buffer->memory;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_Delete(PJRT_Buffer_Delete_Args *args) {
  args->buffer->release();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args *args) {
  args->is_deleted = args->buffer->isDeleted();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args *args) {
  args->is_on_cpu = args->buffer->device->device->hasHostMemory();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args *args) {
  RefPtr<Buffer> content = args->buffer->take();
  if (!content)
    return deleted("PJRT_Buffer_ReadyEvent");
  args->event = eventOf(RefPtr<Token>(content->token()));
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args *args) {
  RefPtr<Buffer> content = args->buffer->take();
  if (!content)
    return deleted("PJRT_Buffer_UnsafePointer");
  args->buffer_pointer = reinterpret_cast<uintptr_t>(content->data());
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_OpaqueDeviceMemoryDataPointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args *args) {
  RefPtr<Buffer> content = args->buffer->take();
  if (!content)
    return deleted("PJRT_Buffer_OpaqueDeviceMemoryDataPointer");
  args->device_memory_ptr = content->data();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_IncreaseExternalReferenceCount(PJRT_Buffer_IncreaseExternalReferenceCount_Args *args) {
  if (args->buffer->isDeleted())
    return deleted("PJRT_Buffer_IncreaseExternalReferenceCount");
  args->buffer->hold();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_DecreaseExternalReferenceCount(PJRT_Buffer_DecreaseExternalReferenceCount_Args *args) {
  if (!args->buffer->isHeld())
    return failure(PJRT_Error_Code_INVALID_ARGUMENT,
                   "PJRT_Buffer_DecreaseExternalReferenceCount: the count is 0 already");
  args->buffer->unhold();
  return nullptr;
}

static PJRT_Error *copyInto(const PJRT_Buffer &source, PJRT_Device *device, PJRT_Memory *memory, PJRT_Buffer *&made) {
  RefPtr<Buffer> content = source.take();
  if (!content)
    return deleted("a copy to a device");
  Result<RefPtr<Buffer>> copy = copyTo(*device->device, *content);
  if (!copy.isOk())
    return failure(copy.status());
  made = new PJRT_Buffer(device, memory, source.type, copy.take());
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args *args) {
  return copyInto(*args->buffer, args->dst_device, args->dst_device->memories.front(), args->dst_buffer);
}

PJRT_Error *pcrt::pjrt::Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args *args) {
  return copyInto(*args->buffer, args->dst_memory->devices.front(), args->dst_memory, args->dst_buffer);
}
