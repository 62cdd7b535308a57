// Messages in the rings of a node. A message is a head, and then, if it is large, its bytes in pieces. So a ring of
// some pieces is enough for any message, and its bytes stay in the caches of the two cores. Data that can't be written
// now waits in a queue, for `write`. After NodeMemory; MpiTransport matches heads with awaited messages.
#ifndef PYCOMPILER_RUNTIME_LIB_NODESTREAMS_H
#define PYCOMPILER_RUNTIME_LIB_NODESTREAMS_H

#include "distributed/NodeMemory.h"
#include "runtime/Transport.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace pcrt {

class NodeStreams {
public:
  /// The bytes of a message in flight to this process: `data` is their destination, null if there is no receiver.
  struct Incoming {
    MessageKey key;
    char *data = nullptr;
    size_t bytes = 0, at = 0;
    SharedLaunch *launch = nullptr;
    RefPtr<Transfer> transfer;
  };
  struct Events {
    virtual ~Events() = default;
    /// A head has arrived. If bytes follow it, the result is their destination.
    virtual std::optional<Incoming> headArrived(unsigned from, const char *head) = 0;
    /// The message has ended: whether all its bytes arrived, or its sender aborted.
    virtual void ended(unsigned from, Incoming &message, bool isWhole) = 0;
  };

  NodeStreams(std::unique_ptr<NodeMemory> memory, size_t mostOfHead, Events &events);

  bool reaches(unsigned rank) const { return placeOf(rank) < streams.size(); }
  /// `data` must not change until the transfer is done; both are null for a head without bytes.
  void send(unsigned to, std::string head, const void *data, size_t bytes, SharedLaunch *launch, Transfer *transfer);
  /// Both: whether any bytes moved.
  bool write();
  bool read();
  /// The bytes of this message in flight to this process; null if there are none.
  Incoming *arriving(unsigned from, const MessageKey &key);
  /// No longer uses the memory of a transfer's messages, which then have arrived for it.
  void abandon(Transfer &transfer);
  /// The launches of all messages from, or to, a process.
  void forLaunchesWith(unsigned rank, const std::function<void(SharedLaunch &)> &visit);
  bool isDrained() const;

  const std::unique_ptr<NodeMemory> memory;

private:
  struct Outgoing {
    std::string head;
    const char *data;
    size_t bytes, sent;
    bool hasBegun, isAbandoned;
    SharedLaunch *launch;
    RefPtr<Transfer> transfer;
  };
  struct Stream {
    NodeMemory::Peer *peer;
    std::deque<Outgoing> queue;
    std::optional<Incoming> incoming;
  };
  struct Record;

  size_t placeOf(unsigned rank) const;
  bool write(Stream &stream);
  bool writeRecord(Stream &stream, uint32_t kind, const void *bytes, size_t count);
  bool readRecord(Stream &stream);

  const std::unique_ptr<char[]> head;
  Events &events;
  std::vector<Stream> streams;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_NODESTREAMS_H
