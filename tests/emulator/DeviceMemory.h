// The memory of an emulated device: a range of addresses that only kernels and copies may access. Before Stream.
#ifndef PYCOMPILER_TESTS_EMULATOR_DEVICEMEMORY_H
#define PYCOMPILER_TESTS_EMULATOR_DEVICEMEMORY_H

#include "driver/DriverTypes.h"

#include <cstdint>
#include <map>
#include <mutex>

namespace emulator {

/// While nothing runs on the device, the whole range is protected against reads and writes, so that host code that
/// dereferences a device pointer crashes.
class DeviceMemory {
public:
  explicit DeviceMemory(uint64_t bytes);
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  uint64_t totalBytes() const { return total; }
  /// A block of all ones (NaN as a float); 0 if there is no room.
  CUdeviceptr allocate(size_t bytes);
  /// From now on no call may name the block; false if it is not a block, or was retired before. `release` makes it
  /// free.
  bool retire(CUdeviceptr pointer);
  void release(CUdeviceptr pointer);
  /// Whether the bytes are in one block that calls may name.
  bool holds(CUdeviceptr pointer, size_t bytes);
  bool isInRange(const void *pointer) const;

  /// A number of the pool, by the driver's attributes.
  uint64_t get(CUmemPool_attribute attribute);
  bool set(CUmemPool_attribute attribute, uint64_t value);
  void trimTo(uint64_t bytes);
  /// Keeps as much as the release threshold allows, like a pool at a synchronization of the device.
  void synchronized();

  /// Opens the memory during its lifetime.
  class Access {
  public:
    explicit Access(DeviceMemory &memory);
    ~Access();
    Access(const Access &) = delete;
    Access &operator=(const Access &) = delete;

  private:
    DeviceMemory &memory;
  };

private:
  struct Block {
    size_t bytes;
    bool retired;
  };
  void protect(bool open);

  std::mutex lock;
  char *base;
  const uint64_t total;
  /// The number of bytes from the base that were ever allocated.
  uint64_t touched = 0;
  unsigned accesses = 0;
  std::map<uint64_t, Block> blocks;
  std::map<uint64_t, uint64_t> gaps;
  uint64_t used = 0, usedHigh = 0, reserved = 0, reservedHigh = 0, threshold = 0;
};

} // namespace emulator

#endif // PYCOMPILER_TESTS_EMULATOR_DEVICEMEMORY_H
