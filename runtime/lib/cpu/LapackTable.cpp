// The table of LAPACK's entry points.
#include "Lapack.h"

#include <atomic>
#include <mutex>

using namespace pcrt;

static constexpr std::string_view slotNames[] = {
#define PCRT_NAMES(real, complex) "s" #real, "d" #real, "c" #complex, "z" #complex,
    PCRT_LAPACK_ROUTINES(PCRT_NAMES)
#undef PCRT_NAMES
};

static std::atomic<void *> slots[std::size(slotNames)];
static std::atomic<bool> filled = false, withLengths = false;

std::vector<std::string_view> lapack::names() { return {std::begin(slotNames), std::end(slotNames)}; }

void lapack::fill(const std::vector<void *> &entries, Strings strings) {
  for (size_t i = 0; i < std::min(entries.size(), std::size(slots)); ++i)
    slots[i].store(entries[i], std::memory_order_relaxed);
  withLengths.store(strings == Strings::WithLengths, std::memory_order_relaxed);
  filled.store(entries.size() >= std::size(slots), std::memory_order_release);
}

bool lapack::isFilled() { return filled.load(std::memory_order_acquire); }

bool lapack::takesLengths() { return withLengths.load(std::memory_order_relaxed); }

void *lapack::entry(Routine routine, int scalar) {
  return slots[static_cast<size_t>(routine) * 4 + static_cast<size_t>(scalar)].load(std::memory_order_relaxed);
}

//===-- The library's threads
//---------------------------------------------------------------------------------------===//

static std::mutex threadsLock;
static lapack::Threads threads;
/// The number of running routines, and the thread setting before the first of them.
static int running = 0, before = 1;

void lapack::setThreads(Threads given) {
  std::lock_guard<std::mutex> guard(threadsLock);
  threads = given.get && given.set ? given : Threads();
}

lapack::InOneThread::InOneThread() {
  std::lock_guard<std::mutex> guard(threadsLock);
  if (running++ > 0 || !threads.get)
    return;
  before = threads.get();
  if (before != 1)
    threads.set(1);
}

lapack::InOneThread::~InOneThread() {
  std::lock_guard<std::mutex> guard(threadsLock);
  // If the program has changed the setting meanwhile, its setting stays.
  if (--running == 0 && threads.get && before != 1 && threads.get() == 1)
    threads.set(before);
}
