// Emulated modules: objects for the host whose functions are kernels. After EmulatedKernel; before the functions of the
// driver.
#ifndef PYCOMPILER_TESTS_EMULATOR_MODULE_H
#define PYCOMPILER_TESTS_EMULATOR_MODULE_H

#include "EmulatedKernel.h"
#include "cuda/DriverTypes.h"
#include "runtime/MappedObject.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct CUfunc_st {
  std::string name;
  pcrt::MappedObject code;
  /// Of the arguments, if the object says them.
  bool hasSizes = false;
  std::string sizes;
  /// Shared memory that it has by itself, and that a launch may ask for.
  uint32_t sharedBytes = 0;
  int maxSharedBytes = 48 << 10;
  /// The module may go while it runs.
  std::weak_ptr<CUfunc_st> self;

  EmulatedKernel kernel() const {
    return reinterpret_cast<EmulatedKernel>(reinterpret_cast<void *>(code.entryPoint()));
  }
};

struct CUmod_st {
public:
  CUmod_st(CUcontext context, std::string image) : context(context), image(std::move(image)) {}
  /// Looks through the image; what is wrong with it goes to `log`.
  CUresult check(std::string &log);
  CUresult find(const std::string &name, CUfunction &function, std::string &log);

  /// The bytes of the ELF file that begins there; 0 if none does.
  static size_t sizeOf(const void *image);

  CUcontext const context;

private:
  const std::string image;
  std::mutex lock;
  std::map<std::string, std::shared_ptr<CUfunc_st>> functions;
};

#endif // PYCOMPILER_TESTS_EMULATOR_MODULE_H
