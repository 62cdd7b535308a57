// First fit over one reserved range of addresses.
#include "DeviceMemory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace emulator;

static constexpr uint64_t granularity = 512, reservation = uint64_t(2) << 20;
/// Bytes of freed memory and of new memory; large freed blocks read as zeros.
static constexpr int freedByte = 0xfd, freshByte = 0xff;

DeviceMemory::DeviceMemory(uint64_t bytes) : total(bytes & ~(reservation - 1)) {
  void *memory = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    std::abort();
  base = static_cast<char *>(memory);
  gaps[reinterpret_cast<uint64_t>(base)] = total;
}

/// With the lock held.
void DeviceMemory::protect(bool open) {
  if (touched > 0 && mprotect(base, touched, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
    std::abort();
}

DeviceMemory::Access::Access(DeviceMemory &memory) : memory(memory) {
  std::lock_guard<std::mutex> guard(memory.lock);
  if (memory.accesses++ == 0)
    memory.protect(true);
}

DeviceMemory::Access::~Access() {
  std::lock_guard<std::mutex> guard(memory.lock);
  if (--memory.accesses == 0)
    memory.protect(false);
}

CUdeviceptr DeviceMemory::allocate(size_t bytes) {
  if (bytes > total)
    return 0;
  uint64_t size = std::max(granularity, (bytes + granularity - 1) & ~(granularity - 1));
  CUdeviceptr found = 0;
  {
    std::lock_guard<std::mutex> guard(lock);
    auto gap = std::find_if(gaps.begin(), gaps.end(), [&](const auto &entry) { return entry.second >= size; });
    if (gap == gaps.end())
      return 0;
    found = gap->first;
    uint64_t rest = gap->second - size;
    gaps.erase(gap);
    if (rest > 0)
      gaps[found + size] = rest;
    blocks[found] = {size, false};
    used += size;
    usedHigh = std::max(usedHigh, used);
    reserved = std::max(reserved, (used + reservation - 1) & ~(reservation - 1));
    reservedHigh = std::max(reservedHigh, reserved);
    uint64_t end = found + size - reinterpret_cast<uint64_t>(base);
    if (end > touched) {
      touched = std::min(total, (end + reservation - 1) & ~(reservation - 1));
      protect(accesses > 0);
    }
  }
  Access access(*this);
  std::memset(reinterpret_cast<void *>(found), freshByte, size);
  return found;
}

bool DeviceMemory::retire(CUdeviceptr pointer) {
  std::lock_guard<std::mutex> guard(lock);
  auto block = blocks.find(pointer);
  if (block == blocks.end() || block->second.retired)
    return false;
  block->second.retired = true;
  return true;
}

void DeviceMemory::release(CUdeviceptr pointer) {
  Access access(*this);
  std::lock_guard<std::mutex> guard(lock);
  auto block = blocks.find(pointer);
  uint64_t start = pointer, size = block->second.bytes;
  if (size < reservation)
    std::memset(reinterpret_cast<void *>(start), freedByte, size);
  else // back to the system: every `protect` has to process all pages in use
    madvise(reinterpret_cast<void *>((start + 4095) & ~uint64_t(4095)), (size - 4095) & ~uint64_t(4095), MADV_DONTNEED);
  blocks.erase(block);
  used -= size;
  auto after = gaps.lower_bound(start);
  if (after != gaps.end() && after->first == start + size) {
    size += after->second;
    after = gaps.erase(after);
  }
  if (after != gaps.begin()) {
    auto previous = std::prev(after);
    if (previous->first + previous->second == start) {
      previous->second += size;
      return;
    }
  }
  gaps[start] = size;
}

bool DeviceMemory::holds(CUdeviceptr pointer, size_t bytes) {
  std::lock_guard<std::mutex> guard(lock);
  auto block = blocks.upper_bound(pointer);
  if (block == blocks.begin())
    return false;
  --block;
  uint64_t offset = pointer - block->first;
  return !block->second.retired && offset <= block->second.bytes && bytes <= block->second.bytes - offset;
}

bool DeviceMemory::isInRange(const void *pointer) const { return pointer >= base && pointer < base + total; }

//===-- Statistics of the pool
//--------------------------------------------------------------------------------------===//

uint64_t DeviceMemory::get(CUmemPool_attribute attribute) {
  std::lock_guard<std::mutex> guard(lock);
  switch (attribute) {
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    return threshold;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    return reserved;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    return reservedHigh;
  case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    return used;
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    return usedHigh;
  }
  return 0;
}

bool DeviceMemory::set(CUmemPool_attribute attribute, uint64_t value) {
  std::lock_guard<std::mutex> guard(lock);
  if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
    threshold = value;
  else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH && value == 0)
    usedHigh = used;
  else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && value == 0)
    reservedHigh = reserved;
  else
    return false;
  return true;
}

void DeviceMemory::trimTo(uint64_t bytes) {
  std::lock_guard<std::mutex> guard(lock);
  uint64_t needed = (used + reservation - 1) & ~(reservation - 1);
  reserved = std::min(reserved, std::max(bytes, needed));
}

void DeviceMemory::synchronized() {
  uint64_t keep;
  {
    std::lock_guard<std::mutex> guard(lock);
    keep = threshold;
  }
  trimTo(keep);
}
