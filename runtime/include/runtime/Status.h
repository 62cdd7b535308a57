// How the runtime says that something went wrong: a code and a message, never an exception.
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
  /// No failure: a run within a budget gave up. It never reaches a token.
  OutOfBudget = PCRT_OUT_OF_BUDGET,
  /// Compiled code returned a status that the ABI does not know.
  Unknown = -1,
};

/// What a failure brings along for those above the runtime, who made it (the exception of a callback, say); opaque
/// here. The last reference may go in any thread.
class Payload : public RefCounted<Payload> {
public:
  Payload() = default;
  virtual ~Payload() = default;
};

/// An operation of the program: its primitive, and the user's line that asked for it ("model.py:12"). Both are empty
/// when they are not known.
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

/// A value, or the status that says why there is none.
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

/// What a failed token carries: shared by everything that it poisons, so that the first cause is what a read reports.
class Error : public RefCounted<Error> {
public:
  Error(Code code, std::string message, std::string executable, std::string place, CallSite site = {},
        RefPtr<Payload> payload = nullptr)
      : code(code), message(std::move(message)), executable(std::move(executable)), place(std::move(place)),
        site(std::move(site)), payload(std::move(payload)) {}
  /// A run that came to `status`, which is not Ok.
  Error(const Status &status, std::string executable, std::string place)
      : Error(status.code(), status.message(), std::move(executable), std::move(place), status.site(),
              RefPtr<Payload>(status.payload())) {}

  const Code code;
  const std::string message;
  /// The name of what ran, and where it was launched ("file.py:12", empty when not known).
  const std::string executable;
  const std::string place;
  /// The operation that failed.
  const CallSite site;
  /// What a read raises instead of an exception made of the text; may be null.
  const RefPtr<Payload> payload;
  /// Whether it was raised: effects_barrier does not tell of it again.
  mutable std::atomic<bool> isTold{false};

  /// "name: cholesky: message (at model.py:12, launched at main.py:3)"; what is not known is left out.
  std::string text() const;
  /// The part in parentheses: "at model.py:12, launched at main.py:3".
  std::string places() const;
};

/// "1.5 GiB", for messages.
std::string formatBytes(uint64_t bytes);

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_STATUS_H
