// C functions of pointers and numbers that compiled code calls by `array.host_call`, as ForeignCall. After
// HostCallback; the binding makes them.
#ifndef PYCOMPILER_RUNTIME_PLAINCALL_H
#define PYCOMPILER_RUNTIME_PLAINCALL_H

#include "runtime/HostCallback.h"

#include <string>
#include <utility>
#include <vector>

namespace pcrt {

/// A parameter of a plain function.
struct ForeignParameter {
  enum class Kind : int32_t {
    /// The memory of input or output `operand`.
    Input,
    Output,
    /// The element of input `operand`.
    Value,
    /// The size of dimension `dimension` of an operand, inputs before outputs.
    Size,
    /// `constant`.
    Constant
  };
  Kind kind;
  int32_t operand = 0;
  int32_t dimension = 0;
  int64_t constant = 0;
};

/// The return value of a plain function.
enum class ForeignReturn : int32_t {
  Nothing,
  /// An int: the call fails unless it is 0.
  Status,
  /// A number, which is the first output.
  Value
};

/// The numbers of parameters that are integers or pointers, and that are floating-point numbers.
inline constexpr int mostForeignIntegers = 18, mostForeignFloats = 8;

/// A call of a function. InvalidArgument for more parameters than these. `aliases`: pairs of an input and an output of
/// the same bytes; the output's memory holds the input when the function gets it.
Result<RefPtr<HostCallback>> plainForeignCall(std::string name, void *function,
                                              std::vector<ForeignParameter> parameters, ForeignReturn returns,
                                              std::vector<std::pair<int, int>> aliases);

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_PLAINCALL_H
