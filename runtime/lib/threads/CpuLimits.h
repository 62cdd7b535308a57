// The cores that the system allows this process. Before ThreadPool, which has as many threads.
#ifndef PYCOMPILER_RUNTIME_LIB_CPULIMITS_H
#define PYCOMPILER_RUNTIME_LIB_CPULIMITS_H

#include <string>

namespace pcrt {

/// Cores that the process may run on.
unsigned affinityCores();
/// The minimum CPU quota, in cores, of the control groups in the file `groups` (/proc/self/cgroup) and of their
/// ancestors, under `root` (/sys/fs/cgroup); 0 if there is none.
double cgroupQuota(const std::string &groups, const std::string &root);
/// The minimum of both, rounded up; at least 1.
unsigned availableCores();

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_CPULIMITS_H
