// An enqueued launch: it holds its arguments until its inputs are ready, and is the token of its results. This is the
// part that all streams share; each has its own kind. After Stream; before CpuStream and cuda/CudaStream.
#ifndef PYCOMPILER_RUNTIME_LIB_EXECUTION_H
#define PYCOMPILER_RUNTIME_LIB_EXECUTION_H

#include "runtime/Executable.h"
#include "runtime/Stream.h"
#include "runtime/ThreadPool.h"

#include <new>

namespace pcrt {

class Device;

//===-- The outcome of a launch

uint64_t bytesOf(Buffer *const *buffers, unsigned count);
/// The expected time of a launch, in nanoseconds.
double expectedNs(const Launch &launch);
inline bool mayBlock(const Launch &launch) { return launch.executable && launch.executable->mayBlock(); }
/// Whether all awaited tokens are done.
bool isReady(const Launch &launch);
/// The failure of the inputs: that of the first failed one among those that are done, in the order of the arguments.
Error *poisonOf(const Launch &launch);
/// Runs the code of a launch whose inputs are ready.
Status runCode(Device &device, const Launch &launch, int64_t budget);
/// The error of the results after a run; null on success.
RefPtr<Error> errorOf(const Launch &launch, const Status &status);

//===-- Execution

/// An Execution is the token of its results and the pool's task at once: one allocation for a call.
class Execution : public Token, public Task {
public:
  static void operator delete(void *memory) { ::operator delete(memory); }

protected:
  /// Creates an Execution of a kind, with memory after it for the launch's arrays.
  template <typename Kind, typename Owner> static Kind *create(Owner &stream, const Launch &launch) {
    return new (::operator new(sizeof(Kind) + roomFor(launch))) Kind(stream, launch);
  }
  /// `room` is the memory after the object.
  Execution(Stream &stream, const Launch &launch, void *room);

  /// Whether all inputs are ready. If not, the thread that completes the last one calls `inputsReady`.
  bool waitForInputs();
  virtual void inputsReady() = 0;
  /// The token to wait for, for an argument with this token.
  virtual Token *awaited(const Buffer &argument, Token *token) const;
  bool hasInputs() const { return pendingInputs.load() == 0; }

  /// Releases references; `release...If` releases those to buffers for which `may` holds.
  void releaseInputs();
  template <typename Predicate> void releaseBuffersIf(Predicate may) {
    for (unsigned i = 0; i < request.argCount + request.resultCount; ++i)
      if (Buffer *&buffer = held[i]; buffer && may(*buffer))
        std::exchange(buffer, nullptr)->release();
  }
  /// Completes the tokens, and releases the remaining references, including the execution's own.
  void end(RefPtr<Error> error);

  RefPtr<Executable> executable;
  Launch request;

private:
  struct Dependency : Continuation {
    Execution *execution;
  };
  static size_t roomFor(const Launch &launch);
  Token **others() { return reinterpret_cast<Token **>(held + request.argCount + request.resultCount); }
  void waitsFor(Token *token, unsigned number);

  Stream &stream;
  /// The arguments and results (null: released), the further tokens, then the continuations on all tokens.
  Buffer **const held;
  Dependency *const dependencies;
  const uint64_t resultBytes;
  /// The number of inputs that are still pending, plus one until all were visited.
  std::atomic<unsigned> pendingInputs{1};
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_EXECUTION_H
