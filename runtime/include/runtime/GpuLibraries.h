// Loads NVIDIA's libraries, which replace some generated kernels. The caller of the compiler requests those that
// programs shall use; compiled code then calls them through its call frame. After Status; its code is in
// lib/gpulibraries.
#ifndef PYCOMPILER_RUNTIME_GPULIBRARIES_H
#define PYCOMPILER_RUNTIME_GPULIBRARIES_H

#include "runtime/Status.h"

#include <string>
#include <vector>

namespace pcrt {

/// Loads a library for the process: "cublaslt". The environment variable of that library (PYCOMPILER_CUBLASLT) names
/// its file. Without it, unless `searches` is false, the file names of each known version are searched in `folders`,
/// then in the system's folders. The failure lists the names that were tried. Once loaded, the library stays, and later
/// calls return at once.
Status loadGpuLibrary(const std::string &name, const std::vector<std::string> &folders, bool searches);

/// The supported names.
std::vector<std::string> gpuLibraryNames();

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_GPULIBRARIES_H
