// The PJRT C API as a client calls it: devices, arrays from the host and back, events, programs, donation, errors. The
// compiler is a stand-in, whose programs are functions of this file.
#include "Check.h"
#include "pjrt/Additions.h"
#include "pjrt/Program.h"
#include "runtime/Token.h"

#include "xla/pjrt/c/pjrt_c_api.h"

#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace pcrt;

static const PJRT_Api &api = *pjrt::api();

template <typename Args> static Args make() {
  Args args = {};
  args.struct_size = sizeof(Args);
  return args;
}

/// The message of an error, which is destroyed; empty without one.
static std::string messageOf(PJRT_Error *error) {
  if (!error)
    return "";
  auto message = make<PJRT_Error_Message_Args>();
  message.error = error;
  api.PJRT_Error_Message(&message);
  std::string text(message.message, message.message_size);
  auto destroy = make<PJRT_Error_Destroy_Args>();
  destroy.error = error;
  api.PJRT_Error_Destroy(&destroy);
  return text.empty() ? "an error without a message" : text;
}
#define OK(call) CHECK(messageOf(call) == "")

/// What of an event is awaited; it is destroyed.
static std::string await(PJRT_Event *event) {
  auto args = make<PJRT_Event_Await_Args>();
  args.event = event;
  std::string message = messageOf(api.PJRT_Event_Await(&args));
  auto destroy = make<PJRT_Event_Destroy_Args>();
  destroy.event = event;
  OK(api.PJRT_Event_Destroy(&destroy));
  return message;
}

//===-- The stand-in of a compiler
//---------------------------------------------------------------------------------===//

static constexpr int64_t count = 1000;

/// Each element plus one, also in the memory of the argument.
static int32_t addOne(const PcrtFrame *frame) {
  auto *from = static_cast<const float *>(frame->args[0]);
  auto *to = static_cast<float *>(frame->results[0]);
  for (int64_t i = 0; i < count; ++i)
    to[i] = from[i] + 1;
  return PCRT_OK;
}
static int32_t fail(const PcrtFrame *) { return PCRT_LIBRARY_FAILED; }

namespace {
class StandIn final : public pjrt::Compiler {
public:
  Result<pjrt::Program> compile(std::string_view code, std::string_view, std::string_view options) override {
    if (code == "nonsense")
      return Status(Code::InvalidArgument, "line 1: nonsense is no program");
    pjrt::Program program;
    program.name = std::string(code);
    program.fingerprint = "of " + program.name;
    bool fails = code == "fail";
    // A cost above the limit for runs in place.
    double cost = code == "later" ? 1e9 : 100;
    program.executable = RefPtr<Executable>::adopt(new Executable(fails ? fail : addOne, 0, program.name, cost));
    program.parameters = {{DType::Float32, {count}, {}}};
    program.results = {{DType::Float32, {count}, {}}};
    program.donations = {{code == "donating", code == "donating" ? 0 : -1}};
    program.devices = {0};
    if (code == "divided")
      program.resultShardings = {"the rows"};
    program.options = std::string(options);
    program.serialize = [code = std::string(code)]() -> Result<std::string> { return code; };
    program.text = []() -> Result<std::string> { return std::string("the text"); };
    return program;
  }
  Result<pjrt::Program> load(std::string_view bytes, std::string_view options) override {
    return compile(bytes, "mlir", options);
  }
  std::vector<int64_t> oldestStablehlo() const override { return {0, 9, 0}; }
  std::vector<int64_t> newestStablehlo() const override { return {1, 0, 0}; }
};
} // namespace

//===-- Helpers of a client
//----------------------------------------------------------------------------------------===//

static PJRT_Client *client() {
  auto args = make<PJRT_Client_Create_Args>();
  OK(api.PJRT_Client_Create(&args));
  return args.client;
}

