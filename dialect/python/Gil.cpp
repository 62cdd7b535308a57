// Releases and acquires the GIL, and ends a process that still compiles.
#include "Gil.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <unistd.h>

using namespace pycompiler;

/// How many threads compile.
static std::atomic<int> atWork{0};

[[noreturn]] static void sleepUntilTheEnd() {
  while (true)
    pause();
}

void pycompiler::acquireGil(PyThreadState *state) {
  try {
    PyEval_RestoreThread(state);
  } catch (abi::__forced_unwind &) {
    sleepUntilTheEnd();
  }
}

ReleasedGil::ReleasedGil() : state(PyEval_SaveThread()) { atWork.fetch_add(1); }

ReleasedGil::~ReleasedGil() {
  atWork.fetch_sub(1);
  acquireGil(state);
}

AcquiredGil::AcquiredGil() {
  try {
    state = PyGILState_Ensure();
  } catch (abi::__forced_unwind &) {
    atWork.fetch_sub(1);
    sleepUntilTheEnd();
  }
}

static void endAtOnce(int status, void *) {
  if (atWork.load() == 0)
    return;
  std::fflush(nullptr);
  _exit(status);
}

void pycompiler::endProcessAtWork() { on_exit(endAtOnce, nullptr); }
