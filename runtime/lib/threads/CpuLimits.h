// The cores that the system leaves to this process. Before ThreadPool, which has as many threads.
#ifndef PYCOMPILER_RUNTIME_LIB_CPULIMITS_H
#define PYCOMPILER_RUNTIME_LIB_CPULIMITS_H

#include <string>

namespace pcrt {

/// Cores that the process may run on.
unsigned affinityCores();
/// The least CPU quota, in cores, of the control groups that the file `groups` (/proc/self/cgroup) names and of those
/// above them, under `root` (/sys/fs/cgroup); 0 when there is none.
double cgroupQuota(const std::string &groups, const std::string &root);
/// The smaller one of both, rounded up; at least 1.
unsigned availableCores();

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_CPULIMITS_H
