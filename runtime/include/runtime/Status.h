// How the runtime says that something went wrong: a code and a message, never an exception.
#ifndef PYCOMPILER_RUNTIME_STATUS_H
#define PYCOMPILER_RUNTIME_STATUS_H

#include "runtime/Abi.h"
#include "runtime/RefPtr.h"

#include <memory>
#include <string>
#include <utility>

namespace pcrt {

enum class Code : int32_t {
  Ok = PCRT_OK,
  InvalidArgument = PCRT_INVALID_ARGUMENT,
  OutOfMemory = PCRT_OUT_OF_MEMORY,
  LibraryFailed = PCRT_LIBRARY_FAILED,
  /// Compiled code returned a status that the ABI does not know.
  Unknown = -1,
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Code code, std::string message)
      : failure(code == Code::Ok ? nullptr : std::make_unique<Failure>(Failure{code, std::move(message)})) {}
  static Status ok() { return {}; }

  bool isOk() const { return !failure; }
  Code code() const { return failure ? failure->code : Code::Ok; }
  const std::string &message() const {
    static const std::string none;
    return failure ? failure->message : none;
  }

private:
  struct Failure {
    Code code;
    std::string message;
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
  Error(Code code, std::string message, std::string executable, std::string place)
      : code(code), message(std::move(message)), executable(std::move(executable)), place(std::move(place)) {}

  const Code code;
  const std::string message;
  /// The name of what ran, and where it was launched ("file.py:12", empty when not known).
  const std::string executable;
  const std::string place;

  /// "name: message (launched at file.py:12)".
  std::string text() const;
};

/// "1.5 GiB", for messages.
std::string formatBytes(uint64_t bytes);

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_STATUS_H
