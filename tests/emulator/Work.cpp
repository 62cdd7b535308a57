// The emulated driver: streams, events, and kernels and host functions on streams.
#include "Calls.h"
#include "EmulatorControls.h"
#include "Module.h"

#include <cstring>

using namespace emulator;

/// The values of a launch's arguments, copied if their sizes are known.
namespace {
class Arguments {
public:
  Arguments(const CUfunc_st &function, void **given) : given(given) {
    if (!function.hasSizes)
      return;
    values.resize(function.sizes.size());
    for (size_t i = 0; i < values.size(); ++i) {
      std::memcpy(values[i].bytes, given[i], std::min<size_t>(static_cast<unsigned char>(function.sizes[i]), 16));
      pointers.push_back(values[i].bytes);
    }
    isCopy = true;
  }
  Arguments(Arguments &&) = default;
  void *const *get() const { return isCopy ? pointers.data() : given; }

private:
  struct alignas(16) Value {
    char bytes[16];
  };
  void **given;
  bool isCopy = false;
  std::vector<Value> values;
  std::vector<void *> pointers;
};
} // namespace

extern "C" {

//===-- Streams
//-----------------------------------------------------------------------------------------------------===//

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  PCRT_ENTER(cuStreamCreate);
  if (flags & ~unsigned(CU_STREAM_NON_BLOCKING))
    return CUDA_ERROR_INVALID_VALUE;
  *stream = new CUstream_st(currentContext);
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  CUresult lost = beginInContext(Call::cuStreamDestroy);
  if (!currentContext || inHostFunction)
    return lost;
  if (!stream || !findStream(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  stream->finish();
  return lost;
}

CUresult cuStreamQuery(CUstream stream) {
  PCRT_ENTER_STREAM(cuStreamQuery);
  return stream->isIdle() ? stream->context->sticky.load() : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamSynchronize(CUstream stream) {
  PCRT_ENTER_STREAM(cuStreamSynchronize);
  CUresult result = stream->synchronize();
  currentContext->memory.synchronized();
  return result;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  PCRT_ENTER_STREAM(cuStreamWaitEvent);
  if (!event || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  // The current recording; later ones do not matter.
  if (std::shared_ptr<Moment> moment = event->last())
    stream->enqueue(
        [moment](BlockRunner &) {
          moment->wait();
          return CUDA_SUCCESS;
        },
        true);
  return CUDA_SUCCESS;
}

//===-- Events
//------------------------------------------------------------------------------------------------------===//

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  PCRT_ENTER(cuEventCreate);
  if (flags & ~unsigned(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_VALUE;
  *event = new CUevent_st{currentContext, !(flags & CU_EVENT_DISABLE_TIMING), {}, nullptr};
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  CUresult lost = beginInContext(Call::cuEventDestroy);
  if (!currentContext || inHostFunction)
    return lost;
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  delete event;
  return lost;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  PCRT_ENTER_STREAM(cuEventRecord);
  if (!event || event->context != currentContext)
    return CUDA_ERROR_INVALID_HANDLE;
  auto moment = std::make_shared<Moment>();
  {
    std::lock_guard<std::mutex> guard(event->lock);
    event->latest = moment;
  }
  // Also on a lost device, so that no wait is endless.
  stream->enqueue(
      [moment](BlockRunner &) {
        moment->happen();
        return CUDA_SUCCESS;
      },
      true);
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  PCRT_ENTER(cuEventQuery);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  std::shared_ptr<Moment> moment = event->last();
  // The failure of a kernel before the event is read after the event.
  return !moment || moment->hasHappened() ? event->context->sticky.load() : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event) {
  PCRT_ENTER(cuEventSynchronize);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (std::shared_ptr<Moment> moment = event->last())
    moment->wait();
  return event->context->sticky.load();
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  PCRT_ENTER(cuEventElapsedTime);
  if (!start || !end || !start->isTimed || !end->isTimed)
    return CUDA_ERROR_INVALID_HANDLE;
  std::shared_ptr<Moment> from = start->last(), to = end->last();
  if (!from || !to)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!from->hasHappened() || !to->hasHappened())
    return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(to->time() - from->time()).count();
  return CUDA_SUCCESS;
}

//===-- Work
//--------------------------------------------------------------------------------------------------------===//

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                        unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void **params,
                        void **extra) {
  PCRT_ENTER_STREAM(cuLaunchKernel);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  bool fits = gridX > 0 && gridX <= 0x7fffffff && gridY > 0 && gridY <= 65535 && gridZ > 0 && gridZ <= 65535 &&
              blockX > 0 && blockX <= 1024 && blockY > 0 && blockY <= 1024 && blockZ > 0 && blockZ <= 64 &&
              uint64_t(blockX) * blockY * blockZ <= 1024;
  if (!fits || extra || sharedBytes > unsigned(function->maxSharedBytes) || (!function->sizes.empty() && !params))
    return CUDA_ERROR_INVALID_VALUE;
  auto arguments = std::make_shared<Arguments>(*function, params);
  std::shared_ptr<CUfunc_st> held = function->self.lock();
  Dimensions dimensions{{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, function->sharedBytes + sharedBytes};
  stream->enqueue([held, arguments, dimensions, context = stream->context](BlockRunner &runner) {
    DeviceMemory::Access access(context->memory);
    CUresult result = runner.run(held->kernel(), arguments->get(), dimensions);
    if (result != CUDA_SUCCESS)
      setLastFailure("kernel '" + held->name + "': " + runner.message());
    return result;
  });
  // If the kernel does not have the sizes of its arguments, the caller keeps the values until it has run.
  if (!function->hasSizes)
    stream->synchronize();
  return CUDA_SUCCESS;
}

/// Blocks of a cluster would share their memory, which no emulated block does.
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params, void **extra) {
  PCRT_ENTER(cuLaunchKernelEx);
  if (!config || !function || extra)
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *userData) {
  PCRT_ENTER_STREAM(cuLaunchHostFunc);
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  stream->enqueue([function, userData](BlockRunner &) {
    inHostFunction = true;
    function(userData);
    inHostFunction = false;
    return CUDA_SUCCESS;
  });
  return CUDA_SUCCESS;
}

//===-- For the emulated libraries
//----------------------------------------------------------------------------------===//

__attribute__((visibility("default"))) int emulatorEnqueue(void *given, void (*work)(void *data), void *data) {
  if (inHostFunction)
    return CUDA_ERROR_NOT_PERMITTED;
  if (!currentContext)
    return CUDA_ERROR_INVALID_CONTEXT;
  CUstream stream = findStream(static_cast<CUstream>(given));
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  stream->enqueue([work, data, context = stream->context](BlockRunner &) {
    DeviceMemory::Access access(context->memory);
    work(data);
    return CUDA_SUCCESS;
  });
  return currentContext->sticky.load();
}

__attribute__((visibility("default"))) int emulatorHolds(const void *pointer, uint64_t bytes) {
  return currentContext && currentContext->memory.holds(reinterpret_cast<CUdeviceptr>(pointer), bytes);
}

__attribute__((visibility("default"))) int emulatorBus(char *text, int length) {
  return currentContext ? cuDeviceGetPCIBusId(text, length, currentContext->number) : CUDA_ERROR_INVALID_CONTEXT;
}
}
