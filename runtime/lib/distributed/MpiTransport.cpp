// Heads, and their requests of MPI.
#include "distributed/MpiTransport.h"

#include <algorithm>
#include <cstring>
#include <ctime>

using namespace pcrt;

/// The bytes of a message that fit into its head, those of the text, and of all.
static constexpr size_t insideBytes = 8192, textBytes = 256, headBytes = insideBytes + textBytes + 128;
static constexpr int headTag = 1, firstDataTag = 16, dataTags = 16384;
/// MPI counts in ints.
static constexpr size_t mostBytes = size_t(1) << 30;
static constexpr size_t mostDropped = 1024;
/// The time that a failed launch waits for messages in flight.
static constexpr int64_t abandonNs = 2'000'000'000;

struct MpiTransport::Head {
  uint32_t from, isAnnouncement;
  MessageKey key;
  uint64_t fingerprint, bytes;
  int32_t tag;
  uint32_t textLength;
};

MpiTransport::MpiTransport(const MpiLibrary &mpi, MpiHandle communicator, unsigned rank, unsigned size, bool maySpin,
                           std::unique_ptr<NodeMemory> memory)
    : mpi(mpi), communicator(communicator), ownRank(rank), processCount(size), spins(maySpin),
      node(memory ? new NodeStreams(std::move(memory), headBytes, *this) : nullptr),
      hasFar(!node || node->memory->peers.size() + 1 < size), incoming(new char[headBytes]) {}

MpiTransport::~MpiTransport() = default;

void MpiTransport::check(const char *function, int code) {
  if (code == 0 || isBroken)
    return;
  isBroken = true;
  std::string why = mpi.failed(function, code).message();
  news.push_back([this, why] { events->broke(Status(Code::LibraryFailed, why)); });
}

void MpiTransport::tellNews() {
  std::vector<std::function<void()>> taken;
  {
    std::lock_guard<std::mutex> guard(lock);
    taken.swap(news);
  }
  for (const auto &tell : taken)
    if (events)
      tell();
}

//===-- Sending
//-----------------------------------------------------------------------------------------------------===//

/// A head as it travels: the text and the bytes of a small message follow it.
std::string MpiTransport::textOf(const Head &head, const std::string &what, const void *inside) {
  std::string text(reinterpret_cast<const char *>(&head), sizeof(head));
  text.append(what, 0, head.textLength);
  if (inside)
    text.append(static_cast<const char *>(inside), head.bytes);
  return text;
}

void MpiTransport::sendHead(unsigned to, const Head &head, const std::string &what, const void *inside) {
  std::string text = textOf(head, what, inside);
  std::unique_ptr<char[]> copy(new char[text.size()]);
  std::memcpy(copy.get(), text.data(), text.size());
  char *bytes = copy.get();
  begin(/*isSend=*/true, bytes, text.size(), to, headTag, nullptr, nullptr, std::move(copy));
}

void MpiTransport::begin(bool isSend, void *data, size_t bytes, unsigned peer, int tag, SharedLaunch *launch,
                         Transfer *transfer, std::unique_ptr<char[]> copy) {
  for (size_t at = 0; at < bytes && !isBroken; at += mostBytes) {
    auto count = static_cast<int>(std::min(mostBytes, bytes - at));
    bool isLast = bytes - at <= mostBytes;
    Request request{mpi.constants.nullRequest, peer, launch, nullptr, nullptr};
    char *from = static_cast<char *>(data) + at;
    auto to = static_cast<int>(peer);
    request.handle = 0;
    check(isSend ? "MPI_Isend" : "MPI_Irecv",
          isSend ? mpi.Isend(from, count, mpi.constants.byte, to, tag, communicator, &request.handle)
                 : mpi.Irecv(from, count, mpi.constants.byte, to, tag, communicator, &request.handle));
    if (isBroken)
      return;
    // Of the parts of a message, the last one is done last.
    if (isLast) {
      request.transfer = RefPtr<Transfer>(transfer);
      request.copy = std::move(copy);
    }
    requests.push_back(std::move(request));
  }
}

