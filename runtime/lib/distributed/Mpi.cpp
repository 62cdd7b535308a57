// The start and the end of MPI in this process.
#include "distributed/MpiLibrary.h"
#include "distributed/MpiTransport.h"
#include "distributed/NodeMemory.h"
#include "runtime/Processes.h"

#include <csignal>
#include <functional>
#include <sys/statvfs.h>
#include <thread>
#include <vector>

using namespace pcrt;

/// Whether MPI was started here, and must be ended here; other starters end it themselves.
static std::atomic<bool> isOurs{false};

Result<std::string> Mpi::open(const std::string &path) {
  Result<MpiLibrary *> library = MpiLibrary::open(path);
  return library.isOk() ? Result<std::string>(library.value()->version)
                        : Result<std::string>(Status(library.status().code(), library.status().message()));
}

const char *Mpi::abi() {
  MpiLibrary *library = MpiLibrary::loaded();
  return library ? library->constants.abi : "";
}

static void startHere(Reply &reply) {
  MpiLibrary &mpi = *MpiLibrary::loaded();
  int isInitialized = 0, isFinalized = 0, level = 0;
  mpi.Initialized(&isInitialized);
  mpi.Finalized(&isFinalized);
  if (isFinalized)
    return reply.refuse("MPI was ended in this process already, and can't start again");
  if (isInitialized) {
    mpi.Query_thread(&level);
  } else {
    if (int code = mpi.Init_thread(nullptr, nullptr, mpi.constants.threadMultiple, &level))
      return reply.refuse(mpi.failed("MPI_Init_thread", code).message());
    isOurs.store(true);
  }
  if (level < mpi.constants.threadSerialized)
    return reply.refuse("MPI allows calls of one thread only. What to do: start it with MPI_THREAD_MULTIPLE (mpi4py "
                        "does so by default), or let pycompiler start it");
  // A failure is an error here, not the end of the process.
  mpi.Comm_set_errhandler(mpi.constants.world, mpi.constants.errorsReturn);
  reply.answer({});
}

/// The window whose memory the transport uses. Its end is that of MPI.
static MpiHandle window = 0;
static bool hasWindow = false;

/// The thread that started MPI must end it. The tokens: its end is wanted; it has ended.
static Token *endWanted = nullptr, *hasEnded = nullptr;

static void endHere() {
  MpiLibrary &mpi = *MpiLibrary::loaded();
  int isFinalized = 0;
  mpi.Finalized(&isFinalized);
  if (isFinalized)
    return;
  if (hasWindow)
    mpi.Win_free(&window);
  mpi.Finalize();
}

RefPtr<Reply> Mpi::start() {
  auto reply = RefPtr<Reply>::adopt(new Reply());
  // They live as long as the process: if a process fails, the thread keeps waiting.
  endWanted = new Token();
  hasEnded = new Token();
  // A start waits for the other processes; the caller's wait must be able to end.
  std::thread([reply] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    startHere(*reply);
    endWanted->wait();
    endHere();
    hasEnded->complete();
  }).detach();
  return reply;
}

unsigned Mpi::rank() {
  int rank = 0;
  MpiLibrary &mpi = *MpiLibrary::loaded();
  mpi.Comm_rank(mpi.constants.world, &rank);
  return static_cast<unsigned>(rank);
}

unsigned Mpi::size() {
  int size = 0;
  MpiLibrary &mpi = *MpiLibrary::loaded();
  mpi.Comm_size(mpi.constants.world, &size);
  return static_cast<unsigned>(size);
}

/// Runs work that waits for the other processes in a thread, which outlives a caller that stops waiting.
static RefPtr<Reply> inThread(std::function<void(Reply &)> work) {
  auto reply = RefPtr<Reply>::adopt(new Reply());
  std::thread([reply, work = std::move(work)] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    work(*reply);
  }).detach();
  return reply;
}

RefPtr<Reply> Mpi::broadcast(std::string own) {
  return inThread([bytes = std::move(own)](Reply &reply) mutable {
    MpiLibrary &mpi = *MpiLibrary::loaded();
    int length = static_cast<int>(bytes.size());
    if (int code = mpi.Bcast(&length, sizeof(length), mpi.constants.byte, 0, mpi.constants.world))
      return reply.refuse(mpi.failed("MPI_Bcast", code).message());
    bytes.resize(static_cast<size_t>(length));
    if (int code = mpi.Bcast(bytes.data(), length, mpi.constants.byte, 0, mpi.constants.world))
      return reply.refuse(mpi.failed("MPI_Bcast", code).message());
    reply.answer({bytes});
  });
}

