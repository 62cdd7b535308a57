// NVIDIA's libraries: the failure if one is missing or incomplete, and a matmul through the call frame's table, by the
// emulated cuBLASLt.
#include "cuda/EmulatedDevice.h"
#include "runtime/BufferPool.h"
#include "runtime/GpuLibraries.h"

#include <cstring>

using namespace pcrt;
using namespace test;

static constexpr const char *variable = "PYCOMPILER_CUBLASLT";
static bool contains(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

/// The failure of loading if the environment names `file`.
static std::string failureWith(const char *file, bool searches = true, std::vector<std::string> folders = {}) {
  if (file)
    setenv(variable, file, 1);
  else
    unsetenv(variable);
  Status status = loadGpuLibrary("cublaslt", folders, searches);
  if (!status.isOk())
    std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.message();
}

static void saysWhatIsMissing() {
  CHECK(contains(loadGpuLibrary("cudnn", {}, true).message(), "there is no library 'cudnn'"));
  std::string none = failureWith("/nowhere/libcublasLt.so");
  CHECK(contains(none, "cuBLASLt can't be used: looked for /nowhere/libcublasLt.so (the last one: "));
  CHECK(contains(none, "install nvidia-cublas-cu12, or name the file by PYCOMPILER_CUBLASLT"));
  CHECK(contains(failureWith(EMULATED_DRIVER), "has no function cublasLtGetStatusName"));
  CHECK(contains(failureWith(nullptr, false),
                 "the emulated GPU supports only the library that PYCOMPILER_CUBLASLT names"));
  CHECK(contains(failureWith("", false), "the emulated GPU"));
}

/// 2 x 2 by 2 x 2, the left one transposed.
static int32_t multiplies(const PcrtFrame *frame) {
  const int64_t dims[] = {2, 2};
  auto tensor = [&](const void *data) { return PcrtTensor{const_cast<void *>(data), dims, 2, PCRT_DTYPE_Float32}; };
  PcrtTensor inputs[] = {tensor(frame->args[0]), tensor(frame->args[1])}, output = tensor(frame->results[0]);
  PcrtProduct sizes = {1, 2, 2, 2, 0, 1, 2, 0, 2, 1, 4, 2, 0};
  return frame->table->product(frame, inputs, 2, &output, 1, reinterpret_cast<const int64_t *>(&sizes));
}

static RefPtr<Buffer> matrix(Device &device, const std::vector<float> &values) {
  auto buffer = device.memory().allocate(DevicesInUse::bytes);
  REQUIRE(buffer.isOk());
  CHECK(device.write(buffer.value()->data(), values.data(), values.size() * sizeof(float)).isOk());
  return buffer.take();
}

static void multipliesByTheLibrary() {
  DevicesInUse f;
  auto executable = f.executable(multiplies, "multiply");
  auto x = matrix(*f.device, {1, 2, 3, 4}), y = matrix(*f.device, {10, 100, 1000, 10000});
  auto early = DevicesInUse::launch(*f.device, executable.get(), {x, y});
  CHECK(contains(DevicesInUse::failureOf(early), "was compiled for cuBLASLt, which is not loaded"));
  auto onHost = DevicesInUse::launch(f.host, executable.get(), {matrix(f.host, {1}), matrix(f.host, {1})});
  CHECK(contains(DevicesInUse::failureOf(onHost), "cpu:0 has no library for products"));

  CHECK(failureWith(EMULATED_CUBLASLT, false).empty());
  // It stays loaded for any value of the variable.
  CHECK(failureWith("/nowhere/libcublasLt.so").empty());
  for (int round = 0; round < 3; ++round) {
    auto product = DevicesInUse::launch(*f.device, executable.get(), {x, y});
    REQUIRE(product->token() && product->token()->wait() && !product->error());
    float got[4] = {}, want[] = {3010, 30100, 4020, 40200};
    std::vector<float> all(DevicesInUse::count);
    CHECK(f.device->readBuffer(*product, all.data()).isOk());
    std::copy_n(all.begin(), 4, got);
    CHECK(std::memcmp(got, want, sizeof(got)) == 0);
  }
}

static void saysWhatFailed() {
  DevicesInUse f;
  auto executable = f.executable(multiplies, "multiply");
  auto x = matrix(*f.device, {1, 2, 3, 4});
  void *library = dlopen(EMULATED_CUBLASLT, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  auto *failNext = reinterpret_cast<void (*)(int)>(dlsym(library, "emulatedFailNext"));
  REQUIRE(failNext);
  failNext(15);
  std::string text = DevicesInUse::failureOf(DevicesInUse::launch(*f.device, executable.get(), {x, x}));
  CHECK(contains(text, "a product of 1 matrices of 2 x 2 and 2 x 2 by cuBLASLt: cublasLtMatmul failed: "));
  CHECK(contains(text, "(CUBLAS_STATUS_NOT_SUPPORTED, 15)") && contains(text, "model.py:3"));
  auto again = DevicesInUse::launch(*f.device, executable.get(), {x, x});
  CHECK(again->token()->wait() && !again->error());
}

int main() {
  RUN(saysWhatIsMissing);
  RUN(multipliesByTheLibrary);
  RUN(saysWhatFailed);
  return test::failures() != 0;
}
