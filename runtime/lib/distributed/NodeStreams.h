// Messages in the rings of a node. A message is a head, and then, if it is large, its bytes in pieces: so a ring of
// some pieces is enough for any message, and its bytes stay in the caches of the two cores. What can't be written now
// waits in a queue, for `write`. After NodeMemory; MpiTransport matches heads with what is awaited.
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
  /// The bytes of a message that is on its way here: `data` is where they belong, null if nobody wants them.
  struct Incoming {
    MessageKey key;
    char *data = nullptr;
    size_t bytes = 0, at = 0;
    SharedLaunch *launch = nullptr;
    RefPtr<Transfer> transfer;
  };
  struct Events {
    virtual ~Events() = default;
    /// A head has come. If bytes are to follow it, the result says where they belong.
    virtual std::optional<Incoming> headArrived(unsigned from, const char *head) = 0;
    /// The message has ended: whether all its bytes came, or its sender gave up.
    virtual void ended(unsigned from, Incoming &message, bool isWhole) = 0;
  };

  NodeStreams(std::unique_ptr<NodeMemory> memory, size_t mostOfHead, Events &events);

  bool reaches(unsigned rank) const { return placeOf(rank) < streams.size(); }
  /// `data` must stay as it is until the transfer is done; both null for a head alone.
  void send(unsigned to, std::string head, const void *data, size_t bytes, SharedLaunch *launch, Transfer *transfer);
  /// Both: whether anything moved.
  bool write();
  bool read();
  /// The bytes of this message that are on their way here; null if there are none.
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