static PJRT_LoadedExecutable *compile(const char *code, std::string *message = nullptr) {
  auto program = make<PJRT_Program>();
  program.code = const_cast<char *>(code);
  program.code_size = std::strlen(code);
  program.format = "mlir";
  program.format_size = 4;
  auto args = make<PJRT_Client_Compile_Args>();
  args.client = client();
  args.program = &program;
  std::string said = messageOf(api.PJRT_Client_Compile(&args));
  if (message)
    *message = said;
  else
    CHECK(said == "");
  return args.executable;
}

static PJRT_Buffer *fromHost(const std::vector<float> &data, PJRT_HostBufferSemantics semantics, PJRT_Event **done) {
  static const int64_t dims[] = {count};
  auto args = make<PJRT_Client_BufferFromHostBuffer_Args>();
  args.client = client();
  args.data = data.data();
  args.type = PJRT_Buffer_Type_F32;
  args.dims = dims;
  args.num_dims = 1;
  args.host_buffer_semantics = semantics;
  OK(api.PJRT_Client_BufferFromHostBuffer(&args));
  if (done)
    *done = args.done_with_host_buffer;
  else
    CHECK(await(args.done_with_host_buffer) == "");
  return args.buffer;
}

static PJRT_Buffer *ones() {
  return fromHost(std::vector<float>(count, 1), PJRT_HostBufferSemantics_kImmutableOnlyDuringCall, nullptr);
}

/// The elements, and the message of the failure.
static std::string toHost(PJRT_Buffer *buffer, std::vector<float> &data) {
  data.assign(count, -1);
  auto args = make<PJRT_Buffer_ToHostBuffer_Args>();
  args.src = buffer;
  OK(api.PJRT_Buffer_ToHostBuffer(&args));
  CHECK(args.dst_size == count * sizeof(float));
  args.dst = data.data();
  if (std::string message = messageOf(api.PJRT_Buffer_ToHostBuffer(&args)); !message.empty())
    return message;
  return await(args.event);
}

static bool isDeleted(PJRT_Buffer *buffer) {
  auto args = make<PJRT_Buffer_IsDeleted_Args>();
  args.buffer = buffer;
  OK(api.PJRT_Buffer_IsDeleted(&args));
  return args.is_deleted;
}

static void destroy(PJRT_Buffer *buffer) {
  auto args = make<PJRT_Buffer_Destroy_Args>();
  args.buffer = buffer;
  OK(api.PJRT_Buffer_Destroy(&args));
}

static void destroy(PJRT_LoadedExecutable *executable) {
  auto args = make<PJRT_LoadedExecutable_Destroy_Args>();
  args.executable = executable;
  OK(api.PJRT_LoadedExecutable_Destroy(&args));
}

static std::string execute(PJRT_LoadedExecutable *executable, PJRT_Buffer *argument, PJRT_Buffer *&result) {
  auto options = make<PJRT_ExecuteOptions>();
  PJRT_Buffer *const list[] = {argument};
  PJRT_Buffer *const *const lists[] = {list};
  PJRT_Buffer *results[] = {nullptr};
  PJRT_Buffer **const resultLists[] = {results};
  PJRT_Event *events[] = {nullptr};
  auto args = make<PJRT_LoadedExecutable_Execute_Args>();
  args.executable = executable;
  args.options = &options;
  args.argument_lists = lists;
  args.num_devices = 1;
  args.num_args = 1;
  args.output_lists = resultLists;
  args.device_complete_events = events;
  std::string message = messageOf(api.PJRT_LoadedExecutable_Execute(&args));
  if (!message.empty())
    return message;
  result = results[0];
  return await(events[0]);
}

static uintptr_t pointerOf(PJRT_Buffer *buffer) {
  auto args = make<PJRT_Buffer_UnsafePointer_Args>();
  args.buffer = buffer;
  OK(api.PJRT_Buffer_UnsafePointer(&args));
  return args.buffer_pointer;
}

//===-- The tests
//--------------------------------------------------------------------------------------------------===//

