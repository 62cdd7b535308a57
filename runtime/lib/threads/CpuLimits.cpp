// The number of threads that the system allows this process: the cores of its affinity, and the quotas of its control
// groups.
#include "threads/CpuLimits.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sched.h>

using namespace pcrt;

/// The numbers at the start of a file, as many as there are.
static int readNumbers(const std::string &path, double *numbers, int count) {
  FILE *file = std::fopen(path.c_str(), "re");
  if (!file)
    return 0;
  int read = 0;
  while (read < count && std::fscanf(file, "%lf", numbers + read) == 1)
    ++read;
  std::fclose(file);
  return read;
}

/// The quota of one group, in cores. Version 2 has one file with quota and period ("max 100000" is no limit), version 1
/// two files.
static double quotaOf(const std::string &folder, bool isUnified) {
  double numbers[2];
  int read = isUnified ? readNumbers(folder + "/cpu.max", numbers, 2)
                       : readNumbers(folder + "/cpu.cfs_quota_us", numbers, 1) +
                             readNumbers(folder + "/cpu.cfs_period_us", numbers + 1, 1);
  return read == 2 && numbers[0] > 0 && numbers[1] > 0 ? numbers[0] / numbers[1] : 0;
}

/// The minimum quota of the group at `path` under `root` and of its ancestors. A container may see itself as the root,
/// with any path.
static double leastQuota(const std::string &root, std::string path, bool isUnified) {
  double least = 0;
  while (true) {
    if (double quota = quotaOf(root + path, isUnified))
      least = least > 0 ? std::min(least, quota) : quota;
    if (path.empty())
      return least;
    path.erase(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
  }
}

double pcrt::cgroupQuota(const std::string &groups, const std::string &root) {
  double least = 0;
  FILE *file = std::fopen(groups.c_str(), "re");
  char line[4096];
  while (file && std::fgets(line, sizeof(line), file)) {
    // "0::/path" is version 2; "4:cpu,cpuacct:/path" version 1.
    char *controllers = std::strchr(line, ':'), *path = controllers ? std::strchr(controllers + 1, ':') : nullptr;
    if (!path)
      continue;
    *path++ = 0;
    path[std::strcspn(path, "\n")] = 0;
    std::string names = controllers + 1, group = std::strcmp(path, "/") == 0 ? "" : path;
    bool isUnified = names.empty();
    if (!isUnified && ("," + names + ",").find(",cpu,") == std::string::npos)
      continue;
    double quota = leastQuota(isUnified ? root : root + "/cpu", group, isUnified);
    if (quota > 0)
      least = least > 0 ? std::min(least, quota) : quota;
  }
  if (file)
    std::fclose(file);
  return least;
}

unsigned pcrt::affinityCores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

unsigned pcrt::availableCores() {
  unsigned cores = affinityCores();
  if (double quota = cgroupQuota("/proc/self/cgroup", "/sys/fs/cgroup"))
    cores = std::min(cores, static_cast<unsigned>(std::ceil(quota)));
  return std::max(cores, 1u);
}
