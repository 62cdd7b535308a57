// A transport on MPI. Each message has a head, which goes first, with its key; a receiver matches heads with the
// receives that it has begun. Small messages are in their heads. For a large one, the receiver begins a receive in the
// place where the bytes belong.
//
// So MPI matches only by source and one tag, which the receiver gets from a head. Messages of launches that failed are
// recognised by their heads, received and dropped: they take nothing from later launches.
//
// Between processes of one node that share memory, heads and bytes go through rings (NodeStreams), without MPI. The
// bytes of a large message follow its head in the ring. Until its receive has begun, they are kept here.
//
// One thread at a time is inside of MPI and the rings (`lock`), and no call there waits. Before: MpiLibrary,
// NodeStreams. After: Processes.
#ifndef PYCOMPILER_RUNTIME_LIB_MPITRANSPORT_H
#define PYCOMPILER_RUNTIME_LIB_MPITRANSPORT_H

#include "distributed/MpiLibrary.h"
#include "distributed/NodeStreams.h"
#include "runtime/Transport.h"

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <tuple>

namespace pcrt {

class MpiTransport final : public Transport, private NodeStreams::Events {
public:
  /// On a communicator that it owns. `node` is the memory that it shares with other processes, null if it has none.
  MpiTransport(const MpiLibrary &mpi, MpiHandle communicator, unsigned rank, unsigned size, bool maySpin,
               std::unique_ptr<NodeMemory> node = nullptr);
  ~MpiTransport() override;

  unsigned rank() const override { return ownRank; }
  unsigned size() const override { return processCount; }
  bool maySpin() const override { return spins; }
  void send(unsigned to, const SharedLaunch &launch, const MessageKey &key, const void *data, size_t bytes,
            Transfer &transfer) override;
  void receive(unsigned from, SharedLaunch &launch, const MessageKey &key, void *data, size_t bytes,
               Transfer &transfer) override;
  bool progress() override;
  uint32_t changes() const override;
  void waitForChange(uint32_t seen, int64_t ns) override;
  bool tellsChanges() const override { return node && !hasFar; }
  void abandon(SharedLaunch &launch, Transfer &transfer) override;
  void announce(unsigned to, const SharedLaunch &launch) override;
  void drop(uint64_t processes, uint64_t number) override;
  void failThoseWithout(unsigned rank, const std::function<RefPtr<Error>(const SharedLaunch &launch)> &why) override;
  bool isDrained() override;
  void finish() override;

private:
  struct Head;
  /// The received parts of a message: its head, and its bytes unless they are still to be received from MPI (by the
  /// tag). The last bytes of a message in a ring may be in flight.
  struct Early {
    uint64_t fingerprint;
    size_t bytes;
    int tag;
    std::unique_ptr<char[]> data;
    std::string what;
  };
  struct Awaited {
    void *data;
    size_t bytes;
    SharedLaunch *launch;
    RefPtr<Transfer> transfer;
  };
  /// A request of MPI, with the objects that must live as long.
  struct Request {
    MpiHandle handle;
    unsigned peer;
    SharedLaunch *launch;
    RefPtr<Transfer> transfer;
    std::unique_ptr<char[]> copy;
  };
  using Name = std::tuple<unsigned, uint64_t, uint64_t, uint64_t, uint64_t>;
  static MessageKey keyOf(const Name &name) {
    return {std::get<1>(name), std::get<2>(name), std::get<3>(name), std::get<4>(name)};
  }
  static Name nameOf(unsigned from, const MessageKey &key) {
    return {from, key.processes, key.launch, key.group, key.step};
  }

  static std::string textOf(const Head &head, const std::string &what, const void *inside);
  void sendHead(unsigned to, const Head &head, const std::string &what, const void *inside);
  void begin(bool isSend, void *data, size_t bytes, unsigned peer, int tag, SharedLaunch *launch, Transfer *transfer,
             std::unique_ptr<char[]> copy);
  std::optional<NodeStreams::Incoming> headArrived(unsigned from, const char *bytes) override;
  void ended(unsigned from, NodeStreams::Incoming &message, bool isWhole) override;
  void deliver(unsigned from, const MessageKey &key, Early early, Awaited awaited);
  void discard(unsigned from, const MessageKey &key, const Early &early);
  bool takeHead();
  bool testRequests();
  bool isDropped(uint64_t processes, uint64_t number) const;
  void check(const char *function, int code);
  void tellNews();

  const MpiLibrary &mpi;
  MpiHandle communicator;
  const unsigned ownRank, processCount;
  const bool spins;
  std::unique_ptr<NodeStreams> node;
  /// Whether MPI carries messages: a process shares no memory with this one.
  const bool hasFar;
  std::mutex lock;
  std::map<Name, Early> early;
  std::map<Name, Awaited> awaited;
  std::list<Request> requests;
  /// The last failed launches.
  std::deque<std::pair<uint64_t, uint64_t>> dropped;
  std::unique_ptr<char[]> incoming;
  /// The receive of a head into `incoming`, while there is one.
  MpiHandle headRequest = 0;
  bool isHeadComing = false;
  /// The notifications for `events`, to be sent once the lock is free.
  std::vector<std::function<void()>> news;
  int nextTag = 0;
  bool isBroken = false;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_MPITRANSPORT_H