void MpiTransport::send(unsigned to, const SharedLaunch &launch, const MessageKey &key, const void *data, size_t bytes,
                        Transfer &transfer) {
  std::lock_guard<std::mutex> guard(lock);
  bool isInside = bytes <= insideBytes;
  Head head{ownRank, 0, key, launch.fingerprint, bytes, 0, 0};
  head.textLength = static_cast<uint32_t>(std::min(launch.told.size(), textBytes));
  if (node && node->reaches(to)) {
    node->send(to, textOf(head, launch.told, isInside ? data : nullptr), isInside ? nullptr : data, bytes,
               const_cast<SharedLaunch *>(&launch), isInside ? nullptr : &transfer);
    if (isInside)
      transfer.arrived();
    return;
  }
  if (!isInside) {
    head.tag = firstDataTag + nextTag;
    nextTag = (nextTag + 1) % dataTags;
  }
  sendHead(to, head, launch.told, isInside ? data : nullptr);
  if (isInside)
    return transfer.arrived();
  begin(/*isSend=*/true, const_cast<void *>(data), bytes, to, head.tag, const_cast<SharedLaunch *>(&launch), &transfer,
        nullptr);
}

void MpiTransport::announce(unsigned to, const SharedLaunch &launch) {
  std::lock_guard<std::mutex> guard(lock);
  Head head{ownRank, 1, {launch.processes, launch.number, 0, 0}, launch.fingerprint, 0, 0, 0};
  head.textLength = static_cast<uint32_t>(std::min(launch.told.size(), textBytes));
  if (node && node->reaches(to))
    return node->send(to, textOf(head, launch.told, nullptr), nullptr, 0, nullptr, nullptr);
  sendHead(to, head, launch.told, nullptr);
}

//===-- Receiving
//---------------------------------------------------------------------------------------------------===//

void MpiTransport::receive(unsigned from, SharedLaunch &launch, const MessageKey &key, void *data, size_t bytes,
                           Transfer &transfer) {
  std::unique_lock<std::mutex> guard(lock);
  Awaited wanted{data, bytes, &launch, RefPtr<Transfer>(&transfer)};
  auto found = early.find(nameOf(from, key));
  if (found == early.end()) {
    awaited.emplace(nameOf(from, key), std::move(wanted));
    return;
  }
  Early arrived = std::move(found->second);
  early.erase(found);
  deliver(from, key, std::move(arrived), std::move(wanted));
  guard.unlock();
  tellNews();
}

void MpiTransport::deliver(unsigned from, const MessageKey &key, Early message, Awaited wanted) {
  if (message.fingerprint != wanted.launch->fingerprint || message.bytes != wanted.bytes) {
    discard(from, key, message);
    news.push_back(
        [this, from, what = message.what, launch = RefPtr<SharedLaunch>(wanted.launch), transfer = wanted.transfer] {
          events->differs(from, *launch, what);
          transfer->arrived();
        });
    return;
  }
  if (message.tag)
    return begin(/*isSend=*/false, wanted.data, wanted.bytes, from, message.tag, wanted.launch, wanted.transfer.get(),
                 nullptr);
  NodeStreams::Incoming *arriving = node ? node->arriving(from, key) : nullptr;
  std::memcpy(wanted.data, message.data.get(), arriving ? arriving->at : message.bytes);
  if (!arriving)
    return wanted.transfer->arrived();
  arriving->data = static_cast<char *>(wanted.data);
  arriving->launch = wanted.launch;
  arriving->transfer = std::move(wanted.transfer);
}

void MpiTransport::discard(unsigned from, const MessageKey &key, const Early &message) {
  if (NodeStreams::Incoming *arriving = node ? node->arriving(from, key) : nullptr)
    arriving->data = nullptr;
  if (!message.tag)
    return;
  std::unique_ptr<char[]> scratch(new char[message.bytes]);
  char *bytes = scratch.get();
  begin(/*isSend=*/false, bytes, message.bytes, from, message.tag, nullptr, nullptr, std::move(scratch));
}

