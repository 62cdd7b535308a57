// Devices and memories in the form of the API.
#include "pjrt/Functions.h"
#include "pjrt/Objects.h"
#include "runtime/BufferPool.h"

using namespace pcrt;
using namespace pcrt::pjrt;

PJRT_Error *pcrt::pjrt::DeviceDescription_Id(PJRT_DeviceDescription_Id_Args *args) {
  args->id = args->device_description->id;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args *args) {
  args->process_index = 0;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args *args) {
  args->attributes = args->device_description->attributes.data();
  args->num_attributes = args->device_description->attributes.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args *args) {
  args->device_kind = args->device_description->kind.data();
  args->device_kind_size = args->device_description->kind.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args *args) {
  args->debug_string = args->device_description->text.data();
  args->debug_string_size = args->device_description->text.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args *args) {
  args->to_string = args->device_description->text.data();
  args->to_string_size = args->device_description->text.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Device_GetDescription(PJRT_Device_GetDescription_Args *args) {
  args->device_description = &args->device->description;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Device_IsAddressable(PJRT_Device_IsAddressable_Args *args) {
  args->is_addressable = true;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args *args) {
  args->local_hardware_id = args->device->description.id;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Device_AddressableMemories(PJRT_Device_AddressableMemories_Args *args) {
  args->memories = args->device->memories.data();
  args->num_memories = args->device->memories.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Device_DefaultMemory(PJRT_Device_DefaultMemory_Args *args) {
  args->memory = args->device->memories.front();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Device_MemoryStats(PJRT_Device_MemoryStats_Args *args) {
  BufferPool &pool = args->device->device->memory();
  MemoryStatistics now = pool.statistics();
  auto set = [](int64_t &value, bool &isSet, uint64_t given) {
    value = static_cast<int64_t>(given);
    isSet = true;
  };
  args->bytes_in_use = static_cast<int64_t>(now.liveBytes);
  set(args->peak_bytes_in_use, args->peak_bytes_in_use_is_set, now.peakBytes);
  set(args->num_allocs, args->num_allocs_is_set, now.allocations);
  set(args->largest_alloc_size, args->largest_alloc_size_is_set, now.largestBytes);
  set(args->bytes_limit, args->bytes_limit_is_set, pool.limit());
  args->bytes_reserved_is_set = args->peak_bytes_reserved_is_set = false;
  args->bytes_reservable_limit_is_set = args->largest_free_block_bytes_is_set = false;
  if (PJRT_HAS(args, peak_pool_bytes_is_set)) {
    set(args->pool_bytes, args->pool_bytes_is_set, now.liveBytes + now.cachedBytes);
    args->peak_pool_bytes_is_set = false;
  }
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Memory_Id(PJRT_Memory_Id_Args *args) {
  args->id = args->memory->id;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Memory_Kind(PJRT_Memory_Kind_Args *args) {
  args->kind = args->memory->kind.data();
  args->kind_size = args->memory->kind.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Memory_Kind_Id(PJRT_Memory_Kind_Id_Args *args) {
  args->kind_id = args->memory->kindId;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Memory_DebugString(PJRT_Memory_DebugString_Args *args) {
  args->debug_string = args->memory->text.data();
  args->debug_string_size = args->memory->text.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Memory_ToString(PJRT_Memory_ToString_Args *args) {
  args->to_string = args->memory->text.data();
  args->to_string_size = args->memory->text.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args *args) {
  args->devices = args->memory->devices.data();
  args->num_devices = args->memory->devices.size();
  return nullptr;
}
