// A process's connection to the control plane. One thread reads it and keeps it alive; any thread sends. After Frames;
// Processes owns it.
#ifndef PYCOMPILER_RUNTIME_LIB_CONTROLCLIENT_H
#define PYCOMPILER_RUNTIME_LIB_CONTROLCLIENT_H

#include "distributed/Frames.h"
#include "runtime/Processes.h"

#include <map>
#include <mutex>
#include <thread>

namespace pcrt {

/// The events of a connection. Called in its thread, so they must be short.
class ControlEvents {
public:
  virtual ~ControlEvents() = default;
  virtual void peerFailed(const PeerFailure &failure) = 0;
  virtual void peerAtEnd(const PeerFailure &peer) = 0;
  virtual void launchFailed(const PeerFailure &failure, uint64_t processes, uint64_t number) = 0;
  /// A process waits long in a launch of `members` (numbers with commas): is this one late?
  virtual void asked(unsigned from, uint64_t processes, uint64_t number, const std::string &members) = 0;
  /// The answer of a late process; `cause` is its state.
  virtual void peerLate(const PeerFailure &peer, uint64_t processes, uint64_t number) = 0;
};

class ControlClient {
public:
  /// The server counts as failed when it is silent for `silenceMs`.
  ControlClient(int socket, int64_t silenceMs, ControlEvents &events);
  ~ControlClient();
  ControlClient(const ControlClient &) = delete;

  /// Sends the secret, before `start`. Waits for the answer.
  Status greet(const ProcessIdentity &self, const std::string &secret, int64_t deadline);
  void start();
  RefPtr<Reply> ask(FrameKind kind, std::vector<std::string> fields);
  void tell(FrameKind kind, std::vector<std::string> fields);

private:
  void listen();
  void handle(Frame &frame);
  void serverLeft(const std::string &cause);
  /// A question that waits for its answer. `name` and `members` are those of a meeting.
  struct Question {
    RefPtr<Reply> reply;
    std::string name, members;
  };
  /// After the server has left, with `ended` as of then.
  static void refuse(const Question &question, const std::string &lost, const std::vector<PeerFailure> &ended);
  void send(const Frame &frame);

  const int socket;
  const int64_t silenceNs;
  ControlEvents &events;
  ProcessIdentity server{};
  FrameReader reader;
  std::mutex sending, asking;
  uint64_t lastNumber = 0;
  std::map<uint64_t, Question> asked;
  std::string lost;
  std::vector<PeerFailure> ended; ///< The processes that have reached their end, the first one first.
  std::atomic<bool> isStopped{false};
  std::thread thread;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_CONTROLCLIENT_H
