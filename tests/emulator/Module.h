// Emulated modules: host objects whose functions are kernels. After EmulatedKernel; before the functions of the driver.
#ifndef PYCOMPILER_TESTS_EMULATOR_MODULE_H
#define PYCOMPILER_TESTS_EMULATOR_MODULE_H

#include "EmulatedKernel.h"
#include "driver/DriverTypes.h"
#include "runtime/MappedObject.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct CUfunc_st {
  std::string name;
  pcrt::MappedObject code;
  /// The sizes of the arguments, if the object has them.
  bool hasSizes = false;
  std::string sizes;
  /// Static shared memory, and the limit of dynamic shared memory.
  uint32_t sharedBytes = 0;
  int maxSharedBytes = 48 << 10;
  /// The module may be unloaded while it runs.
  std::weak_ptr<CUfunc_st> self;

  EmulatedKernel kernel() const {
    return reinterpret_cast<EmulatedKernel>(reinterpret_cast<void *>(code.entryPoint()));
  }
};

struct CUmod_st {
public:
  CUmod_st(CUcontext context, std::string image) : context(context), image(std::move(image)) {}
  /// Checks the image; errors go to `log`.
  CUresult check(std::string &log);
  CUresult find(const std::string &name, CUfunction &function, std::string &log);
  /// The size of a variable; 0 if there is none of this name.
  size_t sizeOfVariable(const std::string &name) const;

  /// The size of the ELF file at this address; 0 if there is none.
  static size_t sizeOf(const void *image);

  CUcontext const context;

private:
  const std::string image;
  std::mutex lock;
  std::map<std::string, std::shared_ptr<CUfunc_st>> functions;
};

#endif // PYCOMPILER_TESTS_EMULATOR_MODULE_H