static void hasDevices() {
  auto args = make<PJRT_Client_Devices_Args>();
  args.client = client();
  OK(api.PJRT_Client_Devices(&args));
  REQUIRE(args.num_devices >= 1);
  auto memories = make<PJRT_Device_AddressableMemories_Args>();
  memories.device = args.devices[0];
  OK(api.PJRT_Device_AddressableMemories(&memories));
  CHECK(memories.num_memories >= 1);
  auto look = make<PJRT_Client_LookupDevice_Args>();
  look.client = client();
  look.id = 1000;
  CHECK(messageOf(api.PJRT_Client_LookupDevice(&look)).find("no device has the id 1000") != std::string::npos);
}

static void tellsShardings() {
  REQUIRE(api.pjrt_api_version.minor_version == 93);
  auto *extension = api.extension_start;
  while (extension && extension->type != pjrt::typeOfShardings)
    extension = extension->next;
  REQUIRE(extension);
  for (const char *name : {"now", "divided"}) {
    PJRT_LoadedExecutable *executable = compile(name);
    auto of = make<PJRT_LoadedExecutable_GetExecutable_Args>();
    of.loaded_executable = executable;
    OK(api.PJRT_LoadedExecutable_GetExecutable(&of));
    auto args = make<pjrt::ShardingsArgs>();
    args.executable = of.executable;
    OK(reinterpret_cast<pjrt::ShardingsExtension *>(extension)->results(&args));
    std::string text = args.shardings ? std::string(args.shardings[0], args.sizes[0]) : "none";
    CHECK(text == (args.count ? "the rows" : "none") && args.count == (name[0] == 'd'));
    auto destroyed = make<PJRT_Executable_Destroy_Args>();
    destroyed.executable = of.executable;
    OK(api.PJRT_Executable_Destroy(&destroyed));
    destroy(executable);
  }
}

static void checksSizes() {
  auto args = make<PJRT_Client_Devices_Args>();
  args.struct_size = 8;
  CHECK(messageOf(api.PJRT_Client_Devices(&args)).find("expected at least") != std::string::npos);
}

static void movesArrays() {
  for (auto semantics :
       {PJRT_HostBufferSemantics_kImmutableOnlyDuringCall, PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes,
        PJRT_HostBufferSemantics_kImmutableZeroCopy, PJRT_HostBufferSemantics_kMutableZeroCopy}) {
    std::vector<float> data(count, 3), back;
    PJRT_Event *done = nullptr;
    PJRT_Buffer *buffer = fromHost(data, semantics, &done);
    CHECK(toHost(buffer, back) == "" && back == data);
    destroy(buffer);
    CHECK(await(done) == "");
  }
}

static void runsPrograms() {
  for (const char *name : {"now", "later"}) {
    PJRT_LoadedExecutable *executable = compile(name);
    PJRT_Buffer *argument = ones(), *result = nullptr;
    CHECK(execute(executable, argument, result) == "");
    std::vector<float> back;
    CHECK(toHost(result, back) == "" && back == std::vector<float>(count, 2));
    CHECK(!isDeleted(argument));
    destroy(argument);
    destroy(result);
    destroy(executable);
  }
}

static void donatesMemory() {
  PJRT_LoadedExecutable *executable = compile("donating");
  PJRT_Buffer *argument = ones(), *result = nullptr, *other = nullptr;
  uintptr_t before = pointerOf(argument);
  CHECK(execute(executable, argument, result) == "");
  CHECK(isDeleted(argument) && pointerOf(result) == before);
  CHECK(execute(executable, argument, other).find("deleted or donated") != std::string::npos);
  destroy(argument);
  // An array that others hold gives a copy.
  auto hold = make<PJRT_Buffer_IncreaseExternalReferenceCount_Args>();
  hold.buffer = result;
  OK(api.PJRT_Buffer_IncreaseExternalReferenceCount(&hold));
  CHECK(execute(executable, result, other) == "");
  CHECK(pointerOf(other) != before && *reinterpret_cast<float *>(before) == 2);
  auto unhold = make<PJRT_Buffer_DecreaseExternalReferenceCount_Args>();
  unhold.buffer = result;
  OK(api.PJRT_Buffer_DecreaseExternalReferenceCount(&unhold));
  destroy(result);
  destroy(other);
  destroy(executable);
}

