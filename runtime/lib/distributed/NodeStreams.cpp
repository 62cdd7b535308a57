// Records in the rings: heads, pieces, and the end of a message whose launch failed.
#include "distributed/NodeStreams.h"

#include <algorithm>

using namespace pcrt;

/// The bytes of a message that one record has at most, and (unless the message ends) at least.
static constexpr size_t pieceBytes = size_t(1) << 18, leastPiece = size_t(1) << 14;

struct NodeStreams::Record {
  enum Kind : uint32_t { Head, Piece, Abandoned };
  uint32_t kind, bytes;
};

NodeStreams::NodeStreams(std::unique_ptr<NodeMemory> given, size_t mostOfHead, Events &events)
    : memory(std::move(given)), head(new char[mostOfHead]), events(events), streams(memory->peers.size()) {
  for (size_t i = 0; i < streams.size(); ++i)
    streams[i].peer = &memory->peers[i];
}

size_t NodeStreams::placeOf(unsigned rank) const {
  return static_cast<size_t>(
      std::find_if(streams.begin(), streams.end(), [&](const Stream &stream) { return stream.peer->rank == rank; }) -
      streams.begin());
}

//===-- Sending
//----------------------------------------------------------------------------------------------------===//

void NodeStreams::send(unsigned to, std::string head, const void *data, size_t bytes, SharedLaunch *launch,
                       Transfer *transfer) {
  Stream &stream = streams[placeOf(to)];
  stream.queue.push_back({std::move(head), static_cast<const char *>(data), data ? bytes : 0, 0, false, false, launch,
                          RefPtr<Transfer>(transfer)});
  write(stream);
}

bool NodeStreams::write() {
  bool moved = false;
  for (Stream &stream : streams)
    moved |= write(stream);
  return moved;
}

bool NodeStreams::writeRecord(Stream &stream, uint32_t kind, const void *bytes, size_t count) {
  Ring &ring = stream.peer->outgoing;
  Record record{kind, static_cast<uint32_t>(count)};
  if (ring.lacksRoom(sizeof(record) + count))
    return false;
  ring.write(&record, sizeof(record));
  ring.write(bytes, count);
  ring.publish();
  memory->wake(*stream.peer);
  return true;
}

bool NodeStreams::write(Stream &stream) {
  bool moved = false;
  while (!stream.queue.empty()) {
    Outgoing &message = stream.queue.front();
    if (message.isAbandoned && message.hasBegun) {
      if (!writeRecord(stream, Record::Abandoned, nullptr, 0))
        return moved;
    } else if (!message.isAbandoned) {
      if (!message.hasBegun && !writeRecord(stream, Record::Head, message.head.data(), message.head.size()))
        return moved;
      message.hasBegun = true;
      while (size_t left = message.bytes - message.sent) {
        size_t room = stream.peer->outgoing.room();
        size_t count = std::min({left, pieceBytes, room > sizeof(Record) ? room - sizeof(Record) : 0});
        if (!writeRecord(stream, Record::Piece, message.data + message.sent,
                         std::max(count, std::min(left, leastPiece))))
          return moved;
        message.sent += std::max(count, std::min(left, leastPiece));
        moved = true;
      }
      if (message.transfer)
        message.transfer->arrived();
    }
    moved = true;
    stream.queue.pop_front();
  }
  return moved;
}

//===-- Receiving
//--------------------------------------------------------------------------------------------------===//

bool NodeStreams::read() {
  bool moved = false;
  for (Stream &stream : streams)
    while (readRecord(stream))
      moved = true;
  return moved;
}

bool NodeStreams::readRecord(Stream &stream) {
  Ring &ring = stream.peer->incoming;
  // Records are published whole.
  if (ring.available() < sizeof(Record))
    return false;
  Record record;
  ring.read(&record, sizeof(record));
  std::optional<Incoming> &message = stream.incoming;
  bool isOver = false, isWhole = false;
  if (record.kind == Record::Head) {
    ring.read(head.get(), record.bytes);
    message = events.headArrived(stream.peer->rank, head.get());
  } else if (record.kind == Record::Piece) {
    if (message->data)
      ring.read(message->data + message->at, record.bytes);
    else
      ring.skip(record.bytes);
    message->at += record.bytes;
    isOver = isWhole = message->at == message->bytes;
  } else {
    isOver = true;
  }
  if (ring.release())
    memory->wake(*stream.peer);
  if (isOver) {
    Incoming ended = std::move(*message);
    message.reset();
    events.ended(stream.peer->rank, ended, isWhole);
  }
  return true;
}

NodeStreams::Incoming *NodeStreams::arriving(unsigned from, const MessageKey &key) {
  size_t place = placeOf(from);
  if (place == streams.size() || !streams[place].incoming || !(streams[place].incoming->key == key))
    return nullptr;
  return &*streams[place].incoming;
}

//===-- Failed launches
//--------------------------------------------------------------------------------------------===//

void NodeStreams::abandon(Transfer &transfer) {
  for (Stream &stream : streams) {
    for (Outgoing &message : stream.queue) {
      if (message.transfer.get() != &transfer)
        continue;
      message.isAbandoned = true;
      message.data = nullptr;
      message.launch = nullptr;
      message.transfer = nullptr;
      transfer.arrived();
    }
    if (stream.incoming && stream.incoming->transfer.get() == &transfer) {
      stream.incoming->data = nullptr;
      stream.incoming->launch = nullptr;
      stream.incoming->transfer = nullptr;
      transfer.arrived();
    }
  }
}

void NodeStreams::forLaunchesWith(unsigned rank, const std::function<void(SharedLaunch &)> &visit) {
  size_t place = placeOf(rank);
  if (place == streams.size())
    return;
  for (Outgoing &message : streams[place].queue)
    if (message.launch)
      visit(*message.launch);
  if (streams[place].incoming && streams[place].incoming->launch)
    visit(*streams[place].incoming->launch);
}

bool NodeStreams::isDrained() const {
  return std::all_of(streams.begin(), streams.end(), [](const Stream &stream) { return stream.queue.empty(); });
}
