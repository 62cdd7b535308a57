// Records events with times and threads as a trace that Chrome and Perfetto show. While recording is off, an event
// costs one load.
#ifndef PYCOMPILER_RUNTIME_PROFILE_H
#define PYCOMPILER_RUNTIME_PROFILE_H

#include "runtime/Futex.h"

#include <atomic>
#include <map>
#include <string>
#include <string_view>

namespace pcrt {

/// The category of an event. X(enumerator, name).
#define PCRT_PROFILE_KINDS(X)                                                                                          \
  X(Trace, "trace")                                                                                                    \
  X(Compile, "compile")                                                                                                \
  X(Enqueue, "enqueue")                                                                                                \
  X(Run, "run")                                                                                                        \
  X(Copy, "copy")                                                                                                      \
  X(Callback, "callback")                                                                                              \
  X(Collective, "collective")                                                                                          \
  X(Wait, "wait")                                                                                                      \
  X(User, "user")

enum class ProfileKind : uint8_t {
#define PCRT_KIND(enumerator, name) enumerator,
  PCRT_PROFILE_KINDS(PCRT_KIND)
#undef PCRT_KIND
};

class Profile {
public:
  static bool isOn() { return on.load(std::memory_order_relaxed); }

  /// Records from now on; false if a recording exists.
  static bool start();
  /// Ends the recording, if there is one, and returns the trace, a JSON object. `threadNames` are by the system's
  /// thread ids; other threads have the system's names.
  static std::string stop(const std::map<int, std::string> &threadNames = {});

  /// Records an event of this thread between two times of nowNs(). `place` is the line of the program, or null; `args`,
  /// the members of a JSON object ("\"bytes\": 12"), has further data. Does nothing while recording is off. Events
  /// beyond the limit are counted and dropped.
  static void record(ProfileKind kind, std::string name, int64_t start, int64_t end, const char *place = nullptr,
                     uint64_t flow = 0, std::string args = {});
  /// A number for an arrow from an Enqueue event to its Run event.
  static uint64_t newFlow();

  /// The maximum number of events.
  static constexpr unsigned limit = 1 << 20;

  /// A text as a JSON string, with its quotes.
  static std::string quoted(std::string_view text);

private:
  static std::atomic<bool> on;
};

/// Records the scope. The name must outlive it.
class ProfileScope {
public:
  ProfileScope(ProfileKind kind, std::string_view name, const char *place = nullptr)
      : begin(Profile::isOn() ? nowNs() : 0), name(name), place(place), kind(kind) {}
  ~ProfileScope() {
    if (begin)
      Profile::record(kind, std::string(name), begin, nowNs(), place);
  }
  ProfileScope(const ProfileScope &) = delete;
  ProfileScope &operator=(const ProfileScope &) = delete;

private:
  const int64_t begin;
  const std::string_view name;
  const char *const place;
  const ProfileKind kind;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_PROFILE_H
