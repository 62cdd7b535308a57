// The one object of Processes: the control plane's connection, the transport, and the launches in flight.
//
// Launches never wait for each other in a cycle. The launching threads of a process give its launches over processes an
// order, that of its program. A launch starts when the one `channels` positions before it has ended in this process,
// and its inputs are ready, which earlier launches compute. All processes launch in an order that agrees with one order
// of the whole program (a fingerprint is compared where they do not). Of the launches that have not ended anywhere,
// take the first one in that order: in each of its processes, everything before it has ended, so it starts; its waits
// are for messages of itself alone; a thread that waits takes no place in the pool. So it ends.
#ifndef PYCOMPILER_RUNTIME_LIB_WORLD_H
#define PYCOMPILER_RUNTIME_LIB_WORLD_H

#include "distributed/ControlClient.h"
#include "distributed/ControlServer.h"
#include "distributed/PmiServer.h"
#include "runtime/Processes.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <optional>
#include <set>

namespace pcrt {

std::string nameOf(const PeerFailure &failure);

class World final : public Processes, public ControlEvents, public Transport::Events {
public:
  World(ProcessIdentity self, int socket, int64_t silenceMs);
  ~World() override;

  Status greet(const std::string &secret, int64_t deadline);

  void set(const std::string &key, const std::string &value) override;
  RefPtr<Reply> get(const std::string &key, int64_t timeoutMs) override;
  RefPtr<Reply> gather(const std::string &name, const std::vector<unsigned> &members, const std::string &own,
                       int64_t timeoutMs) override;
  void setTransport(std::unique_ptr<Transport> transport) override;
  bool hasTransport() const override { return transport != nullptr; }
  Result<RefPtr<SharedLaunch>> launch(std::vector<unsigned> owners, std::vector<int> deviceIds, uint64_t fingerprint,
                                      std::string what) override;
  RefPtr<Token> turn(RefPtr<Token> ends) override;
  RefPtr<Error> failure() override;
  bool nextQuestion(Question &question) override;
  void tellPlace(uint64_t id, const std::string &place) override;
  void tellFailure(const std::string &cause, const std::string &place) override;
  void tellEnd() override;
  void leave() override;
  void drain() override;

  void peerFailed(const PeerFailure &failure) override;
  void peerAtEnd(const PeerFailure &peer) override;
  void launchFailed(const PeerFailure &failure, uint64_t processes, uint64_t number) override;
  void asked(unsigned from, uint64_t processes, uint64_t number, const std::string &members) override;
  void peerLate(const PeerFailure &peer, uint64_t processes, uint64_t number) override;
  void announced(unsigned from, uint64_t processes, uint64_t number, uint64_t fingerprint,
                 const std::string &what) override;
  void differs(unsigned from, SharedLaunch &launch, const std::string &what) override;
  void broke(const Status &status) override;

private:
  class Launch;
  using Number = std::pair<uint64_t, uint64_t>;
  /// The program of a launch, here or in another process.
  struct Program {
    unsigned rank;
    uint64_t fingerprint;
    std::string told;
  };

  void poll();
  void watchWaits();
  void answerForPython();
  void failAll(RefPtr<Error> error);
  void ended(Launch &launch);
  void remember(Number number, Program program, std::deque<std::pair<Number, Program>> &list);
  std::string mismatch(uint64_t number, Program first, Program second) const;

  ControlClient client;
  std::unique_ptr<Transport> transport;

  std::mutex lock;
  RefPtr<Error> failed;
  int64_t failedAt = 0;
  bool toldFailure = false, hasLeft = false;
  std::map<uint64_t, uint64_t> lastNumbers;
  /// Of launches with other processes, and of their announcements, of which each launch brings one.
  uint64_t launchCount = 0, announcementCount = 0;
  std::map<Number, SharedLaunch *> active;
  /// The last launches of this process, those that others announced before, and those that failed elsewhere before.
  std::deque<std::pair<Number, Program>> launched, announcedBefore;
  std::deque<std::pair<Number, RefPtr<Error>>> failedBefore;
  /// The processes that have reached their end, and when.
  std::map<unsigned, std::pair<PeerFailure, int64_t>> ends;
  std::deque<RefPtr<Token>> channels;

  // Waits.cpp. A wait of this process that was asked about, and the first process that answered that it is late.
  struct LongWait {
    int64_t since;
    std::optional<PeerFailure> late;
  };
  /// A question of another process, until Python answers.
  struct Asked {
    uint64_t id;
    unsigned from;
    Number number;
    std::string state;
    bool isInLaunch, isTaken;
    int64_t at;
  };
  std::map<Number, LongWait> longWaits;
  std::deque<Asked> questions;
  uint64_t lastQuestion = 0;
  std::condition_variable questionCame;

  std::atomic<bool> isStopped{false};
  std::thread poller;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_WORLD_H
