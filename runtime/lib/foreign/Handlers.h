// The functions that handlers of XLA's FFI call back (XLA_FFI_Api): errors, futures, types of state, and the context of
// a call. Before ForeignCall, which calls handlers.
#ifndef PYCOMPILER_RUNTIME_LIB_HANDLERS_H
#define PYCOMPILER_RUNTIME_LIB_HANDLERS_H

#include "runtime/Futex.h"
#include "runtime/Status.h"
#include "runtime/ThreadPool.h"

#include "xla/ffi/api/c_api.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <thread>

/// An error of a handler, or of a function that it called.
struct XLA_FFI_Error {
  XLA_FFI_Error_Code code;
  std::string message;
};

/// The end of a handler's work that continues after it has returned.
struct XLA_FFI_Future {
  pcrt::FutexWord done{0};
  std::unique_ptr<XLA_FFI_Error> error;
};

namespace pcrt {

class Device;

/// An object that a handler left for later stages.
class ForeignState {
public:
  ForeignState() = default;
  ForeignState(const ForeignState &) = delete;
  ForeignState &operator=(const ForeignState &) = delete;
  ~ForeignState() {
    if (object && deleter)
      deleter(object);
  }

  int64_t type = 0;
  void *object = nullptr;
  void (*deleter)(void *) = nullptr;
};

const XLA_FFI_Api &foreignApi();
/// Frees the error; the status has its code, by name, and its message.
Status statusOf(XLA_FFI_Error *error, const std::string &where);

/// Registers a type of state; null for success.
XLA_FFI_Error *registerStateType(const std::string &name, XLA_FFI_TypeId &id, const XLA_FFI_TypeInfo *info);

} // namespace pcrt

/// The data that a handler can request during one call.
struct XLA_FFI_ExecutionContext {
  /// Null while a call is made.
  pcrt::Device *device = nullptr;
  int64_t run = 0;
  /// By stage; that of the stage `instantiate` belongs to the call site.
  std::array<pcrt::ForeignState *, 4> states{};

  /// The handler's thread may wait for tasks of the pool: from the first one on, the pool has another thread.
  const std::thread::id thread = std::this_thread::get_id();
  std::optional<pcrt::BlockingScope> blocking;
};

#endif // PYCOMPILER_RUNTIME_LIB_HANDLERS_H
