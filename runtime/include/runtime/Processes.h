// The processes of one program: their connection, their launches, and their failures. A program of one process uses
// nothing of this. After Transport; the binding calls it.
#ifndef PYCOMPILER_RUNTIME_PROCESSES_H
#define PYCOMPILER_RUNTIME_PROCESSES_H

#include "runtime/Transport.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pcrt {

struct ProcessIdentity {
  unsigned rank = 0, size = 1;
  std::string host;
  int64_t pid = 0;
};

/// A process that has failed; the payload of the errors of all work that waited for it.
struct PeerFailure {
  unsigned rank;
  std::string host;
  int64_t pid;
  /// The failure in that process, and its line ("" if unknown).
  std::string cause, place;
};

class PeerFailurePayload final : public Payload {
public:
  explicit PeerFailurePayload(PeerFailure failure) : failure(std::move(failure)) {}
  const PeerFailure *peerFailure() const override { return &failure; }
  const PeerFailure failure;
};

/// The answer to a request of the control plane, as a token.
class Reply final : public Token {
public:
  void answer(std::vector<std::string> given) {
    fields = std::move(given);
    complete();
  }
  void refuse(std::string why) {
    isRefused = true;
    message = std::move(why);
    complete();
  }

  // Once it is done.
  bool isRefused = false;
  std::string message;
  std::vector<std::string> fields;
  /// The process because of which it is refused, if that is the reason. Set before `refuse`.
  std::optional<PeerFailure> peer;
};

/// A failure of a process, as the error of work that waited for it. `verb`: "failed", "is late".
RefPtr<Error> errorOf(const PeerFailure &failure, const std::string &verb);

/// The exchange of a process with the others. There is one object, from `begin` to the end of the process.
class Processes {
public:
  virtual ~Processes() = default;
  /// Null unless this process has begun a program of several.
  static Processes *current();

  /// The server of the control plane, in process 0, before `begin`: its port, chosen by the system if `port` is 0.
  static Result<int> serve(const std::string &address, int port, unsigned size, const std::string &secret,
                           int64_t silenceMs);
  /// A server that answers PMI-1, for an MPICH that no launcher has started; its port.
  static Result<int> servePmi(const std::string &address, unsigned size, const std::string &mapping);
  /// After the end of an MPICH that such a server has started. At the exit of its process, MPICH sends a last message
  /// to the server, which has ended by then. From this call on, this process has the answer ready.
  static void replacePmi(int port);
  /// Connects to the control plane. `silenceMs` is the time after which a silent process has failed.
  static Status begin(const ProcessIdentity &self, const std::string &host, int port, const std::string &secret,
                      int64_t timeoutMs, int64_t silenceMs);
  /// Ends the connections and all begun work of a failed start.
  static void abandonStart();

  const ProcessIdentity self;

  // The control plane. A meeting ends when all members have arrived. Then each member has the values of all, in their
  // order.
  virtual void set(const std::string &key, const std::string &value) = 0;
  virtual RefPtr<Reply> get(const std::string &key, int64_t timeoutMs) = 0;
  /// `timeoutMs` 0: as long as the members live.
  virtual RefPtr<Reply> gather(const std::string &name, const std::vector<unsigned> &members, const std::string &own,
                               int64_t timeoutMs) = 0;

  /// Gives the transport, which MPI has by now.
  virtual void setTransport(std::unique_ptr<Transport> transport) = 0;
  virtual bool hasTransport() const = 0;

  /// The next launch of the processes that own its participants; the failure of one of them, if there is one.
  virtual Result<RefPtr<SharedLaunch>> launch(std::vector<unsigned> owners, std::vector<int> deviceIds,
                                              uint64_t fingerprint, std::string what) = 0;
  /// The next launch has to wait for an earlier one: the token that is done when that one has ended. `ends` is the
  /// token of the next launch.
  virtual RefPtr<Token> turn(RefPtr<Token> ends) = 0;
  /// The failure of any process, or null.
  virtual RefPtr<Error> failure() = 0;

  /// A question of another process that waits long for this one: which line is running?
  struct Question {
    uint64_t id;
    /// Whether the launch runs here, perhaps in a callback, or the program has not reached it.
    bool isInLaunch;
  };
  /// Waits for the next one; false when this process leaves the program.
  virtual bool nextQuestion(Question &question) = 0;
  virtual void tellPlace(uint64_t id, const std::string &place) = 0;
  /// The time after which a wait in a launch is an error, 0 for never. A setting of the process, also before `begin`.
  static void setCollectiveTimeout(int64_t seconds);

  /// Tells the others that this process ends with an error.
  virtual void tellFailure(const std::string &cause, const std::string &place) = 0;
  /// This process has reached its end, and will launch no more.
  virtual void tellEnd() = 0;
  /// After the last meeting: ends the connections.
  virtual void leave() = 0;
  /// Between the last meetings: receives the remaining messages of the others, and waits until the others have received
  /// the messages of this process.
  virtual void drain() = 0;

protected:
  explicit Processes(ProcessIdentity self) : self(std::move(self)) {}
};

//===-- MPI

/// The user's MPI, loaded by name, never linked.
struct Mpi {
  /// Loads a library; its name and version. One for each process: later calls return the first one.
  static Result<std::string> open(const std::string &path);
  /// "standard ABI", "MPICH's ABI", "Open MPI's ABI".
  static const char *abi();
  /// Starts it, unless the program has: a token that is done when it has started.
  static RefPtr<Reply> start();
  /// After the start.
  static unsigned rank();
  static unsigned size();
  // All processes call these two. They wait in a separate thread, so that the caller's wait can end.
  /// The bytes of rank 0, as the field of the reply.
  static RefPtr<Reply> broadcast(std::string own);
  /// Makes a transport on a separate communicator, for `takeTransport`. If it `sharesMemory`, and MPI and the system
  /// support it, messages within a node go through shared memory.
  static RefPtr<Reply> connect(bool maySpin, bool sharesMemory);
  /// After the reply of `connect`.
  static std::unique_ptr<Transport> takeTransport();
  /// Ends MPI, if `start` started it: all processes call this.
  static void finish();
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_PROCESSES_H
