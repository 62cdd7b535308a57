// The programs that the plugin runs, compiled for the PJRT C API, and their compiler. The binding registers the
// compiler, because the runtime knows neither MLIR nor Python. Before it: Executable. After it: the objects of the API.
#ifndef PYCOMPILER_RUNTIME_PJRT_PROGRAM_H
#define PYCOMPILER_RUNTIME_PJRT_PROGRAM_H

#include "runtime/DType.h"
#include "runtime/Executable.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

struct PJRT_Api;

namespace pcrt::pjrt {

/// A parameter or a result of a program.
struct ArrayType {
  DType dtype = DType::Float32;
  std::vector<int64_t> dims;
  /// The dimensions in the order of memory, the slowest first; empty for row-major, and never its equal.
  std::vector<int64_t> order;
  uint64_t bytes() const;
  /// The bytes from element to element.
  std::vector<int64_t> strides() const;
  /// Sets the order.
  void setOrder(std::vector<int64_t> given);
};

/// A compiled program. All is for one participant: each device that it runs on has arrays of these types.
struct Program {
  std::string name, fingerprint;
  RefPtr<Executable> executable;
  std::vector<ArrayType> parameters, results;
  /// The memory of each result: a kind of the API ("device").
  std::vector<std::string> resultKinds;
  /// Serialized OpShardings, for several devices; else empty.
  std::vector<std::string> parameterShardings, resultShardings;
  /// For each parameter: whether its array may be taken, and the result in whose memory it then is; -1 for none.
  struct Donation {
    bool isDonated = false;
    int32_t result = -1;
  };
  std::vector<Donation> donations;
  /// The ids of the devices, by replica, then by partition.
  std::vector<int> devices;
  int replicas = 1, partitions = 1;
  double flops = 0;
  /// The serialized CompileOptions.
  std::string options;
  /// Bytes for `load`, and the compiled module as text. They are made on request.
  std::function<Result<std::string>()> serialize, text;
};

class Compiler {
public:
  virtual ~Compiler() = default;
  /// The program of a module in a format of the API ("mlir"), with serialized CompileOptions.
  virtual Result<Program> compile(std::string_view code, std::string_view format, std::string_view options) = 0;
  /// The program that `serialize` wrote. `options` is empty, or replaces its own.
  virtual Result<Program> load(std::string_view bytes, std::string_view options) = 0;
  /// The versions of StableHLO that it reads, from the oldest.
  virtual std::vector<int64_t> oldestStablehlo() const = 0;
  virtual std::vector<int64_t> newestStablehlo() const = 0;
};

/// The compiler of this process; null without one. Lives forever.
void setCompiler(Compiler *compiler);
Compiler *compiler();

/// The table of the API.
const PJRT_Api *api();

} // namespace pcrt::pjrt

#endif // PYCOMPILER_RUNTIME_PJRT_PROGRAM_H
