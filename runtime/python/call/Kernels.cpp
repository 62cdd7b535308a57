// The table of the kernels that the build compiled, and their objects.
#include "call/Kernels.h"

#include <cstdint>
#include <iterator>
#include <mutex>

using namespace pcrt;
using namespace pcrt::python;

asm(".pushsection .rodata\n"
    ".balign 64\n"
    ".local pcrtKernelObjects\n"
    "pcrtKernelObjects:\n"
    ".incbin \"" PCRT_KERNEL_OBJECTS "\"\n"
    ".popsection\n");
extern "C" {
extern const char pcrtKernelObjects[] __attribute__((visibility("hidden")));
}

namespace {
struct Row {
  std::string_view op;
  DType operand, result;
  unsigned level;
  struct {
    uint64_t offset, bytes;
  } blocks[blockCount];
};

const Row rows[] = {
#define PCRT_KERNEL(op, operand, result, ...) {op, DType::operand, DType::result, __VA_ARGS__},
#include PCRT_KERNEL_ROWS
#undef PCRT_KERNEL
};
} // namespace

/// Whether this CPU supports a level.
static bool runsLevel(unsigned level) {
#ifdef __x86_64__
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
            __builtin_cpu_supports("bmi2");
  if (level == 1)
    return v3;
  return v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return level == 0;
#endif
}

RefPtr<BlockKernel> pcrt::python::builtKernel(std::string_view op, DType operand) {
  static std::mutex lock;
  static auto *const loaded = new RefPtr<BlockKernel>[std::size(rows)]; // code that runs at exit may need them
  std::lock_guard<std::mutex> guard(lock);
  for (const Row &row : rows) {
    if (row.op != op || row.operand != operand || !runsLevel(row.level))
      continue;
    RefPtr<BlockKernel> &kernel = loaded[&row - rows];
    if (!kernel) {
      std::string_view objects[blockCount];
      for (int i = 0; i < blockCount; ++i)
        objects[i] = {pcrtKernelObjects + row.blocks[i].offset, row.blocks[i].bytes};
      Result<RefPtr<BlockKernel>> result = BlockKernel::load(objects, "pcrt_main", row.operand, row.result);
      if (!result.isOk())
        return nullptr;
      kernel = result.take();
    }
    return kernel;
  }
  return nullptr;
}
