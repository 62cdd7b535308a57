// The memory of an emulated device: a range of addresses that only kernels and copies may touch. Before Stream.
#ifndef PYCOMPILER_TESTS_EMULATOR_DEVICEMEMORY_H
#define PYCOMPILER_TESTS_EMULATOR_DEVICEMEMORY_H

#include "cuda/DriverTypes.h"

#include <cstdint>
#include <map>
#include <mutex>

namespace emulator {

/// While nothing runs on the device the whole range is closed to reads and writes, so that host code that takes a
/// device's pointer for its own crashes.
class DeviceMemory {
public:
  explicit DeviceMemory(uint64_t bytes);
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  uint64_t totalBytes() const { return total; }
  /// A block of all ones (NaN to a float); 0 when there is no room.
  CUdeviceptr allocate(size_t bytes);
  /// From now on no call may name the block; false if it is none, or named before. `release` makes it free.
  bool retire(CUdeviceptr pointer);
  void release(CUdeviceptr pointer);
  /// Whether the bytes lie in one block that may be named.
  bool holds(CUdeviceptr pointer, size_t bytes);
  bool isInRange(const void *pointer) const;

  /// Of the pool, in the attributes' words.
  uint64_t get(CUmemPool_attribute attribute);
  bool set(CUmemPool_attribute attribute, uint64_t value);
  void trimTo(uint64_t bytes);
  /// Keeps what the release threshold allows, as a pool does when the device is synchronized.
  void synchronized();

  /// Opens the memory for whoever holds one.
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
  /// Bytes from the base that were ever handed out.
  uint64_t touched = 0;
  unsigned accesses = 0;
  std::map<uint64_t, Block> blocks;
  std::map<uint64_t, uint64_t> gaps;
  uint64_t used = 0, usedHigh = 0, reserved = 0, reservedHigh = 0, threshold = 0;
};

} // namespace emulator

#endif // PYCOMPILER_TESTS_EMULATOR_DEVICEMEMORY_H