/// An announced head may still be in flight, and need this process's part in other messages: nothing waits for it in
/// MPI.
bool MpiTransport::takeHead() {
  int isThere = 0, isDone = 0;
  if (!isHeadComing) {
    check("MPI_Iprobe",
          mpi.Iprobe(mpi.constants.anySource, headTag, communicator, &isThere, mpi.constants.ignoredStatus));
    if (!isThere || isBroken)
      return false;
    check("MPI_Irecv", mpi.Irecv(incoming.get(), static_cast<int>(headBytes), mpi.constants.byte,
                                 mpi.constants.anySource, headTag, communicator, &headRequest));
    isHeadComing = !isBroken;
  }
  if (isHeadComing)
    check("MPI_Test", mpi.Test(&headRequest, &isDone, mpi.constants.ignoredStatus));
  if (!isDone || isBroken)
    return false;
  isHeadComing = false;
  Head head;
  std::memcpy(&head, incoming.get(), sizeof(head));
  headArrived(head.from, incoming.get());
  return true;
}

/// Of a message in a ring whose bytes follow, the result is where they belong; MPI has them behind the tag.
std::optional<NodeStreams::Incoming> MpiTransport::headArrived(unsigned from, const char *bytes) {
  Head head;
  std::memcpy(&head, bytes, sizeof(head));
  const char *text = bytes + sizeof(head), *inside = text + head.textLength;
  Early message{head.fingerprint, head.bytes, head.tag, nullptr, std::string(text, head.textLength)};
  if (head.isAnnouncement) {
    news.push_back([this, head, what = message.what] {
      events->announced(head.from, head.key.processes, head.key.launch, head.fingerprint, what);
    });
    return std::nullopt;
  }
  const bool isInside = head.bytes <= insideBytes, isStream = !isInside && !head.tag;
  std::optional<NodeStreams::Incoming> stream;
  if (isStream)
    stream = NodeStreams::Incoming{head.key, nullptr, head.bytes, 0, nullptr, nullptr};
  if (isDropped(head.key.processes, head.key.launch)) {
    discard(from, head.key, message);
    return stream;
  }
  auto found = awaited.find(nameOf(from, head.key));
  if (found == awaited.end()) {
    if (!head.tag)
      message.data.reset(new char[std::max<size_t>(head.bytes, 1)]);
    if (isInside)
      std::memcpy(message.data.get(), inside, head.bytes);
    if (stream)
      stream->data = message.data.get();
    early.emplace(nameOf(from, head.key), std::move(message));
    return stream;
  }
  Awaited wanted = std::move(found->second);
  awaited.erase(found);
  if (head.bytes != wanted.bytes || head.fingerprint != wanted.launch->fingerprint || head.tag) {
    deliver(from, head.key, std::move(message), std::move(wanted));
  } else if (isInside) {
    std::memcpy(wanted.data, inside, head.bytes);
    wanted.transfer->arrived();
  } else {
    stream->data = static_cast<char *>(wanted.data);
    stream->launch = wanted.launch;
    stream->transfer = std::move(wanted.transfer);
  }
  return stream;
}

void MpiTransport::ended(unsigned from, NodeStreams::Incoming &message, bool isWhole) {
  if (isWhole && message.transfer)
    return message.transfer->arrived();
  if (isWhole)
    return;
  // The other side aborted. Waiting threads get the reason from the control plane.
  if (message.transfer)
    awaited.emplace(nameOf(from, message.key),
                    Awaited{message.data, message.bytes, message.launch, std::move(message.transfer)});
  else
    early.erase(nameOf(from, message.key));
}

bool MpiTransport::testRequests() {
  bool moved = false;
  for (auto each = requests.begin(); each != requests.end() && !isBroken;) {
    int isDone = 0;
    check("MPI_Test", mpi.Test(&each->handle, &isDone, mpi.constants.ignoredStatus));
    if (!isDone || isBroken) {
      ++each;
      continue;
    }
    moved = true;
    if (each->transfer)
      each->transfer->arrived();
    each = requests.erase(each);
  }
  return moved;
}

