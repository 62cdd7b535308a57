// The device under test of the conformance suite. Each kind of device defines how vectors are added on it, and how
// enqueued work is held up; ConformanceTest.cpp has the guarantees of all kinds.
#ifndef PYCOMPILER_TESTS_CPP_CONFORMANCE_SUBJECT_H
#define PYCOMPILER_TESTS_CPP_CONFORMANCE_SUBJECT_H

#include "Vectors.h"
#include "runtime/CpuDevice.h"
#include "runtime/Executable.h"
#include "runtime/ThreadPool.h"

#include <atomic>
#include <memory>

namespace test {

/// A device, and a host as source and target of copies.
class Subject : public Vectors {
public:
  virtual ~Subject() = default;

  virtual pcrt::Device &device() = 0;
  /// A vector that is not ready before `openGate`; work that is enqueued after it may wait as well.
  virtual pcrt::RefPtr<pcrt::Buffer> held(float number) = 0;
  static void openGate() { gateIsOpen = true; }
  /// For an entry that may launch the kernels of `adds`.
  virtual pcrt::RefPtr<pcrt::Executable> executable(PcrtEntry entry, const char *name, bool mayBlock = false,
                                                    uint64_t arenaBytes = 0) = 0;

  pcrt::RefPtr<pcrt::Buffer> value(float number) { return Vectors::value(device(), number); }
  /// The sum of both, in the memory of the first one, which is donated: it must have no other readers.
  pcrt::RefPtr<pcrt::Buffer> add(const pcrt::RefPtr<pcrt::Buffer> &to, const pcrt::RefPtr<pcrt::Buffer> &what) {
    return launch(device(), adds.get(), {to, what}, /*donates=*/true);
  }

  pcrt::ThreadPool pool{2};
  pcrt::CpuDevice host{7, pool, false};
  pcrt::RefPtr<pcrt::Executable> adds;

protected:
  Subject() = default;
  /// The common part of all destructors, while the device exists.
  void finish();
  static inline std::atomic<bool> gateIsOpen{true};
};

/// A kind of devices, by its name on the command line.
struct Kind {
  const char *name;
  std::unique_ptr<Subject> (*make)(bool inPlace, pcrt::RunAhead bound);
  /// The reason why this machine has none; empty if it has one.
  std::string (*missing)();

  /// Null if no kind has this name.
  static const Kind *named(const char *name);
};

} // namespace test

#endif // PYCOMPILER_TESTS_CPP_CONFORMANCE_SUBJECT_H
