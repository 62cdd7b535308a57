// Failures of the runtime: a code and a message, never an exception.
#ifndef PYCOMPILER_RUNTIME_STATUS_H
#define PYCOMPILER_RUNTIME_STATUS_H

#include "runtime/Abi.h"
#include "runtime/RefPtr.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace pcrt {

enum class Code : int32_t {
  Ok = PCRT_OK,
  InvalidArgument = PCRT_INVALID_ARGUMENT,
  OutOfMemory = PCRT_OUT_OF_MEMORY,
  LibraryFailed = PCRT_LIBRARY_FAILED,
  /// A callback of the program raised an exception, which is the payload.
  CallbackFailed = PCRT_CALLBACK_FAILED,
  /// No failure: a speculative run stopped. It never reaches a token.
  OutOfBudget = PCRT_OUT_OF_BUDGET,
  /// Another process of the program failed; the payload tells which. Compiled code has no such status.
  PeerFailed = 64,
  /// Compiled code returned a status outside of the ABI.
  Unknown = -1,
};

struct PeerFailure;

/// Data that a failure carries for the layers above the runtime (for example the exception of a callback); opaque here.
/// The last reference may go in any thread.
class Payload : public RefCounted<Payload> {
public:
  Payload() = default;
  virtual ~Payload() = default;
  /// For the failure of another process (runtime/Processes.h).
  virtual const PeerFailure *peerFailure() const { return nullptr; }
};

/// An operation of the program: its primitive, and the user's line ("model.py:12"). Both are empty if unknown.
struct CallSite {
  std::string primitive;
  std::string place;
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Code code, std::string message, CallSite site = {}, RefPtr<Payload> payload = nullptr)
      : failure(code == Code::Ok ? nullptr
                                 : new Failure{code, std::move(message), std::move(site), std::move(payload)}) {}
  static Status ok() { return {}; }

  bool isOk() const { return !failure; }
  Code code() const { return failure ? failure->code : Code::Ok; }
  const std::string &message() const {
    static const std::string none;
    return failure ? failure->message : none;
  }
  /// The operation that failed.
  const CallSite &site() const {
    static const CallSite unknown;
    return failure ? failure->site : unknown;
  }
  Payload *payload() const { return failure ? failure->payload.get() : nullptr; }

private:
  struct Failure {
    Code code;
    std::string message;
    CallSite site;
    RefPtr<Payload> payload;
  };
  std::unique_ptr<Failure> failure;
};

/// A value, or the status of the failure.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : content(std::move(value)) {}
  Result(Status status) : failure(std::move(status)) {}

  bool isOk() const { return failure.isOk(); }
  const Status &status() const { return failure; }
  T &value() { return content; }
  T take() { return std::move(content); }

private:
  Status failure;
  T content{};
};

/// The error of a failed token. All tokens that depend on it share the error, so a read reports the first cause.
class Error : public RefCounted<Error> {
public:
  Error(Code code, std::string message, std::string executable, std::string place, CallSite site = {},
        RefPtr<Payload> payload = nullptr)
      : code(code), message(std::move(message)), executable(std::move(executable)), place(std::move(place)),
        site(std::move(site)), payload(std::move(payload)) {}
  /// The error of a run with the failure `status`.
  Error(const Status &status, std::string executable, std::string place)
      : Error(status.code(), status.message(), std::move(executable), std::move(place), status.site(),
              RefPtr<Payload>(status.payload())) {}

  const Code code;
  const std::string message;
  /// The name of the executable, and the place of its launch ("file.py:12", empty if unknown).
  const std::string executable;
  const std::string place;
  /// The operation that failed.
  const CallSite site;
  /// A read raises this instead of an exception made from the text; may be null.
  const RefPtr<Payload> payload;
  /// Whether it was raised: effects_barrier does not report it again.
  mutable std::atomic<bool> isTold{false};

  /// "name: cholesky: message (at model.py:12, launched at main.py:3)"; unknown parts are omitted.
  std::string text() const;
  /// The part in parentheses: "at model.py:12, launched at main.py:3".
  std::string places() const;
};

/// "1.5 GiB", for messages.
std::string formatBytes(uint64_t bytes);

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_STATUS_H
