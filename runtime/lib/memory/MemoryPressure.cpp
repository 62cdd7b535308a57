// The limits of the machine and of the cgroup (version 2, or 1), and the memory that is left. An unreadable file sets
// no limit.
#include "memory/MemoryPressure.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace pcrt;

static constexpr uint64_t unlimited = ~uint64_t(0);
/// Memory that is reserved for other processes, and the bytes taken between two checks.
static constexpr uint64_t reserveBytes = uint64_t(256) << 20, checkedBytes = uint64_t(64) << 20;

std::atomic<uint64_t (*)()> pcrt::memorySource{availableMemory};

/// The number in a file; `otherwise` if it says "max", or does not exist.
static uint64_t numberIn(const char *path, uint64_t otherwise) {
  FILE *file = std::fopen(path, "re");
  if (!file)
    return otherwise;
  unsigned long long number;
  bool isNumber = std::fscanf(file, "%llu", &number) == 1;
  std::fclose(file);
  return isNumber && number > 0 ? static_cast<uint64_t>(number) : otherwise;
}

/// The number after a name, in a file of names and numbers.
static uint64_t numberAfter(const char *path, const char *name, uint64_t otherwise) {
  FILE *file = std::fopen(path, "re");
  if (!file)
    return otherwise;
  char word[64];
  unsigned long long number;
  uint64_t found = otherwise;
  while (std::fscanf(file, "%63s %llu%*[^\n]", word, &number) == 2)
    if (std::strcmp(word, name) == 0)
      found = static_cast<uint64_t>(number);
  std::fclose(file);
  return found;
}

namespace {
struct Cgroup {
  const char *limit, *usage, *statistics, *files;
};
} // namespace

static constexpr Cgroup cgroups[] = {
    {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat", "inactive_file"},
    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
     "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"}};

uint64_t pcrt::systemMemoryLimit() {
  auto limit = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  for (const Cgroup &cgroup : cgroups)
    limit = std::min(limit, numberIn(cgroup.limit, unlimited));
  return limit;
}

uint64_t pcrt::availableMemory() {
  uint64_t kilobytes = numberAfter("/proc/meminfo", "MemAvailable:", unlimited);
  uint64_t available = kilobytes == unlimited ? unlimited : kilobytes * 1024;
  for (const Cgroup &cgroup : cgroups) {
    uint64_t limit = numberIn(cgroup.limit, unlimited);
    uint64_t used = limit == unlimited ? 0 : numberIn(cgroup.usage, 0);
    if (used == 0)
      continue;
    // The system reclaims unused file pages by itself.
    used -= std::min(used, numberAfter(cgroup.statistics, cgroup.files, 0));
    available = std::min(available, limit - std::min(limit, used));
  }
  return available;
}

bool pcrt::isMemoryShort(uint64_t bytes) {
  static std::atomic<uint64_t> taken{0};
  if (taken.fetch_add(bytes, std::memory_order_relaxed) + bytes < checkedBytes)
    return false;
  taken.store(0, std::memory_order_relaxed);
  uint64_t available = memorySource.load(std::memory_order_relaxed)();
  return available < reserveBytes || available - reserveBytes < bytes;
}
