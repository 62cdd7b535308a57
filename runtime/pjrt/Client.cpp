// The client: the devices of the runtime, their memories and their topology.
#include "pjrt/Functions.h"
#include "pjrt/Objects.h"
#include "runtime/Devices.h"

#include <algorithm>

using namespace pcrt;
using namespace pcrt::pjrt;

/// The value of jax.devices()[0].platform, and the name in JAX_PLATFORMS.
static constexpr const char *platformName = "pycompiler";

#ifndef PCRT_VERSION
#define PCRT_VERSION "unknown"
#endif

PJRT_Client::PJRT_Client() {
  // A program's devices are of one kind: the GPUs if there are any, because JAX computes on the first device, and makes
  // meshes of all. pjrt/placement.py knows this order.
  std::vector<Device *> found = pcrt::Devices::all();
  auto ofCpus = [](const Device *device) { return std::string(device->platform()) == "cpu"; };
  if (!std::all_of(found.begin(), found.end(), ofCpus))
    found.erase(std::remove_if(found.begin(), found.end(), ofCpus), found.end());
  static constexpr const char *kinds[] = {"device", "pinned_host", "unpinned_host"};
  for (Device *device : found) {
    PJRT_Device &made = devices.emplace_back();
    made.device = device;
    int id = static_cast<int>(devices.size()) - 1;
    made.description.id = id;
    made.description.kind = device->kind();
    made.description.text = "PycompilerDevice(id=" + std::to_string(id) + ")";
    made.description.attributes.add("device", device->name());
    made.description.attributes.add("hardware", std::string(device->platform()));
    deviceList.push_back(&made);
    // A GPU's memory of the host is not mapped into its programs.
    for (int kind = 0; kind < (device->hasHostMemory() ? 3 : 1); ++kind) {
      PJRT_Memory &memory = memories.emplace_back();
      memory.id = static_cast<int>(memories.size()) - 1;
      memory.kindId = kind;
      memory.kind = kinds[kind];
      memory.text = memory.kind + " of " + device->name();
      memory.devices = {&made};
      memoryList.push_back(&memory);
      made.memories.push_back(&memory);
    }
  }
  topology.platform = platformName;
  topology.version = PCRT_VERSION;
  for (PJRT_Device *device : deviceList)
    topology.descriptions.push_back(&device->description);
}

static PJRT_Client &theClient() {
  static auto *const client = new PJRT_Client();
  return *client;
}

PJRT_Error *pcrt::pjrt::Client_Create(PJRT_Client_Create_Args *args) {
  args->client = &theClient();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Client_Destroy(PJRT_Client_Destroy_Args *) { return nullptr; }

PJRT_Error *pcrt::pjrt::Client_PlatformName(PJRT_Client_PlatformName_Args *args) {
  args->platform_name = args->client->topology.platform.data();
  args->platform_name_size = args->client->topology.platform.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Client_ProcessIndex(PJRT_Client_ProcessIndex_Args *args) {
  args->process_index = 0;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Client_PlatformVersion(PJRT_Client_PlatformVersion_Args *args) {
  args->platform_version = args->client->topology.version.data();
  args->platform_version_size = args->client->topology.version.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Client_TopologyDescription(PJRT_Client_TopologyDescription_Args *args) {
  args->topology = &args->client->topology;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Client_Devices(PJRT_Client_Devices_Args *args) {
  args->devices = args->client->deviceList.data();
  args->num_devices = args->client->deviceList.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Client_AddressableDevices(PJRT_Client_AddressableDevices_Args *args) {
  args->addressable_devices = args->client->deviceList.data();
  args->num_addressable_devices = args->client->deviceList.size();
  return nullptr;
}

static PJRT_Error *lookUp(PJRT_Client &client, int id, PJRT_Device *&device) {
  device = client.deviceOf(id);
  if (device)
    return nullptr;
  return failure(PJRT_Error_Code_INVALID_ARGUMENT, "no device has the id " + std::to_string(id) + "; there are " +
                                                       std::to_string(client.deviceList.size()) + ", from 0");
}

PJRT_Error *pcrt::pjrt::Client_LookupDevice(PJRT_Client_LookupDevice_Args *args) {
  return lookUp(*args->client, args->id, args->device);
}

PJRT_Error *pcrt::pjrt::Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args *args) {
  return lookUp(*args->client, args->local_hardware_id, args->addressable_device);
}

/// There is one process.
PJRT_Error *pcrt::pjrt::Client_UpdateGlobalProcessInfo(PJRT_Client_UpdateGlobalProcessInfo_Args *) { return nullptr; }

PJRT_Error *pcrt::pjrt::Client_AddressableMemories(PJRT_Client_AddressableMemories_Args *args) {
  args->addressable_memories = args->client->memoryList.data();
  args->num_addressable_memories = args->client->memoryList.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args *args) {
  size_t needed = static_cast<size_t>(args->num_replicas) * static_cast<size_t>(args->num_partitions);
  size_t found = args->client->deviceList.size();
  if (args->num_replicas < 1 || args->num_partitions < 1 || needed > args->default_assignment_size)
    return failure(PJRT_Error_Code_INVALID_ARGUMENT, "expected room for " + std::to_string(needed) + " ids of devices");
  if (needed > found)
    return failure(PJRT_Error_Code_INVALID_ARGUMENT,
                   "a program for " + std::to_string(needed) + " devices; there are " + std::to_string(found) +
                       ". What to do: set PYCOMPILER_NUM_CPU_DEVICES before the program starts");
  for (size_t i = 0; i < needed; ++i)
    args->default_assignment[i] = static_cast<int>(i);
  return nullptr;
}

/// The host's memory is the devices' own, or is staged by the runtime.
PJRT_Error *pcrt::pjrt::Client_DmaMap(PJRT_Client_DmaMap_Args *) { return nullptr; }
PJRT_Error *pcrt::pjrt::Client_DmaUnmap(PJRT_Client_DmaUnmap_Args *) { return nullptr; }

//===-- The topology
//---------------------------------------------------------------------------------------===//

PJRT_Error *pcrt::pjrt::TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args *) { return nullptr; }

PJRT_Error *pcrt::pjrt::TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args *args) {
  args->platform_name = args->topology->platform.data();
  args->platform_name_size = args->topology->platform.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args *args) {
  args->platform_version = args->topology->version.data();
  args->platform_version_size = args->topology->version.size();
  return nullptr;
}

PJRT_Error *
pcrt::pjrt::TopologyDescription_GetDeviceDescriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args *args) {
  args->descriptions = args->topology->descriptions.data();
  args->num_descriptions = args->topology->descriptions.size();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args *args) {
  args->attributes = args->topology->attributes.data();
  args->num_attributes = args->topology->attributes.size();
  return nullptr;
}
