// NCCL on emulated devices, also of several processes: sends and receives of a group as work on a stream, by sockets of
// the machine. It refuses calls that the real library refuses. A group waits on its stream for the other side, as the
// real one's kernels do, and ends without it only by ncclCommAbort.
#include "EmulatedLibrary.h"

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <poll.h>
#include <random>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace emulator;

extern "C" {
#define PCRT_LIBRARY(result, name, parameters) PCRT_EXPORTED result name parameters;
#include "gpulibraries/NcclFunctions.def"
CUresult cuCtxGetCurrent(CUcontext *context);
CUresult cuCtxSetCurrent(CUcontext context);
}

/// Of each thread, and never destroyed: the memory of a thread's variables in a library is freed by the loader, which
/// ThreadSanitizer doesn't see. All are kept in one place, where LeakSanitizer finds those of threads that have ended.
template <typename T> static T &ofThread() {
  static thread_local T *own = nullptr;
  if (!own) {
    static std::mutex lock;
    static auto *all = new std::vector<std::unique_ptr<T>>();
    std::lock_guard<std::mutex> guard(lock);
    own = all->emplace_back(std::make_unique<T>()).get();
  }
  return *own;
}

static std::string &lastError() { return ofThread<std::string>(); }

static ncclResult_t refuse(ncclResult_t result, const std::string &why) {
  lastError() = why;
  return result;
}

//===-- Connections
//-------------------------------------------------------------------------------------------------===//

struct ncclComm {
  int rank = 0, ranks = 0;
  CUcontext context = nullptr;
  std::string name, bus;
  /// To and from each other rank.
  std::vector<int> outgoing, incoming;
  std::atomic<ncclResult_t> state{ncclInProgress};
  std::atomic<bool> isAborted{false};
};

static sockaddr_un addressOfRank(const ncclComm &comm, int rank, socklen_t &length) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // An abstract name: nothing is left in the file system.
  int written =
      std::snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "emulated-nccl-%s-%d", comm.name.c_str(), rank);
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(written));
  return address;
}

/// Moves bytes through a socket, until they are through or the communicator is aborted.
static bool move(ncclComm &comm, int socket, void *bytes, size_t count, bool sends) {
  auto *at = static_cast<char *>(bytes);
  while (count > 0 && !comm.isAborted.load()) {
    ssize_t moved =
        sends ? send(socket, at, count, MSG_NOSIGNAL | MSG_DONTWAIT) : recv(socket, at, count, MSG_DONTWAIT);
    if (moved > 0) {
      at += moved;
      count -= static_cast<size_t>(moved);
      continue;
    }
    // Also if the other side is gone: the real one waits for an abort.
    pollfd wait = {socket, static_cast<short>(sends ? POLLOUT : POLLIN), 0};
    bool isGone = moved == 0 || (errno != EAGAIN && errno != EINTR);
    if (isGone)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    else
      poll(&wait, 1, 5);
  }
  return count == 0;
}

namespace {
struct Hello {
  int rank;
  char bus[32];
};
} // namespace

