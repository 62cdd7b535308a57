// The functions of XLA_FFI_Api.
#include "foreign/Handlers.h"

#include "runtime/Device.h"

#include <climits>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

using namespace pcrt;

static XLA_FFI_Error *error(XLA_FFI_Error_Code code, std::string message) {
  return new XLA_FFI_Error{code, std::move(message)};
}

static const char *nameOf(XLA_FFI_Error_Code code) {
  static constexpr const char *names[] = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  auto number = static_cast<size_t>(code);
  return number < std::size(names) ? names[number] : "UNKNOWN";
}

Status pcrt::statusOf(XLA_FFI_Error *error, const std::string &where) {
  std::unique_ptr<XLA_FFI_Error> owner(error);
  std::string text = nameOf(error->code) + std::string(": ") + error->message;
  return Status(Code::LibraryFailed, where.empty() ? text : where + ": " + text, CallSite{"ffi_call", ""});
}

//===-- Errors and futures
//------------------------------------------------------------------------------------------===//

static XLA_FFI_Error *createError(XLA_FFI_Error_Create_Args *args) {
  return error(args->errc, args->message ? args->message : "");
}

static void errorMessage(XLA_FFI_Error_GetMessage_Args *args) { args->message = args->error->message.c_str(); }

static void destroyError(XLA_FFI_Error_Destroy_Args *args) { delete args->error; }

static XLA_FFI_Error *createFuture(XLA_FFI_Future_Create_Args *args) {
  args->future = new XLA_FFI_Future();
  return nullptr;
}

static XLA_FFI_Error *complete(XLA_FFI_Future &future) {
  // The last access: the waiting thread continues, and destroys the future.
  FutexWord &word = future.done;
  word.store(1, std::memory_order_release);
  futexWake(word, INT_MAX);
  return nullptr;
}

static XLA_FFI_Error *setAvailable(XLA_FFI_Future_SetAvailable_Args *args) { return complete(*args->future); }

static XLA_FFI_Error *setError(XLA_FFI_Future_SetError_Args *args) {
  args->future->error.reset(args->error);
  return complete(*args->future);
}

//===-- Types of state
//----------------------------------------------------------------------------------------------===//

namespace {
struct StateTypes {
  struct Entry {
    int64_t id;
    void (*deleter)(void *);
  };
  std::mutex lock;
  std::unordered_map<std::string, Entry> byName;
  std::unordered_map<int64_t, Entry> byId;
  /// Another runtime in the process numbers its types from 1, and handlers are shared with it.
  int64_t next = int64_t(1) << 40;
};
} // namespace

static StateTypes &stateTypes() {
  static auto *const types = new StateTypes();
  return *types;
}

XLA_FFI_Error *pcrt::registerStateType(const std::string &name, XLA_FFI_TypeId &id, const XLA_FFI_TypeInfo *info) {
  StateTypes &types = stateTypes();
  std::lock_guard<std::mutex> guard(types.lock);
  auto known = types.byName.find(name);
  if (known != types.byName.end()) {
    if (id.type_id == 0)
      id.type_id = known->second.id;
    return id.type_id == known->second.id
               ? nullptr
               : error(XLA_FFI_Error_Code_ALREADY_EXISTS, "the type " + name + " is registered with the id " +
                                                              std::to_string(known->second.id) + ", not " +
                                                              std::to_string(id.type_id));
  }
  if (id.type_id == 0)
    id.type_id = types.next++;
  StateTypes::Entry entry{id.type_id, info ? info->deleter : nullptr};
  if (!types.byId.emplace(id.type_id, entry).second)
    return error(XLA_FFI_Error_Code_ALREADY_EXISTS,
                 "the id " + std::to_string(id.type_id) + " of the type " + name + " belongs to another type");
  types.byName.emplace(name, entry);
  return nullptr;
}

static XLA_FFI_Error *registerType(XLA_FFI_Type_Register_Args *args) {
  return registerStateType(std::string(args->name.ptr, args->name.len), *args->type_id, args->type_info);
}

static ForeignState *stateOf(XLA_FFI_ExecutionContext *context, XLA_FFI_ExecutionStage stage) {
  auto index = static_cast<size_t>(stage);
  return index < context->states.size() ? context->states[index] : nullptr;
}

static XLA_FFI_Error *setState(XLA_FFI_State_Set_Args *args) {
  ForeignState *state = stateOf(args->ctx, args->stage);
  if (!state || state->object)
    return error(XLA_FFI_Error_Code_FAILED_PRECONDITION, "the state of the stage is set, or can't be set now");
  StateTypes &types = stateTypes();
  std::lock_guard<std::mutex> guard(types.lock);
  auto found = types.byId.find(args->type_id->type_id);
  if (found == types.byId.end())
    return error(XLA_FFI_Error_Code_INVALID_ARGUMENT,
                 "the type of the state is not registered; call ffi.register_ffi_type first");
  state->type = found->first;
  state->object = args->state;
  state->deleter = found->second.deleter;
  return nullptr;
}

