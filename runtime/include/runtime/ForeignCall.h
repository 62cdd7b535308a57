// Handlers of XLA's FFI (third_party/xla/ffi/api/c_api.h) that compiled code calls by `array.host_call`. Each call is a
// HostCallback that runs in the thread of the compiled code, without Python's lock. After HostCallback; the binding
// makes them. PlainCall has C functions without this interface.
#ifndef PYCOMPILER_RUNTIME_FOREIGNCALL_H
#define PYCOMPILER_RUNTIME_FOREIGNCALL_H

#include "runtime/DType.h"
#include "runtime/HostCallback.h"

#include <string>
#include <utility>
#include <vector>

namespace pcrt {

/// A named constant of a call.
struct ForeignAttribute {
  enum class Kind { Scalar, Array, String, Dictionary };

  std::string name;
  Kind kind;
  /// Of a scalar or an array.
  DType dtype = DType::Bool;
  /// The elements, or the string.
  std::string bytes;
  /// Of a dictionary, in the order of their names.
  std::vector<ForeignAttribute> members;
};

/// The handlers of a target for each stage of XLA's FFI (XLA_FFI_Handler); all but the last may be null.
struct ForeignTarget {
  void *instantiate = nullptr, *prepare = nullptr, *initialize = nullptr, *execute = nullptr;
};

/// Arrays of a call in an order of dimensions that the handler does not see: dimension `order[i]` of the handler's is
/// dimension i in memory. Empty: as in memory.
using ForeignOrder = std::vector<int>;

/// An input and an output of the same bytes: the handler gets the output's memory, which holds the input, for both.
using ForeignAlias = std::pair<int, int>;

/// Whether XLA's FFI of the runtime can call this handler: it tells the version that it was compiled for.
Status checkForeignHandler(void *handler);

/// Registers a type of state: the handlers' XLA_FFI_TypeId, and an XLA_FFI_TypeInfo or null.
Status registerForeignType(const std::string &name, void *typeId, const void *typeInfo);

/// A call of a target. It runs the stage `instantiate`, whose failure is returned.
Result<RefPtr<HostCallback>> foreignCall(std::string name, const ForeignTarget &target,
                                         std::vector<ForeignAttribute> attributes, std::vector<ForeignOrder> inputs,
                                         std::vector<ForeignOrder> outputs, std::vector<ForeignAlias> aliases);

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_FOREIGNCALL_H