bool MpiTransport::progress() {
  std::unique_lock<std::mutex> guard(lock, std::try_to_lock);
  if (!guard || isBroken)
    return false;
  bool moved = false;
  if (hasFar) {
    while (takeHead())
      moved = true;
    moved |= testRequests();
  }
  if (node) {
    moved |= node->read();
    moved |= node->write();
    // Another thread of this process may wait for the moved bytes.
    if (moved)
      node->memory->wakeOwn();
  }
  bool hasNews = !news.empty();
  guard.unlock();
  if (hasNews)
    tellNews();
  return moved;
}

uint32_t MpiTransport::changes() const { return node ? node->memory->changes() : 0; }

void MpiTransport::waitForChange(uint32_t seen, int64_t ns) {
  if (node)
    return node->memory->waitForChange(seen, ns);
  Transport::waitForChange(seen, ns);
}

//===-- Failed launches
//---------------------------------------------------------------------------------------------===//

bool MpiTransport::isDropped(uint64_t processes, uint64_t number) const {
  return std::find(dropped.begin(), dropped.end(), std::make_pair(processes, number)) != dropped.end();
}

void MpiTransport::drop(uint64_t processes, uint64_t number) {
  std::lock_guard<std::mutex> guard(lock);
  if (isDropped(processes, number))
    return;
  dropped.emplace_back(processes, number);
  if (dropped.size() > mostDropped)
    dropped.pop_front();
  for (auto each = early.begin(); each != early.end();) {
    if (std::get<1>(each->first) != processes || std::get<2>(each->first) != number) {
      ++each;
      continue;
    }
    discard(std::get<0>(each->first), keyOf(each->first), each->second);
    each = early.erase(each);
  }
}

void MpiTransport::abandon(SharedLaunch &launch, Transfer &transfer) {
  drop(launch.processes, launch.number);
  {
    std::lock_guard<std::mutex> guard(lock);
    for (auto each = awaited.begin(); each != awaited.end();) {
      bool isOurs = each->second.transfer.get() == &transfer;
      if (isOurs)
        transfer.arrived();
      each = isOurs ? awaited.erase(each) : std::next(each);
    }
    if (node)
      node->abandon(transfer);
  }
  for (int64_t end = nowNs() + abandonNs; !transfer.isDone() && nowNs() < end;) {
    if (progress())
      continue;
    timespec moment{0, 100'000};
    nanosleep(&moment, nullptr);
  }
  // The remaining messages are with a process that has ended, which no longer reads or writes the memory.
  std::lock_guard<std::mutex> guard(lock);
  for (Request &each : requests)
    if (each.launch == &launch)
      each.launch = nullptr;
}

void MpiTransport::failThoseWithout(unsigned rank,
                                    const std::function<RefPtr<Error>(const SharedLaunch &launch)> &why) {
  std::lock_guard<std::mutex> guard(lock);
  for (auto &[name, each] : awaited)
    if (std::get<0>(name) == rank)
      each.launch->fail(why(*each.launch));
  for (Request &each : requests)
    if (each.peer == rank && each.launch)
      each.launch->fail(why(*each.launch));
  if (node)
    node->forLaunchesWith(rank, [&](SharedLaunch &launch) { launch.fail(why(launch)); });
}

//===-- The end
//----------------------------------------------------------------------------------------------------===//

bool MpiTransport::isDrained() {
  std::lock_guard<std::mutex> guard(lock);
  return isBroken || (requests.empty() && !isHeadComing && (!node || node->isDrained()));
}

void MpiTransport::finish() {
  std::lock_guard<std::mutex> guard(lock);
  if (!isBroken && requests.empty() && !isHeadComing)
    mpi.Comm_free(&communicator);
  isBroken = true;
}
