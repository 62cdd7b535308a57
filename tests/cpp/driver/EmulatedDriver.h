// For tests of the CUDA layer: the emulated driver, its controls for tests, and a stream in use.
#ifndef PYCOMPILER_TESTS_CPP_DRIVER_EMULATEDDRIVER_H
#define PYCOMPILER_TESTS_CPP_DRIVER_EMULATEDDRIVER_H

#include "Check.h"
#include "EmulatorControls.h"
#include "driver/Context.h"
#include "driver/Driver.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <thread>

namespace test {

/// The emulated driver, through its environment variable; to be called before any other use of the driver.
inline const pcrt::cuda::Driver &emulatedDriver() {
  static const pcrt::cuda::Driver &driver = []() -> const pcrt::cuda::Driver & {
    setenv("PYCOMPILER_CUDA_DRIVER", EMULATED_DRIVER, 1);
    auto found = pcrt::cuda::Driver::get();
    if (!found.isOk())
      std::fprintf(stderr, "%s\n", found.status().message().c_str());
    REQUIRE(found.isOk());
    return *found.value();
  }();
  return driver;
}

/// A function of EmulatorControls.h.
template <typename Function> Function *control(Function *, const char *name) {
  static void *const library = dlopen(EMULATED_DRIVER, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  auto *found = reinterpret_cast<Function *>(dlsym(library, name));
  REQUIRE(found);
  return found;
}
/// Calls it by name. The declaration only gives the type, because nothing is linked.
#define CONTROL(name) ::test::control(static_cast<decltype(&name)>(nullptr), #name)

/// A context of the first device, current in this thread, and a stream of it, which the test destroys.
struct StreamInUse {
  StreamInUse() {
    auto retained = pcrt::cuda::Context::retain(driver, 0);
    REQUIRE(retained.isOk() && retained.value().makeCurrent().isOk());
    context = retained.value();
    REQUIRE(driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  }

  const pcrt::cuda::Driver &driver = emulatedDriver();
  pcrt::cuda::Context context;
  CUstream stream = nullptr;
};

/// For cuLaunchHostFunc: the stream continues when the gate is opened.
inline std::atomic<bool> gateOpen;
inline void waitAtGate(void *) {
  while (!gateOpen)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

inline std::string readFile(const char *path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace test

#endif // PYCOMPILER_TESTS_CPP_DRIVER_EMULATEDDRIVER_H
