// The gate at which threads wait while another one forks, or ends the program.
#include "support/ForkGate.h"

#include "runtime/Callbacks.h"
#include "runtime/ThreadPool.h"
#include "support/Gil.h"

#include <climits>

using namespace pcrt;
using namespace pcrt::python;

FutexWord forkgate::closed{0};
static std::atomic<bool> isEnding{false};

bool forkgate::pass() {
  if (callbacks::isRunning() || ThreadPool::isWorker())
    return true;
  WithoutGil released;
  while (uint32_t seen = closed.load()) {
    futexWait(closed, seen, 100);
    if (interrupted())
      return false;
    if (isEnding.load())
      break;
  }
  return true;
}

void forkgate::close() { closed.fetch_add(1); }

void forkgate::openInParent() {
  closed.fetch_sub(1);
  futexWake(closed, INT_MAX);
}

/// Other threads that were about to fork are not in the child.
void forkgate::openInChild() { closed.store(0); }

forkgate::Ending::Ending() {
  isEnding.store(true);
  close();
}

forkgate::Ending::~Ending() {
  isEnding.store(false);
  openInParent();
}