static XLA_FFI_Error *getState(XLA_FFI_State_Get_Args *args) {
  ForeignState *state = stateOf(args->ctx, args->stage);
  if (!state || !state->object)
    return error(XLA_FFI_Error_Code_NOT_FOUND, "the stage has no state");
  if (state->type != args->type_id->type_id)
    return error(XLA_FFI_Error_Code_INVALID_ARGUMENT, "the state of the stage has the type " +
                                                          std::to_string(state->type) + ", not " +
                                                          std::to_string(args->type_id->type_id));
  args->state = state->object;
  return nullptr;
}

//===-- The context of a call
//---------------------------------------------------------------------------------------===//

static XLA_FFI_Error *needsRun(const char *what) {
  return error(XLA_FFI_Error_Code_FAILED_PRECONDITION, std::string(what) + " exists only in a run");
}

namespace {
class ScheduledTask final : public Task {
public:
  ScheduledTask(XLA_FFI_Task *function, void *data) : function(function), data(data) {}
  void runTask() override {
    std::unique_ptr<ScheduledTask> owner(this);
    function(data);
  }

private:
  XLA_FFI_Task *const function;
  void *const data;
};
} // namespace

static XLA_FFI_Error *schedule(XLA_FFI_ThreadPool_Schedule_Args *args) {
  XLA_FFI_ExecutionContext &context = *args->ctx;
  if (!context.device)
    return needsRun("the thread pool");
  if (std::this_thread::get_id() == context.thread && !context.blocking)
    context.blocking.emplace();
  context.device->threads().submit(new ScheduledTask(args->task, args->data));
  return nullptr;
}

static XLA_FFI_Error *threadCount(XLA_FFI_ThreadPool_NumThreads_Args *args) {
  if (!args->ctx->device)
    return needsRun("the thread pool");
  *args->num_threads = args->ctx->device->threads().size();
  return nullptr;
}

static XLA_FFI_Error *allocate(XLA_FFI_DeviceMemory_Allocate_Args *args) {
  size_t alignment = args->alignment < alignof(std::max_align_t) ? alignof(std::max_align_t) : args->alignment;
  size_t size = (args->size + alignment - 1) / alignment * alignment;
  void *block = std::aligned_alloc(alignment, size ? size : alignment);
  if (!block)
    return error(XLA_FFI_Error_Code_RESOURCE_EXHAUSTED,
                 "out of memory: " + std::to_string(args->size) + " bytes for a handler");
  args->data = block;
  return nullptr;
}

static XLA_FFI_Error *release(XLA_FFI_DeviceMemory_Free_Args *args) {
  std::free(args->data);
  return nullptr;
}

static XLA_FFI_Error *runNumber(XLA_FFI_RunId_Get_Args *args) {
  args->run_id = args->ctx->run;
  return nullptr;
}

static XLA_FFI_Error *deviceNumber(XLA_FFI_DeviceOrdinal_Get_Args *args) {
  if (!args->ctx->device)
    return needsRun("the device");
  args->device_ordinal = args->ctx->device->id();
  return nullptr;
}

static XLA_FFI_Error *stream(XLA_FFI_Stream_Get_Args *) {
  return error(XLA_FFI_Error_Code_UNIMPLEMENTED, "handlers run on the host, which has no stream");
}

static XLA_FFI_Error *userData(XLA_FFI_ExecutionContext_Get_Args *) {
  return error(XLA_FFI_Error_Code_NOT_FOUND, "the execution context has no data of the user");
}

static XLA_FFI_Error *registerHandler(XLA_FFI_Handler_Register_Args *) {
  return error(XLA_FFI_Error_Code_UNIMPLEMENTED, "register handlers by ffi.register_ffi_target");
}

const XLA_FFI_Api &pcrt::foreignApi() {
  static const XLA_FFI_Api api = [] {
    XLA_FFI_Api made{};
    made.struct_size = XLA_FFI_Api_STRUCT_SIZE;
    made.api_version.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE;
    made.api_version.major_version = XLA_FFI_API_MAJOR;
    made.api_version.minor_version = XLA_FFI_API_MINOR;
    made.XLA_FFI_Error_Create = createError;
    made.XLA_FFI_Error_GetMessage = errorMessage;
    made.XLA_FFI_Error_Destroy = destroyError;
    made.XLA_FFI_Handler_Register = registerHandler;
    made.XLA_FFI_Stream_Get = stream;
    made.XLA_FFI_Type_Register = registerType;
    made.XLA_FFI_ExecutionContext_Get = userData;
    made.XLA_FFI_State_Set = setState;
    made.XLA_FFI_State_Get = getState;
    made.XLA_FFI_DeviceMemory_Allocate = allocate;
    made.XLA_FFI_DeviceMemory_Free = release;
    made.XLA_FFI_ThreadPool_Schedule = schedule;
    made.XLA_FFI_ThreadPool_NumThreads = threadCount;
    made.XLA_FFI_Future_Create = createFuture;
    made.XLA_FFI_Future_SetAvailable = setAvailable;
    made.XLA_FFI_Future_SetError = setError;
    made.XLA_FFI_RunId_Get = runNumber;
    made.XLA_FFI_DeviceOrdinal_Get = deviceNumber;
    return made;
  }();
  return api;
}
