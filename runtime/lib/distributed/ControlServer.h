// The control plane's server, in process 0: values by name, meetings of processes, and the news of failures. One thread
// serves all connections. After Frames; Processes starts it.
#ifndef PYCOMPILER_RUNTIME_LIB_CONTROLSERVER_H
#define PYCOMPILER_RUNTIME_LIB_CONTROLSERVER_H

#include "distributed/Frames.h"
#include "runtime/Futex.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <thread>

namespace pcrt {

/// A wait of this time is told on stderr (Waits.cpp).
int64_t toldAfterNs();

class ControlServer {
  static constexpr unsigned nobody = ~0u;

public:
  /// For `size` processes that show the secret. A process that is silent for `silenceMs` has failed.
  ControlServer(int listener, unsigned size, std::string secret, int64_t silenceMs);
  /// Ends the thread and closes all connections.
  ~ControlServer();
  ControlServer(const ControlServer &) = delete;

  /// The number of processes that are connected.
  unsigned connected() const { return joined.load(); }

private:
  struct Connection {
    int socket;
    unsigned rank = nobody;
    FrameReader reader;
    int64_t lastHeard = nowNs();
    bool isClosed = false;
  };

  /// A request that is answered later.
  struct Waiting {
    unsigned rank;
    uint64_t number;
    int64_t deadline;
  };

  struct Meeting {
    std::vector<unsigned> members;
    std::map<unsigned, std::string> given;
    std::vector<Waiting> waiting;
    uint64_t number = 0;
    int64_t since = nowNs();
    bool isTold = false;
  };

  void serve();
  void accept();
  void read(Connection &connection);
  void handle(Connection &connection, Frame &frame);
  void greet(Connection &connection, Frame &frame);
  void gather(Connection &connection, Frame &frame);
  void atEnd(unsigned rank);
  void closed(Connection &connection);
  void fail(unsigned rank, const std::string &cause, const std::string &place);
  void send(Connection &connection, const Frame &frame);
  void answer(unsigned rank, uint64_t number, std::vector<std::string> fields);
  void refuse(unsigned rank, uint64_t number, std::string message);
  void refuseWithout(unsigned rank, uint64_t number, const std::string &name, unsigned missing);
  bool willNotCome(unsigned rank, const std::string &name);
  void refuseMeetingsWithout(unsigned rank);
  void broadcast(const Frame &frame, unsigned except);
  void checkTimes();
  void checkMeetings(int64_t now);
  void failMeetingsOf(unsigned rank);
  void tellOfLong(const std::string &name, Meeting &meeting, int64_t now);
  void tellWhereLate(unsigned rank, const Frame &frame);
  std::string nameOf(unsigned rank) const;
  Connection *of(unsigned rank);

  const int listener;
  const unsigned size;
  const std::string secret;
  const int64_t silenceNs;
  std::string ownHost;
  int wakeUp[2] = {-1, -1};
  std::vector<std::unique_ptr<Connection>> connections;
  /// The state of each process: whether it failed (with the cause), reached its end, or left.
  struct Process {
    std::string host, cause;
    /// `end` counts the processes that reached their end: the first one is the reason for others.
    uint64_t pid = 0, end = 0;
    bool hasJoined = false, hasFailed = false, isAtEnd = false, hasLeft = false;
  };
  std::vector<Process> processes;
  std::map<std::string, std::string> values;
  std::map<std::string, std::vector<Waiting>> readers;
  std::map<std::string, Meeting> meetings;
  uint64_t lastMeeting = 0, lastEnd = 0;
  /// The meetings that ended with some missing, who are told so when they come.
  std::map<std::string, std::set<unsigned>> over;
  std::atomic<unsigned> joined{0};
  std::atomic<bool> isStopped{false};
  std::thread thread;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_CONTROLSERVER_H