static void poisonsWhatDepends() {
  PJRT_LoadedExecutable *failing = compile("fail"), *adding = compile("now");
  PJRT_Buffer *argument = ones(), *failed = nullptr, *poisoned = nullptr;
  CHECK(execute(failing, argument, failed).find("fail") != std::string::npos);
  CHECK(execute(adding, failed, poisoned).find("fail") != std::string::npos);
  std::vector<float> back;
  CHECK(toHost(poisoned, back).find("fail") != std::string::npos);
  for (PJRT_Buffer *buffer : {argument, failed, poisoned})
    destroy(buffer);
  destroy(failing);
  destroy(adding);
}

static void tellsErrorsOfCompilation() {
  std::string message;
  compile("nonsense", &message);
  CHECK(message == "line 1: nonsense is no program");
}

static void callsBack() {
  auto made = make<PJRT_Event_Create_Args>();
  OK(api.PJRT_Event_Create(&made));
  std::string said = "nothing";
  auto ready = make<PJRT_Event_OnReady_Args>();
  ready.event = made.event;
  ready.user_arg = &said;
  ready.callback = [](PJRT_Error *error, void *given) { *static_cast<std::string *>(given) = messageOf(error); };
  OK(api.PJRT_Event_OnReady(&ready));
  CHECK(said == "nothing");
  auto set = make<PJRT_Event_Set_Args>();
  set.event = made.event;
  set.error_code = PJRT_Error_Code_ABORTED;
  set.error_message = "enough";
  set.error_message_size = 6;
  OK(api.PJRT_Event_Set(&set));
  CHECK(said == "enough");
  CHECK(await(made.event) == "enough");
}

static void servesManyThreads() {
  PJRT_LoadedExecutable *executable = compile("later");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) {
        PJRT_Buffer *array = ones();
        for (int step = 0; step < 3; ++step) {
          PJRT_Buffer *next = nullptr;
          CHECK(execute(executable, array, next) == "");
          destroy(array);
          array = next;
        }
        std::vector<float> back;
        CHECK(toHost(array, back) == "" && back == std::vector<float>(count, 4));
        destroy(array);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  destroy(executable);
}

static void serializes() {
  PJRT_LoadedExecutable *executable = compile("now");
  auto get = make<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = executable;
  OK(api.PJRT_LoadedExecutable_GetExecutable(&get));
  auto bytes = make<PJRT_Executable_Serialize_Args>();
  bytes.executable = get.executable;
  OK(api.PJRT_Executable_Serialize(&bytes));
  auto load = make<PJRT_Executable_DeserializeAndLoad_Args>();
  load.client = client();
  load.serialized_executable = bytes.serialized_bytes;
  load.serialized_executable_size = bytes.serialized_bytes_size;
  OK(api.PJRT_Executable_DeserializeAndLoad(&load));
  bytes.serialized_executable_deleter(bytes.serialized_executable);
  auto destroyed = make<PJRT_Executable_Destroy_Args>();
  destroyed.executable = get.executable;
  OK(api.PJRT_Executable_Destroy(&destroyed));
  PJRT_Buffer *argument = ones(), *result = nullptr;
  CHECK(execute(load.loaded_executable, argument, result) == "");
  destroy(argument);
  destroy(result);
  destroy(load.loaded_executable);
  destroy(executable);
}

int main() {
  static StandIn standIn;
  pjrt::setCompiler(&standIn);
  RUN(hasDevices);
  RUN(tellsShardings);
  RUN(checksSizes);
  RUN(movesArrays);
  RUN(runsPrograms);
  RUN(donatesMemory);
  RUN(poisonsWhatDepends);
  RUN(tellsErrorsOfCompilation);
  RUN(callsBack);
  RUN(servesManyThreads);
  RUN(serializes);
  return test::failures() != 0;
}
