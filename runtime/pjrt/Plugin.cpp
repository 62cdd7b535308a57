// libpjrt_pycompiler.so, which exports GetPjrtApi. The runtime is in the extension module beside it, of which a process
// has one: this library loads the module, or finds the loaded one, and asks it for the table.
#include "xla/pjrt/c/pjrt_c_api.h"

#include <cstdio>
#include <dlfcn.h>
#include <string>

extern "C" __attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void *>(&GetPjrtApi), &self) || !self.dli_fname)
    return nullptr;
  std::string path = self.dli_fname;
  path = path.substr(0, path.rfind('/') + 1) + PCRT_RUNTIME_MODULE;
  void *module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *table = module ? dlsym(module, "pycompiler_pjrt_api") : nullptr;
  if (!table) {
    std::fprintf(stderr, "pycompiler: the PJRT plugin needs %s, a module of Python: %s\n", path.c_str(), dlerror());
    return nullptr;
  }
  return reinterpret_cast<const PJRT_Api *(*)()>(table)();
}
