// Memory that the processes of one node share, laid out as rings of bytes: each process has a segment with a ring from
// every other process, and a word to sleep at. Before: the OS. After: NodeStreams.
#ifndef PYCOMPILER_RUNTIME_LIB_NODEMEMORY_H
#define PYCOMPILER_RUNTIME_LIB_NODEMEMORY_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pcrt {

/// Bytes from one process to another. One thread at a time writes, and one reads, under the locks of their processes.
/// The reader sees written bytes once they are published.
class Ring {
public:
  struct Header {
    alignas(64) std::atomic<uint64_t> published;
    alignas(64) std::atomic<uint64_t> released;
    /// Set by a writer that waits for room.
    alignas(64) std::atomic<uint32_t> wantsRoom;
  };

  Ring() = default;
  Ring(Header *header, char *bytes, size_t capacity) : header(header), bytes(bytes), capacity(capacity) {}

  // The writer.
  size_t room() const { return capacity - (written - header->released.load()); }
  void write(const void *from, size_t count);
  void publish() { header->published.store(written); }
  /// Whether there is less room than this. If so, the reader wakes the writer when it has made room.
  bool lacksRoom(size_t count);

  // The reader.
  size_t available() const { return header->published.load() - taken; }
  void read(void *to, size_t count);
  void skip(size_t count) { taken += count; }
  /// Frees the room of the read bytes; whether the writer waits for it.
  bool release();

private:
  Header *header = nullptr;
  char *bytes = nullptr;
  size_t capacity = 0;
  /// The writer's and the reader's positions: only one process changes each.
  uint64_t written = 0, taken = 0;
};

/// The segments of all processes of a node, seen by one of them.
class NodeMemory {
public:
  struct Peer {
    unsigned rank;
    Ring incoming, outgoing;
    size_t place;
  };

  /// The bytes of a segment, for a node of this many processes.
  static size_t segmentBytes(size_t count);
  /// Before any other process uses it.
  static void clear(char *segment, size_t count);

  /// `ranks` and `segments` are those of all processes of the node; this process has number `own` among them.
  NodeMemory(size_t own, const std::vector<unsigned> &ranks, std::vector<char *> segments);

  /// A number that changes after another process has written to this one, or made room for it.
  uint32_t changes() const;
  /// Sleeps until the number is no longer `seen`, or for this time.
  void waitForChange(uint32_t seen, int64_t ns);
  void wake(const Peer &peer) { wakeAt(peer.place); }
  /// Wakes the threads of this process.
  void wakeOwn() { wakeAt(ownPlace); }

  std::vector<Peer> peers;

private:
  struct Bell;
  Bell &bellOf(size_t place) const;
  void wakeAt(size_t place);

  const size_t ownPlace;
  const std::vector<char *> segments;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_NODEMEMORY_H
