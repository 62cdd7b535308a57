// Messages between the processes of a program, and the launches in which several processes take part. A transport moves
// bytes and nothing else; RemoteCollective computes with them. After Token; lib/distributed implements both classes.
#ifndef PYCOMPILER_RUNTIME_TRANSPORT_H
#define PYCOMPILER_RUNTIME_TRANSPORT_H

#include "runtime/Token.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <vector>

namespace pcrt {

/// The name of a message, the same for its sender and its receiver. No other message between two processes has it.
struct MessageKey {
  /// The launch: the processes that take part (a hash of their numbers), and its number among the launches of these.
  uint64_t processes, launch;
  /// A group of participants in the launch, and the number of the message among those of the group.
  uint64_t group, step;

  bool operator==(const MessageKey &other) const {
    return processes == other.processes && launch == other.launch && group == other.group && step == other.step;
  }
};

/// Some messages, as a token that is done when all of them are. Its creator adds each message before it begins, and
/// calls `arrived` once more at the end.
class Transfer final : public Token {
public:
  void add() { pending.fetch_add(1); }
  void arrived() {
    if (pending.fetch_sub(1) == 1)
      complete();
  }

private:
  std::atomic<unsigned> pending{1};
};

class SharedLaunch;

/// The failure of a launch. The failure may occur after the host's part here has ended, while the device's part runs.
class LaunchFailure final : public RefCounted<LaunchFailure> {
public:
  /// Fails the launch, if it has not failed before.
  void fail(RefPtr<Error> error);
  /// Null if it did not fail.
  RefPtr<Error> error();
  /// `ends` is called when the launch fails, or now if it has: it ends work that waits for no message. It returns at
  /// once, and takes none of the locks of the caller of `fail`.
  void whenFailed(std::function<void()> ends);

private:
  std::mutex lock;
  std::atomic<bool> hasFailed{false};
  RefPtr<Error> cause;
  std::vector<std::function<void()>> hooks;
};

/// Moves bytes between processes. Only `abandon` waits. Any thread may call.
class Transport {
public:
  virtual ~Transport() = default;
  virtual unsigned rank() const = 0;
  virtual unsigned size() const = 0;
  /// Whether every process has a core for itself, so that a waiting one may spin.
  virtual bool maySpin() const = 0;

  /// The memory must not change until the transfer is done. The messages of a launch carry its fingerprint.
  virtual void send(unsigned to, const SharedLaunch &launch, const MessageKey &key, const void *data, size_t bytes,
                    Transfer &transfer) = 0;
  virtual void receive(unsigned from, SharedLaunch &launch, const MessageKey &key, void *data, size_t bytes,
                       Transfer &transfer) = 0;
  /// Moves all bytes that can be moved now; returns whether any moved. One thread does so at a time, the others return
  /// at once.
  virtual bool progress() = 0;
  /// A number that changes when there may be bytes to move again, and a sleep until it changes, or for this time.
  /// Transports without such a notification sleep.
  virtual uint32_t changes() const { return 0; }
  virtual void waitForChange(uint32_t seen, int64_t ns);
  /// Whether every change is notified.
  virtual bool tellsChanges() const { return false; }
  /// Ends a transfer of a failed launch. Messages in flight still arrive; the others are dropped here, and by their
  /// receivers. Waits for a moment, until the transport no longer uses the memory.
  virtual void abandon(SharedLaunch &launch, Transfer &transfer) = 0;

  /// Sends the fingerprint of the launch's program to a process. Its `onAnnounced` compares.
  virtual void announce(unsigned to, const SharedLaunch &launch) = 0;
  /// From here on, messages of a failed launch are received and dropped.
  virtual void drop(uint64_t processes, uint64_t number) = 0;
  /// Fails the launches that still wait for messages from, or to, a process that has reached its end.
  virtual void failThoseWithout(unsigned rank, const std::function<RefPtr<Error>(const SharedLaunch &launch)> &why) = 0;

  /// Before the end of the library: whether all messages that were begun here have left.
  virtual bool isDrained() = 0;
  /// Frees the library's resources of the transport. No call may follow.
  virtual void finish() = 0;

  struct Events {
    virtual ~Events() = default;
    virtual void announced(unsigned from, uint64_t processes, uint64_t number, uint64_t fingerprint,
                           const std::string &what) = 0;
    /// The two sides of a message do not match.
    virtual void differs(unsigned from, SharedLaunch &launch, const std::string &what) = 0;
    /// The library that moves the bytes has failed.
    virtual void broke(const Status &status) = 0;
  };
  Events *events = nullptr;
};

/// A launch with participants in several processes. Each of the processes has its own object.
class SharedLaunch : public RefCounted<SharedLaunch> {
public:
  /// `owners` are the processes of the participants, `deviceIds` their devices. `fingerprint` is that of the program,
  /// and `told` its name and place and, after a unit separator, the types of its arguments.
  SharedLaunch(Transport &transport, std::vector<unsigned> owners, std::vector<int> deviceIds, uint64_t processes,
               uint64_t number, uint64_t fingerprint, std::string told)
      : transport(transport), owners(std::move(owners)), deviceIds(std::move(deviceIds)), processes(processes),
        number(number), fingerprint(fingerprint), told(std::move(told)), what(shown(this->told)),
        outcome(RefPtr<LaunchFailure>::adopt(new LaunchFailure())) {}
  virtual ~SharedLaunch() = default;

  /// What `told` begins with: the name and the place.
  static std::string shown(const std::string &told) { return told.substr(0, told.find('\x1f')); }

  bool isHere(size_t participant) const { return owners[participant] == transport.rank(); }
  /// Fails the launch, if it has not failed before.
  void fail(RefPtr<Error> error) { outcome->fail(std::move(error)); }
  /// Why it failed, here or in another process; null if it did not.
  RefPtr<Error> failure() { return outcome->error(); }
  /// Tells the other processes that a participant of this one has failed.
  virtual void tell(Error &error) = 0;
  /// A thread that waits for the results runs a participant. If the thread is told to stop waiting (Ctrl-C), the launch
  /// fails, because the participant is on its stack.
  void interrupt();

  /// While it lives, a thread waits in the launch for other processes.
  class Waiting {
  public:
    explicit Waiting(SharedLaunch &launch) : launch(launch), since(nowNs()) {
      std::lock_guard<std::mutex> guard(launch.lock);
      launch.waits.push_back(this);
    }
    ~Waiting() {
      std::lock_guard<std::mutex> guard(launch.lock);
      launch.waits.erase(std::find(launch.waits.begin(), launch.waits.end(), this));
    }
    Waiting(const Waiting &) = delete;

  private:
    friend class SharedLaunch;
    SharedLaunch &launch;
    const int64_t since;
  };
  /// The begin of the longest wait of its threads (nowNs), 0 if none waits.
  int64_t waitingSince() {
    std::lock_guard<std::mutex> guard(lock);
    int64_t first = 0;
    for (const Waiting *wait : waits)
      first = first ? std::min(first, wait->since) : wait->since;
    return first;
  }

  Transport &transport;
  const std::vector<unsigned> owners;
  const std::vector<int> deviceIds;
  const uint64_t processes, number, fingerprint;
  const std::string told, what;
  const RefPtr<LaunchFailure> outcome;

private:
  std::mutex lock;
  std::vector<const Waiting *> waits;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_TRANSPORT_H
