// A launch that was enqueued: it holds what it was launched with until its inputs are there, and is the token of its
// results. What all streams share; each has its own kind. After Stream; before CpuStream and cuda/CudaStream.
#ifndef PYCOMPILER_RUNTIME_LIB_EXECUTION_H
#define PYCOMPILER_RUNTIME_LIB_EXECUTION_H

#include "runtime/Executable.h"
#include "runtime/Stream.h"
#include "runtime/ThreadPool.h"

#include <new>

namespace pcrt {

class Device;

//===-- What a launch comes to

uint64_t bytesOf(Buffer *const *buffers, unsigned count);
/// What a launch is expected to take, in nanoseconds.
double expectedNs(const Launch &launch);
inline bool mayBlock(const Launch &launch) { return launch.executable && launch.executable->mayBlock(); }
/// Whether everything that it waits for is done.
bool isReady(const Launch &launch);
/// The failure that the inputs carry: that of the first one, of those that are done, in the order of the arguments.
Error *poisonOf(const Launch &launch);
/// Runs the code of a launch, whose inputs are there.
Status runCode(Device &device, const Launch &launch, int64_t budget);
/// What the results carry after a run; null when it went well.
RefPtr<Error> errorOf(const Launch &launch, const Status &status);

//===-- Execution

/// An Execution is the token of its results and the pool's task at once: one allocation for a call.
class Execution : public Token, public Task {
public:
  static void operator delete(void *memory) { ::operator delete(memory); }

protected:
  /// An Execution of a kind, with room behind it for what the launch has.
  template <typename Kind, typename Owner> static Kind *create(Owner &stream, const Launch &launch) {
    return new (::operator new(sizeof(Kind) + roomFor(launch))) Kind(stream, launch);
  }
  /// `room` is what follows the object.
  Execution(Stream &stream, const Launch &launch, void *room);

  /// Whether all inputs are there. If not, `inputsReady` is called when they are, by who ends the last one.
  bool waitForInputs();
  virtual void inputsReady() = 0;
  /// What it waits for of an argument, whose token that is.
  virtual Token *awaited(const Buffer &argument, Token *token) const;
  bool hasInputs() const { return pendingInputs.load() == 0; }

  /// Gives up references; `release...If` those to buffers of which `may` says so.
  void releaseInputs();
  template <typename Predicate> void releaseBuffersIf(Predicate may) {
    for (unsigned i = 0; i < request.argCount + request.resultCount; ++i)
      if (Buffer *&buffer = held[i]; buffer && may(*buffer))
        std::exchange(buffer, nullptr)->release();
  }
  /// Completes the tokens, gives up what is left, and the execution's own reference.
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
  /// The arguments and results (null: given up), the further tokens, then what hangs on all tokens.
  Buffer **const held;
  Dependency *const dependencies;
  const uint64_t resultBytes;
  /// Inputs that are still pending, and one until all were looked at.
  std::atomic<unsigned> pendingInputs{1};
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_EXECUTION_H
