// LAPACK from the system's libraries, for programs without Python. It fills the table of LapackTable; callers of a
// decomposition request it first.
#include "runtime/Lapack.h"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <string>

using namespace pcrt;

/// The names in Debian's packages: liblapack.so.3 loads libblas.so.3, and the other one contains both.
static constexpr const char *systemFiles[] = {"liblapack.so.3", "libopenblas.so.0"};

static std::vector<std::string> candidates() {
  const char *named = std::getenv("PYCOMPILER_LAPACK");
  if (named && *named)
    return {named};
  return {std::begin(systemFiles), std::end(systemFiles)};
}

/// The routines of a library and of its dependencies, by their Fortran names.
static Status fillFrom(void *library, const std::string &file) {
  std::vector<void *> entries;
  for (std::string_view name : lapack::names()) {
    std::string symbol = std::string(name) + "_";
    entries.push_back(dlsym(library, symbol.c_str()));
    if (!entries.back())
      return Status(Code::LibraryFailed, "LAPACK can't be used: " + file + " has no function " + symbol);
  }
  lapack::setThreads({reinterpret_cast<int (*)()>(dlsym(library, "openblas_get_num_threads")),
                      reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"))});
  lapack::fill(entries, lapack::Strings::WithLengths);
  return Status::ok();
}

Status lapack::fillFromSystem() {
  static std::mutex lock;
  std::lock_guard<std::mutex> guard(lock);
  if (isFilled())
    return Status::ok();
  std::string tried, reason;
  for (const std::string &file : candidates()) {
    // Never unloaded, because the table holds its functions.
    if (void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
      return fillFrom(library, file);
    const char *why = dlerror();
    tried += (tried.empty() ? "" : ", ") + file;
    reason = why ? why : "no reason was given";
  }
  return Status(Code::LibraryFailed,
                "decompositions need LAPACK: looked for " + tried + " (the last one: " + reason +
                    "); install liblapack3 or libopenblas0, or name the file by PYCOMPILER_LAPACK");
}