static void connectAll(ncclComm &comm, int listener) {
  Hello own = {comm.rank, ""};
  comm.bus.copy(own.bus, sizeof(own.bus) - 1);
  for (int other = 0; other < comm.ranks; ++other) {
    if (other == comm.rank)
      continue;
    socklen_t length = 0;
    sockaddr_un address = addressOfRank(comm, other, length);
    int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    while (!comm.isAborted.load() && connect(socket, reinterpret_cast<sockaddr *>(&address), length) != 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    move(comm, socket, &own, sizeof(own), /*sends=*/true);
    comm.outgoing[static_cast<size_t>(other)] = socket;
  }
  ncclResult_t found = ncclSuccess;
  for (int i = 1; i < comm.ranks && !comm.isAborted.load();) {
    pollfd wait = {listener, POLLIN, 0};
    if (poll(&wait, 1, 5) <= 0)
      continue;
    int socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    Hello other = {};
    if (socket < 0 || !move(comm, socket, &other, sizeof(other), /*sends=*/false))
      continue;
    comm.incoming[static_cast<size_t>(other.rank)] = socket;
    if (comm.bus == other.bus)
      found = ncclInvalidUsage; // "Duplicate GPU detected"
    ++i;
  }
  close(listener);
  comm.state.store(comm.isAborted.load() ? ncclInternalError : found);
}

//===-- Groups
//------------------------------------------------------------------------------------------------------===//

namespace {
struct Transfer {
  ncclComm *comm;
  CUstream stream;
  CUcontext context;
  bool sends;
  int peer;
  void *bytes;
  size_t count;
};
} // namespace

static thread_local int depth = 0;
static std::vector<Transfer> &group() { return ofThread<std::vector<Transfer>>(); }

/// The transfers of one communicator: all at the same time.
static void perform(const std::vector<Transfer> &transfers) {
  std::vector<std::thread> threads;
  for (const Transfer &each : transfers)
    threads.emplace_back([each] {
      int socket = (each.sends ? each.comm->outgoing : each.comm->incoming)[static_cast<size_t>(each.peer)];
      move(*each.comm, socket, each.bytes, each.count, each.sends);
    });
  for (std::thread &thread : threads)
    thread.join();
}

static ncclResult_t add(Transfer transfer, ncclDataType_t type) {
  if (int asked = takeFailure())
    return refuse(static_cast<ncclResult_t>(asked), "asked for by a test");
  ncclComm *comm = transfer.comm;
  if (!comm || comm->state.load() != ncclSuccess || type != ncclInt8)
    return refuse(ncclInvalidArgument, "a communicator that is not ready, or an unknown type");
  if (transfer.peer < 0 || transfer.peer >= comm->ranks || transfer.peer == comm->rank)
    return refuse(ncclInvalidArgument, "the emulation sends to other ranks only");
  cuCtxGetCurrent(&transfer.context);
  if (transfer.context != comm->context)
    return refuse(ncclInvalidUsage, "the current device is not the communicator's");
  if (depth == 0)
    return refuse(ncclInvalidUsage, "the emulation takes transfers in groups only");
  if (!emulatorHolds(transfer.bytes, transfer.count))
    return refuse(ncclInvalidArgument, "bytes beyond one block of the device's memory");
  group().push_back(transfer);
  return ncclSuccess;
}

extern "C" {

ncclResult_t ncclGetVersion(int *version) {
  *version = 22703;
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
  static const char *const texts[] = {"no error",
                                      "unhandled cuda error",
                                      "unhandled system error",
                                      "internal error",
                                      "invalid argument",
                                      "invalid usage",
                                      "remote process exited or there was a network error",
                                      "NCCL operation in progress"};
  return result >= 0 && result <= ncclInProgress ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t) { return lastError().c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  std::random_device random;
  std::memset(id, 0, sizeof(*id));
  std::snprintf(id->internal, sizeof(id->internal), "%d-%08x%08x", getpid(), random(), random());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *communicator, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t *config) {
  if (config->magic != static_cast<unsigned>(NCCL_API_MAGIC) || config->size < sizeof(ncclConfig_t) ||
      config->blocking != 0)
    return refuse(ncclInvalidArgument, "the configuration was not initialized, or blocks");
  if (rank < 0 || rank >= ranks)
    return refuse(ncclInvalidArgument, "a rank beyond the number of ranks");
  auto *made = new ncclComm();
  made->rank = rank;
  made->ranks = ranks;
  made->name = id.internal;
  cuCtxGetCurrent(&made->context);
  char bus[32] = "";
  emulatorBus(bus, sizeof(bus));
  made->bus = bus;
  made->outgoing.assign(static_cast<size_t>(ranks), -1);
  made->incoming.assign(static_cast<size_t>(ranks), -1);
  socklen_t length = 0;
  sockaddr_un address = addressOfRank(*made, rank, length);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, reinterpret_cast<sockaddr *>(&address), length) != 0 || listen(listener, ranks) != 0) {
    close(listener);
    delete made;
    return refuse(ncclInvalidUsage, "two ranks of one number");
  }
  std::thread([made, listener] { connectAll(*made, listener); }).detach();
  *communicator = made;
  return depth > 0 ? ncclSuccess : ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t *state) {
  *state = communicator->state.load();
  return ncclSuccess;
}

/// The communicator's memory stays: work on streams may still look at it.
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  communicator->isAborted.store(true);
  return ncclSuccess;
}

ncclResult_t ncclGroupStart(void) {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void) {
  if (--depth > 0)
    return ncclSuccess;
  std::vector<Transfer> all;
  all.swap(group());
  CUcontext before = nullptr;
  cuCtxGetCurrent(&before);
  bool isAccepted = true;
  while (!all.empty()) {
    std::vector<Transfer> own, rest;
    for (const Transfer &each : all)
      (each.comm == all[0].comm ? own : rest).push_back(each);
    cuCtxSetCurrent(own[0].context);
    isAccepted &= enqueue(own[0].stream, [own] { perform(own); });
    all.swap(rest);
  }
  cuCtxSetCurrent(before);
  return isAccepted ? ncclSuccess : refuse(ncclUnhandledCudaError, "the driver refused the work");
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      CUstream stream) {
  return add({communicator, stream, nullptr, true, peer, const_cast<void *>(from), count}, type);
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t communicator, CUstream stream) {
  return add({communicator, stream, nullptr, false, peer, to, count}, type);
}
}
