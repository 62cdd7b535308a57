// The start and the end of MPI in this process.
#include "distributed/MpiLibrary.h"
#include "distributed/MpiTransport.h"
#include "runtime/Processes.h"

#include <csignal>
#include <thread>

using namespace pcrt;

/// Whether MPI was started here, and is to be ended here; what the others have started, they end.
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

/// The thread that started MPI must end it. The tokens: its end is wanted; it has ended.
static Token *endWanted = nullptr, *hasEnded = nullptr;

static void endHere() {
  MpiLibrary &mpi = *MpiLibrary::loaded();
  int isFinalized = 0;
  mpi.Finalized(&isFinalized);
  if (!isFinalized)
    mpi.Finalize();
}

RefPtr<Reply> Mpi::start() {
  auto reply = RefPtr<Reply>::adopt(new Reply());
  // They live as long as the process: a process that fails leaves the thread waiting.
  endWanted = new Token();
  hasEnded = new Token();
  // A start waits for the other processes: the caller's wait has an end.
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

Status Mpi::broadcast(std::string &bytes) {
  MpiLibrary &mpi = *MpiLibrary::loaded();
  int length = static_cast<int>(bytes.size());
  if (int code = mpi.Bcast(&length, sizeof(length), mpi.constants.byte, 0, mpi.constants.world))
    return mpi.failed("MPI_Bcast", code);
  bytes.resize(static_cast<size_t>(length));
  if (int code = mpi.Bcast(bytes.data(), length, mpi.constants.byte, 0, mpi.constants.world))
    return mpi.failed("MPI_Bcast", code);
  return Status::ok();
}

Result<std::unique_ptr<Transport>> Mpi::transport(bool maySpin) {
  MpiLibrary &mpi = *MpiLibrary::loaded();
  MpiHandle own = 0;
  if (int code = mpi.Comm_dup(mpi.constants.world, &own))
    return mpi.failed("MPI_Comm_dup", code);
  mpi.Comm_set_errhandler(own, mpi.constants.errorsReturn);
  return std::unique_ptr<Transport>(new MpiTransport(mpi, own, rank(), size(), maySpin));
}

void Mpi::finish() {
  if (!isOurs.exchange(false))
    return;
  endWanted->complete();
  hasEnded->wait();
}
