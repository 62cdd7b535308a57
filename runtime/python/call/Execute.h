// Runs an executable on buffers, and creates arrays for its results. After Array and Launch.
#ifndef PYCOMPILER_RUNTIME_PYTHON_CALL_EXECUTE_H
#define PYCOMPILER_RUNTIME_PYTHON_CALL_EXECUTE_H

#include "array/DevicePlacement.h"
#include "array/Launch.h"
#include "runtime/Executable.h"
#include "support/Wait.h"

namespace pcrt::python {

/// Result buffers of one launch, released unless arrays took them.
class ResultBuffers {
public:
  ~ResultBuffers() {
    for (Buffer *buffer : buffers)
      if (buffer)
        buffer->release();
  }
  /// `given` has the buffer of each result that needs no allocation; it may be null.
  bool allocate(Device &device, AvalObject *const *avals, size_t count, const std::string &name, Buffer *const *given) {
    for (size_t i = 0; i < count; ++i) {
      if (given && given[i]) {
        given[i]->retain();
        buffers.push(given[i]);
        continue;
      }
      RefPtr<Buffer> buffer = allocateBuffer(device, avals[i], name.c_str());
      if (!buffer)
        return false;
      bytes += buffer->size();
      buffers.push(buffer.take());
    }
    return true;
  }
  RefPtr<Buffer> take(size_t i) { return RefPtr<Buffer>::adopt(std::exchange(buffers[i], nullptr)); }
  Buffer *const *data() const { return buffers.data(); }

  uint64_t bytes = 0;

private:
  SmallVector<Buffer *, 16> buffers;
};

/// Makes the launch when memory for its results is free, if the wait for it costs less than new memory.
[[gnu::noinline]] bool executeWithFreedMemory(const DevicePlacement &where, Executable &executable, Buffer *const *args,
                                              size_t argCount, AvalObject *const *outAvals, size_t resultCount,
                                              PyObject **results, Buffer *const *given);

/// `executeInline` without waiting.
[[gnu::always_inline]] inline bool executeAtOnce(const DevicePlacement &where, Executable &executable,
                                                 Buffer *const *args, size_t argCount, AvalObject *const *outAvals,
                                                 size_t resultCount, PyObject **results, Buffer *const *given) {
  ResultBuffers buffers;
  for (size_t i = 0; i < argCount; ++i) {
    if (isDeleted(args[i])) {
      raise(*args[i]->error());
      return false;
    }
  }
  if (!buffers.allocate(*where.device, outAvals, resultCount, executable.name(), given))
    return false;
  Launch request = {
      &executable, args, static_cast<unsigned>(argCount), buffers.data(), static_cast<unsigned>(resultCount), nullptr};
  if (!launchOn(*where.device, request, buffers.bytes))
    return false;
  for (size_t i = 0; i < resultCount; ++i) {
    results[i] = newArray(outAvals[i], buffers.take(i), where.committed);
    if (!results[i]) {
      while (i-- > 0)
        Py_DECREF(results[i]);
      return false;
    }
  }
  return true;
}

/// `execute`, for the hot path.
[[gnu::always_inline]] inline bool executeInline(const DevicePlacement &where, Executable &executable,
                                                 Buffer *const *args, size_t argCount, AvalObject *const *outAvals,
                                                 size_t resultCount, PyObject **results, Buffer *const *given) {
  return where.device->stream().isFarAhead()
             ? executeWithFreedMemory(where, executable, args, argCount, outAvals, resultCount, results, given)
             : executeAtOnce(where, executable, args, argCount, outAvals, resultCount, results, given);
}

/// Not inlined. Enqueues the executable, or runs it if it is short and its inputs are ready. `results` receives one new
/// array for each aval. `given` has the buffers of results in the memory of arguments, null for the others. False with
/// an exception set.
bool execute(Device &device, Executable &executable, Buffer *const *args, size_t argCount, AvalObject *const *outAvals,
             size_t resultCount, PyObject **results, Buffer *const *given = nullptr, bool committed = false);

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_CALL_EXECUTE_H
