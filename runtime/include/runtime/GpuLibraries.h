// Loading NVIDIA's libraries, which compute what generated kernels would otherwise. Whoever compiles asks for those
// that programs shall use; compiled code then finds them through its call frame. After Status; its code is in lib/cuda.
#ifndef PYCOMPILER_RUNTIME_GPULIBRARIES_H
#define PYCOMPILER_RUNTIME_GPULIBRARIES_H

#include "runtime/Status.h"

#include <string>
#include <vector>

namespace pcrt {

/// Loads a library for the process: "cublaslt". The environment's variable of that library (PYCOMPILER_CUBLASLT) names
/// its file; without it, unless `searches` is false, the file names of each known version are looked for in `folders`,
/// then where the system looks. The failure says what was looked for. Once loaded, it stays, and is found at once.
Status loadGpuLibrary(const std::string &name, const std::vector<std::string> &folders, bool searches);

/// The names that loadGpuLibrary knows.
std::vector<std::string> gpuLibraryNames();

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_GPULIBRARIES_H