//===-- Memory of a node
//-------------------------------------------------------------------------------------------===//

namespace {
/// The processes of this one's node, on a separate communicator.
struct Node {
  MpiHandle communicator;
  size_t place;
  std::vector<unsigned> ranks;
};
} // namespace

/// Whether the condition holds in all processes of the node. All call this.
static bool doAll(const MpiLibrary &mpi, const Node &node, bool own) {
  bool all = true;
  for (size_t place = 0; place < node.ranks.size(); ++place) {
    char said = own;
    if (mpi.Bcast(&said, 1, mpi.constants.byte, static_cast<int>(place), node.communicator))
      return false;
    all &= said != 0;
  }
  return all;
}

/// The segment of each process of the node; null if they can't share memory. A refusal of MPI or the system is no
/// failure: then messages go by MPI.
static std::unique_ptr<NodeMemory> shareMemory(const MpiLibrary &mpi, const Node &node, bool isWanted) {
  const size_t count = node.ranks.size(), bytes = NodeMemory::segmentBytes(count);
  struct statvfs system;
  bool hasRoom = statvfs("/dev/shm", &system) == 0 && uint64_t(system.f_bavail) * system.f_frsize > 2 * count * bytes;
  if (!doAll(mpi, node, isWanted && hasRoom))
    return nullptr;
  void *own = nullptr;
  bool isMade = mpi.Win_allocate_shared(static_cast<intptr_t>(bytes), 1, mpi.constants.nullInfo, node.communicator,
                                        &own, &window) == 0;
  if (!doAll(mpi, node, isMade))
    return nullptr;
  hasWindow = true;
  NodeMemory::clear(static_cast<char *>(own), count);
  std::vector<char *> segments;
  for (size_t place = 0; place < count; ++place) {
    intptr_t size = 0;
    int unit = 0;
    void *start = nullptr;
    isMade &= mpi.Win_shared_query(window, static_cast<int>(place), &size, &unit, &start) == 0 && start;
    segments.push_back(static_cast<char *>(start));
  }
  // After it all segments are cleared.
  if (!doAll(mpi, node, isMade) || mpi.Barrier(node.communicator))
    return nullptr;
  return std::make_unique<NodeMemory>(node.place, node.ranks, std::move(segments));
}

static std::unique_ptr<NodeMemory> memoryOfNode(const MpiLibrary &mpi, MpiHandle all, bool isWanted) {
  Node node{};
  int count = 0, place = 0;
  if (mpi.Comm_split_type(all, mpi.constants.typeShared, 0, mpi.constants.nullInfo, &node.communicator))
    return nullptr;
  mpi.Comm_set_errhandler(node.communicator, mpi.constants.errorsReturn);
  mpi.Comm_size(node.communicator, &count);
  mpi.Comm_rank(node.communicator, &place);
  node.place = static_cast<size_t>(place);
  for (int each = 0; each < count; ++each) {
    unsigned rank = Mpi::rank();
    if (mpi.Bcast(&rank, sizeof(rank), mpi.constants.byte, each, node.communicator))
      return nullptr;
    node.ranks.push_back(rank);
  }
  std::unique_ptr<NodeMemory> memory = count > 1 ? shareMemory(mpi, node, isWanted) : nullptr;
  mpi.Comm_free(&node.communicator);
  return memory;
}

/// The transport that `connect` has made, until it is taken.
static std::unique_ptr<Transport> made;

RefPtr<Reply> Mpi::connect(bool maySpin, bool sharesMemory) {
  return inThread([=](Reply &reply) {
    MpiLibrary &mpi = *MpiLibrary::loaded();
    MpiHandle own = 0;
    if (int code = mpi.Comm_dup(mpi.constants.world, &own))
      return reply.refuse(mpi.failed("MPI_Comm_dup", code).message());
    mpi.Comm_set_errhandler(own, mpi.constants.errorsReturn);
    made.reset(new MpiTransport(mpi, own, rank(), size(), maySpin, memoryOfNode(mpi, own, sharesMemory)));
    reply.answer({});
  });
}

std::unique_ptr<Transport> Mpi::takeTransport() { return std::move(made); }

void Mpi::finish() {
  if (!isOurs.exchange(false))
    return;
  endWanted->complete();
  hasEnded->wait();
}
