// Calls of C functions: the call frame of handlers, their errors, stages, tasks and futures; plain functions.
#include "runtime/ForeignCall.h"
#include "Check.h"
#include "runtime/CpuDevice.h"
#include "runtime/Executable.h"
#include "runtime/PlainCall.h"
#include "runtime/ThreadPool.h"

#include "xla/ffi/api/c_api.h"

#include <complex>
#include <cstring>
#include <thread>

using namespace pcrt;

namespace {
struct Fixture {
  ~Fixture() { pool.shutdown(); }

  Status invoke(HostCallback &call, const std::vector<PcrtTensor> &inputs, const std::vector<PcrtTensor> &outputs) {
    return call.invoke(&context, inputs.data(), static_cast<int32_t>(inputs.size()), outputs.data(),
                       static_cast<int32_t>(outputs.size()));
  }

  ThreadPool pool{1};
  CpuDevice device{3, pool, /*inPlace=*/false};
  Executable executable{[](const PcrtFrame *) -> int32_t { return PCRT_OK; }, 0, "calls", 100, true};
  RunContext context{device, executable};
};
} // namespace

template <typename F> static ForeignTarget executes(F handler) {
  ForeignTarget target;
  target.execute = reinterpret_cast<void *>(static_cast<XLA_FFI_Handler *>(handler));
  return target;
}

static RefPtr<HostCallback> callOf(const ForeignTarget &target, size_t inputs, size_t outputs,
                                   std::vector<ForeignAttribute> attributes = {},
                                   std::vector<ForeignAlias> aliases = {}) {
  auto made = foreignCall("f", target, std::move(attributes), std::vector<ForeignOrder>(inputs),
                          std::vector<ForeignOrder>(outputs), std::move(aliases));
  REQUIRE(made.isOk());
  return made.take();
}

static XLA_FFI_Error *failure(XLA_FFI_CallFrame *frame, const char *message, XLA_FFI_Error_Code code) {
  XLA_FFI_Error_Create_Args args{XLA_FFI_Error_Create_Args_STRUCT_SIZE, nullptr, message, code};
  return frame->api->XLA_FFI_Error_Create(&args);
}

static XLA_FFI_Buffer &argument(XLA_FFI_CallFrame *frame, int i) {
  return *static_cast<XLA_FFI_Buffer *>(frame->args.args[i]);
}
static XLA_FFI_Buffer &result(XLA_FFI_CallFrame *frame, int i) {
  return *static_cast<XLA_FFI_Buffer *>(frame->rets.rets[i]);
}

static void theFrameHasOperandsAndAttributes() {
  Fixture f;
  double by = 2.5;
  std::string bytes(sizeof(by), '\0');
  std::memcpy(bytes.data(), &by, sizeof(by));
  std::vector<ForeignAttribute> attributes = {
      {"by", ForeignAttribute::Kind::Scalar, DType::Float64, bytes, {}},
      {"inner",
       ForeignAttribute::Kind::Dictionary,
       DType::Bool,
       "",
       {{"text", ForeignAttribute::Kind::String, DType::Bool, "abc", {}}}},
      {"numbers", ForeignAttribute::Kind::Array, DType::Float64, bytes + bytes, {}}};
  RefPtr<HostCallback> call =
      callOf(executes([](XLA_FFI_CallFrame *frame) -> XLA_FFI_Error * {
               CHECK(frame->stage == XLA_FFI_ExecutionStage_EXECUTE && frame->args.size == 1 && frame->rets.size == 1);
               XLA_FFI_Buffer &x = argument(frame, 0), &y = result(frame, 0);
               CHECK(x.dtype == XLA_FFI_DataType_F64 && x.rank == 2 && x.dims[0] == 2 && x.dims[1] == 3);
               CHECK(frame->attrs.size == 3 && !std::memcmp(frame->attrs.names[1]->ptr, "inner", 5));
               auto *inner = static_cast<XLA_FFI_Attrs *>(frame->attrs.attrs[1]);
               auto *text = static_cast<XLA_FFI_ByteSpan *>(inner->attrs[0]);
               CHECK(inner->types[0] == XLA_FFI_AttrType_STRING && text->len == 3 && !std::memcmp(text->ptr, "abc", 3));
               auto *numbers = static_cast<XLA_FFI_Array *>(frame->attrs.attrs[2]);
               CHECK(numbers->size == 2 && numbers->dtype == XLA_FFI_DataType_F64);
               double by = *static_cast<double *>(static_cast<XLA_FFI_Scalar *>(frame->attrs.attrs[0])->value);
               for (int i = 0; i < 6; ++i)
                 static_cast<double *>(y.data)[i] = by * static_cast<double *>(x.data)[i];
               return nullptr;
             }),
             1, 1, attributes);
  int64_t dims[] = {2, 3};
  double x[] = {1, 2, 3, 4, 5, 6}, y[6] = {};
  CHECK(f.invoke(*call, {{x, dims, 2, PCRT_DTYPE_Float64}}, {{y, dims, 2, PCRT_DTYPE_Float64}}).isOk());
  CHECK(y[0] == 2.5 && y[5] == 15);
  CHECK(!f.invoke(*call, {}, {}).isOk());
}

static void anErrorHasItsNameAndText() {
  Fixture f;
  RefPtr<HostCallback> call = callOf(executes([](XLA_FFI_CallFrame *frame) -> XLA_FFI_Error * {
                                       return failure(frame, "too far", XLA_FFI_Error_Code_OUT_OF_RANGE);
                                     }),
                                     0, 0);
  Status status = f.invoke(*call, {}, {});
  CHECK(status.code() == Code::LibraryFailed && status.message() == "f: OUT_OF_RANGE: too far");
}

static void anAliasIsOneMemory() {
  Fixture f;
  RefPtr<HostCallback> call = callOf(executes([](XLA_FFI_CallFrame *frame) -> XLA_FFI_Error * {
                                       CHECK(argument(frame, 0).data == result(frame, 0).data);
                                       ++*static_cast<int32_t *>(result(frame, 0).data);
                                       return nullptr;
                                     }),
                                     1, 1, {}, {{0, 0}});
  int32_t x = 4, y = 0;
  CHECK(f.invoke(*call, {{&x, nullptr, 0, PCRT_DTYPE_Int32}}, {{&y, nullptr, 0, PCRT_DTYPE_Int32}}).isOk());
  CHECK(x == 4 && y == 5);
  CHECK(
      !foreignCall("f", executes([](XLA_FFI_CallFrame *) -> XLA_FFI_Error * { return nullptr; }), {}, {}, {}, {{0, 0}})
           .isOk());
}

/// The handler returns before its work is done, which another thread ends.
static void aFutureIsWaitedFor() {
  Fixture f;
  static XLA_FFI_CallFrame *seen;
  RefPtr<HostCallback> call =
      callOf(executes([](XLA_FFI_CallFrame *frame) -> XLA_FFI_Error * {
               XLA_FFI_Future_Create_Args made{XLA_FFI_Future_Create_Args_STRUCT_SIZE, nullptr, nullptr};
               frame->api->XLA_FFI_Future_Create(&made);
               frame->future = made.future;
               seen = frame;
               XLA_FFI_ThreadPool_Schedule_Args task{XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE, nullptr, frame->ctx,
                                                     [](void *future) {
                                                       std::this_thread::sleep_for(std::chrono::milliseconds(5));
                                                       XLA_FFI_Future_SetError_Args end{
                                                           XLA_FFI_Future_SetError_Args_STRUCT_SIZE, nullptr,
                                                           static_cast<XLA_FFI_Future *>(future),
                                                           failure(seen, "late", XLA_FFI_Error_Code_ABORTED)};
                                                       seen->api->XLA_FFI_Future_SetError(&end);
                                                     },
                                                     made.future};
               return frame->api->XLA_FFI_ThreadPool_Schedule(&task);
             }),
             0, 0);
  CHECK(f.invoke(*call, {}, {}).message() == "f: ABORTED: late");
}

static int statesAlive = 0;
static XLA_FFI_TypeId stateType{0};

static void stateIsOfTheCallSite() {
  Fixture f;
  XLA_FFI_TypeInfo info{XLA_FFI_TypeInfo_STRUCT_SIZE, nullptr, [](void *object) {
                          --statesAlive;
                          delete static_cast<int *>(object);
                        }};
  CHECK(registerForeignType("State", &stateType, &info).isOk() && stateType.type_id != 0);
  CHECK(registerForeignType("State", &stateType, &info).isOk());
  XLA_FFI_TypeId other{1};
  CHECK(!registerForeignType("State", &other, &info).isOk());
  ForeignTarget target = executes([](XLA_FFI_CallFrame *frame) -> XLA_FFI_Error * {
    XLA_FFI_State_Get_Args args{XLA_FFI_State_Get_Args_STRUCT_SIZE, nullptr,    frame->ctx,
                                XLA_FFI_ExecutionStage_INSTANTIATE, &stateType, nullptr};
    if (XLA_FFI_Error *error = frame->api->XLA_FFI_State_Get(&args))
      return error;
    *static_cast<int32_t *>(result(frame, 0).data) = ++*static_cast<int *>(args.state);
    return nullptr;
  });
  target.instantiate = reinterpret_cast<void *>(static_cast<XLA_FFI_Handler *>([](XLA_FFI_CallFrame *frame) {
    ++statesAlive;
    XLA_FFI_State_Set_Args args{XLA_FFI_State_Set_Args_STRUCT_SIZE, nullptr,    frame->ctx,
                                XLA_FFI_ExecutionStage_INSTANTIATE, &stateType, new int(10)};
    return frame->api->XLA_FFI_State_Set(&args);
  }));
  RefPtr<HostCallback> call = callOf(target, 0, 1);
  int32_t y = 0;
  for (int i = 1; i < 4; ++i)
    CHECK(f.invoke(*call, {}, {{&y, nullptr, 0, PCRT_DTYPE_Int32}}).isOk() && y == 10 + i);
  CHECK(statesAlive == 1);
  call = nullptr;
  CHECK(statesAlive == 0);
}

/// The name and text of an error of the interface, which is destroyed.
static std::string textOf(const XLA_FFI_Api *api, XLA_FFI_Error *error) {
  if (!error)
    return "";
  XLA_FFI_Error_GetMessage_Args message{XLA_FFI_Error_GetMessage_Args_STRUCT_SIZE, nullptr, error, nullptr};
  api->XLA_FFI_Error_GetMessage(&message);
  std::string text = message.message;
  XLA_FFI_Error_Destroy_Args args{XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, nullptr, error};
  api->XLA_FFI_Error_Destroy(&args);
  return text;
}

static bool mentions(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

static void theContextOfARun() {
  Fixture f;
  static int runs;
  runs = 0;
  ForeignTarget target = executes([](XLA_FFI_CallFrame *frame) -> XLA_FFI_Error * {
    const XLA_FFI_Api *api = frame->api;
    XLA_FFI_DeviceOrdinal_Get_Args device{XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE, nullptr, frame->ctx, -1};
    CHECK(!api->XLA_FFI_DeviceOrdinal_Get(&device) && device.device_ordinal == 3);
    int64_t count = 0;
    XLA_FFI_ThreadPool_NumThreads_Args threads{XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE, nullptr, frame->ctx,
                                               &count};
    CHECK(!api->XLA_FFI_ThreadPool_NumThreads(&threads) && count == 1);
    XLA_FFI_RunId_Get_Args run{XLA_FFI_RunId_Get_Args_STRUCT_SIZE, nullptr, frame->ctx, -1};
    CHECK(!api->XLA_FFI_RunId_Get(&run));
    XLA_FFI_DeviceMemory_Allocate_Args memory{
        XLA_FFI_DeviceMemory_Allocate_Args_STRUCT_SIZE, nullptr, frame->ctx, 1000, 256, nullptr};
    CHECK(!api->XLA_FFI_DeviceMemory_Allocate(&memory) && reinterpret_cast<uintptr_t>(memory.data) % 256 == 0);
    std::memset(memory.data, 1, 1000);
    XLA_FFI_DeviceMemory_Free_Args end{XLA_FFI_DeviceMemory_Free_Args_STRUCT_SIZE, nullptr, frame->ctx, memory.size,
                                       memory.data};
    CHECK(!api->XLA_FFI_DeviceMemory_Free(&end));
    XLA_FFI_Stream_Get_Args stream{XLA_FFI_Stream_Get_Args_STRUCT_SIZE, nullptr, frame->ctx, nullptr};
    CHECK(mentions(textOf(api, api->XLA_FFI_Stream_Get(&stream)), "the host, which has no stream"));
    XLA_FFI_ExecutionContext_Get_Args data{XLA_FFI_ExecutionContext_Get_Args_STRUCT_SIZE, nullptr, frame->ctx, nullptr,
                                           nullptr};
    CHECK(mentions(textOf(api, api->XLA_FFI_ExecutionContext_Get(&data)), "no data of the user"));
    XLA_FFI_Handler_Register_Args handler{};
    CHECK(mentions(textOf(api, api->XLA_FFI_Handler_Register(&handler)), "ffi.register_ffi_target"));
    ++runs;
    return nullptr;
  });
  // The same, before a run: a device and its threads are not known.
  target.instantiate =
      reinterpret_cast<void *>(static_cast<XLA_FFI_Handler *>([](XLA_FFI_CallFrame *frame) -> XLA_FFI_Error * {
        const XLA_FFI_Api *api = frame->api;
        XLA_FFI_DeviceOrdinal_Get_Args device{XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE, nullptr, frame->ctx, -1};
        CHECK(mentions(textOf(api, api->XLA_FFI_DeviceOrdinal_Get(&device)), "the device exists only in a run"));
        int64_t count = 0;
        XLA_FFI_ThreadPool_NumThreads_Args threads{XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE, nullptr, frame->ctx,
                                                   &count};
        CHECK(mentions(textOf(api, api->XLA_FFI_ThreadPool_NumThreads(&threads)),
                       "the thread pool exists only in a run"));
        XLA_FFI_ThreadPool_Schedule_Args task{XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE, nullptr, frame->ctx,
                                              [](void *) {}, nullptr};
        CHECK(mentions(textOf(api, api->XLA_FFI_ThreadPool_Schedule(&task)), "the thread pool exists only in a run"));
        ++runs;
        return nullptr;
      }));
  RefPtr<HostCallback> call = callOf(target, 0, 0);
  CHECK(f.invoke(*call, {}, {}).isOk() && runs == 2);
}

/// A state that is not there, of a type that is not registered, or of another type.
static void statesAreChecked() {
  Fixture f;
  static XLA_FFI_TypeId unregistered{12345}, number{0}, text{0};
  XLA_FFI_TypeInfo info{XLA_FFI_TypeInfo_STRUCT_SIZE, nullptr, [](void *) {}};
  CHECK(registerForeignType("Number", &number, &info).isOk());
  XLA_FFI_TypeId same = number;
  CHECK(mentions(registerForeignType("Numeral", &same, &info).message(), "belongs to another type"));
  static int value;
  auto get = [](XLA_FFI_CallFrame *frame, XLA_FFI_TypeId &type) {
    XLA_FFI_State_Get_Args args{XLA_FFI_State_Get_Args_STRUCT_SIZE, nullptr, frame->ctx,
                                XLA_FFI_ExecutionStage_INSTANTIATE, &type,   nullptr};
    return textOf(frame->api, frame->api->XLA_FFI_State_Get(&args));
  };
  auto set = [](XLA_FFI_CallFrame *frame, XLA_FFI_TypeId &type) {
    XLA_FFI_State_Set_Args args{XLA_FFI_State_Set_Args_STRUCT_SIZE, nullptr, frame->ctx,
                                XLA_FFI_ExecutionStage_INSTANTIATE, &type,   &value};
    return textOf(frame->api, frame->api->XLA_FFI_State_Set(&args));
  };
  static decltype(get) getState = get;
  static decltype(set) setState = set;
  ForeignTarget target = executes([](XLA_FFI_CallFrame *frame) -> XLA_FFI_Error * {
    CHECK(getState(frame, number).empty());
    CHECK(mentions(getState(frame, text), "the state of the stage has the type"));
    CHECK(mentions(setState(frame, number), "the state of the stage is set, or can't be set now"));
    return nullptr;
  });
  target.instantiate =
      reinterpret_cast<void *>(static_cast<XLA_FFI_Handler *>([](XLA_FFI_CallFrame *frame) -> XLA_FFI_Error * {
        // A library registers its types when it is first called.
        XLA_FFI_TypeInfo info{XLA_FFI_TypeInfo_STRUCT_SIZE, nullptr, [](void *) {}};
        XLA_FFI_Type_Register_Args type{XLA_FFI_Type_Register_Args_STRUCT_SIZE, nullptr, {"Text", 4}, &text, &info};
        CHECK(!frame->api->XLA_FFI_Type_Register(&type) && text.type_id != 0);
        CHECK(mentions(getState(frame, number), "the stage has no state"));
        CHECK(mentions(setState(frame, unregistered), "call ffi.register_ffi_type first"));
        CHECK(setState(frame, number).empty());
        return nullptr;
      }));
  RefPtr<HostCallback> call = callOf(target, 0, 0);
  CHECK(f.invoke(*call, {}, {}).isOk());
}

/// More operands than a frame has places for, and those in another order of dimensions.
static void manyOperandsInAnotherOrder() {
  Fixture f;
  ForeignTarget target = executes([](XLA_FFI_CallFrame *frame) -> XLA_FFI_Error * {
    CHECK(frame->args.size == 9);
    int32_t sum = 0;
    for (int i = 0; i < 9; ++i) {
      XLA_FFI_Buffer &x = argument(frame, i);
      CHECK(x.rank == 2 && x.dims[0] == (i == 4 ? 3 : 1) && x.dims[1] == (i == 4 ? 1 : 3));
      sum += static_cast<int32_t *>(x.data)[2];
    }
    *static_cast<int32_t *>(result(frame, 0).data) = sum;
    return nullptr;
  });
  std::vector<ForeignOrder> orders(9);
  orders[4] = {1, 0};
  auto call = foreignCall("f", target, {}, orders, {{}}, {}).take();
  int64_t dims[] = {1, 3};
  int32_t x[] = {0, 0, 5}, y = 0;
  std::vector<PcrtTensor> inputs(9, {x, dims, 2, PCRT_DTYPE_Int32});
  CHECK(f.invoke(*call, inputs, {{&y, nullptr, 0, PCRT_DTYPE_Int32}}).isOk() && y == 45);
  // A type that XLA's FFI does not have.
  inputs[8].dtype = static_cast<int32_t>(DType::Float6E2M3FN);
  CHECK(mentions(f.invoke(*call, inputs, {{&y, nullptr, 0, PCRT_DTYPE_Int32}}).message(),
                 "f: XLA's FFI has no element type"));
}

/// A handler tells the version of the interface that it was compiled for.
template <int major, int minor> static XLA_FFI_Error *ofVersion(XLA_FFI_CallFrame *frame) {
  auto *extension = reinterpret_cast<XLA_FFI_Metadata_Extension *>(frame->extension_start);
  CHECK(extension && extension->extension_base.type == XLA_FFI_Extension_Metadata);
  extension->metadata->api_version.major_version = major;
  extension->metadata->api_version.minor_version = minor;
  return nullptr;
}

static void versionsAreChecked() {
  auto message = [](XLA_FFI_Handler *handler) {
    return checkForeignHandler(reinterpret_cast<void *>(handler)).message();
  };
  CHECK(message(ofVersion<XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR>).empty());
  CHECK(message(ofVersion<XLA_FFI_API_MAJOR, 0>).empty());
  CHECK(mentions(message(ofVersion<XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR + 1>), "was compiled for version"));
  CHECK(mentions(message(ofVersion<XLA_FFI_API_MAJOR + 7, 0>), "ffi.include_dir()"));
  CHECK(mentions(
      message([](XLA_FFI_CallFrame *frame) { return failure(frame, "no metadata", XLA_FFI_Error_Code_UNIMPLEMENTED); }),
      "no metadata"));
}

static double mixed(int8_t a, float b, int64_t c, double d, uint16_t e, int64_t g, int64_t h, int64_t i, float j,
                    int32_t k, const double *x) {
  return a + 2.0 * b + 3.0 * c + 4.0 * d + 5.0 * e + 6.0 * g + 7.0 * h + 8.0 * i + 9.0 * j + 10.0 * k + 11.0 * x[1];
}

static void aPlainFunctionGetsItsParameters() {
  Fixture f;
  using Kind = ForeignParameter::Kind;
  std::vector<ForeignParameter> parameters;
  for (int i = 0; i < 6; ++i)
    parameters.push_back({Kind::Value, i});
  parameters.push_back({Kind::Size, 8, 0});
  parameters.push_back({Kind::Constant, 0, 0, -9});
  parameters.push_back({Kind::Value, 6});
  parameters.push_back({Kind::Value, 7});
  parameters.push_back({Kind::Input, 8});
  auto call = plainForeignCall("mixed", reinterpret_cast<void *>(mixed), parameters, ForeignReturn::Value, {}).take();
  int8_t a = -3;
  float b = 1.5, j = -0.5;
  int64_t c = int64_t(1) << 40, g = -7;
  double d = 0.25, x[] = {1, 2, 3}, y = 0;
  uint16_t e = 65000;
  int32_t k = -14;
  int64_t three = 3;
  std::vector<PcrtTensor> inputs = {
      {&a, nullptr, 0, PCRT_DTYPE_Int8},    {&b, nullptr, 0, PCRT_DTYPE_Float32}, {&c, nullptr, 0, PCRT_DTYPE_Int64},
      {&d, nullptr, 0, PCRT_DTYPE_Float64}, {&e, nullptr, 0, PCRT_DTYPE_UInt16},  {&g, nullptr, 0, PCRT_DTYPE_Int64},
      {&j, nullptr, 0, PCRT_DTYPE_Float32}, {&k, nullptr, 0, PCRT_DTYPE_Int32},   {x, &three, 1, PCRT_DTYPE_Float64}};
  CHECK(f.invoke(*call, inputs, {{&y, nullptr, 0, PCRT_DTYPE_Float64}}).isOk());
  CHECK(y == mixed(a, b, c, d, e, g, 3, -9, j, k, x));
  inputs.pop_back();
  CHECK(f.invoke(*call, inputs, {{&y, nullptr, 0, PCRT_DTYPE_Float64}}).code() == Code::InvalidArgument);
}

/// What a function returns for one integer of each type, of all that C has.
template <typename T> static T next(T x) { return static_cast<T>(x + 1); }

template <typename T> static void checkNext(Fixture &f, int32_t dtype, T x) {
  auto call = plainForeignCall("next", reinterpret_cast<void *>(next<T>), {{ForeignParameter::Kind::Value, 0}},
                               ForeignReturn::Value, {})
                  .take();
  T y = 0;
  CHECK(f.invoke(*call, {{&x, nullptr, 0, dtype}}, {{&y, nullptr, 0, dtype}}).isOk());
  CHECK(y == next(x));
}

static void anyNumberIsGivenAndReturned() {
  Fixture f;
  checkNext<int8_t>(f, PCRT_DTYPE_Int8, -100);
  checkNext<int16_t>(f, PCRT_DTYPE_Int16, -30000);
  checkNext<int32_t>(f, PCRT_DTYPE_Int32, -2000000000);
  checkNext<int64_t>(f, PCRT_DTYPE_Int64, -(int64_t(1) << 60));
  checkNext<uint8_t>(f, PCRT_DTYPE_UInt8, 250);
  checkNext<uint16_t>(f, PCRT_DTYPE_UInt16, 65000);
  checkNext<uint32_t>(f, PCRT_DTYPE_UInt32, 4000000000);
  checkNext<uint64_t>(f, PCRT_DTYPE_UInt64, uint64_t(-3));
  checkNext<float>(f, PCRT_DTYPE_Float32, 0.25f);
  checkNext<double>(f, PCRT_DTYPE_Float64, -1e300);
  auto call = plainForeignCall("not", reinterpret_cast<void *>(+[](bool x) { return !x; }),
                               {{ForeignParameter::Kind::Value, 0}}, ForeignReturn::Value, {})
                  .take();
  for (bool x : {false, true}) {
    bool y = x;
    CHECK(f.invoke(*call, {{&x, nullptr, 0, PCRT_DTYPE_Bool}}, {{&y, nullptr, 0, PCRT_DTYPE_Bool}}).isOk() && y == !x);
  }
}

/// A function that works in place gets the memory of its result, which holds the operand.
static void aPlainAliasIsOneMemory() {
  Fixture f;
  auto call = plainForeignCall("f", reinterpret_cast<void *>(+[](const int32_t *x, int32_t *y) { *y = *x + 10 * *y; }),
                               {{ForeignParameter::Kind::Input, 0}, {ForeignParameter::Kind::Output, 0}},
                               ForeignReturn::Nothing, {{0, 0}})
                  .take();
  int32_t x = 4, y = 0;
  CHECK(f.invoke(*call, {{&x, nullptr, 0, PCRT_DTYPE_Int32}}, {{&y, nullptr, 0, PCRT_DTYPE_Int32}}).isOk());
  CHECK(x == 4 && y == 44);
}

/// Operands other than those that the call was compiled for: nothing is called.
static void otherSignaturesAreRefused() {
  Fixture f;
  using Kind = ForeignParameter::Kind;
  static int calls;
  calls = 0;
  void *function = reinterpret_cast<void *>(+[] { ++calls; });
  int64_t dims[] = {1};
  double x = 0;
  std::complex<float> z;
  PcrtTensor number = {&x, dims, 1, PCRT_DTYPE_Float64}, complexNumber = {&z, dims, 1, PCRT_DTYPE_Complex64};
  auto refuses = [&](std::vector<ForeignParameter> parameters, ForeignReturn returns,
                     std::vector<std::pair<int, int>> aliases, const std::vector<PcrtTensor> &inputs,
                     const std::vector<PcrtTensor> &outputs) {
    auto call = plainForeignCall("f", function, std::move(parameters), returns, std::move(aliases)).take();
    return f.invoke(*call, inputs, outputs).message() == "f: compiled for another signature";
  };
  CHECK(refuses({}, ForeignReturn::Nothing, {{0, 0}}, {number}, {}));
  CHECK(refuses({}, ForeignReturn::Nothing, {{0, 0}}, {}, {number}));
  CHECK(refuses({{Kind::Input, 1}}, ForeignReturn::Nothing, {}, {number}, {number}));
  CHECK(refuses({{Kind::Output, 1}}, ForeignReturn::Nothing, {}, {number, number}, {number}));
  CHECK(refuses({{Kind::Value, 0}}, ForeignReturn::Nothing, {}, {}, {number}));
  CHECK(refuses({{Kind::Value, 0}}, ForeignReturn::Nothing, {}, {complexNumber}, {}));
  CHECK(refuses({{Kind::Size, 2, 0}}, ForeignReturn::Nothing, {}, {number}, {number}));
  CHECK(refuses({{Kind::Size, 0, 1}}, ForeignReturn::Nothing, {}, {number}, {}));
  CHECK(refuses(std::vector<ForeignParameter>(mostForeignFloats + 1, {Kind::Value, 0}), ForeignReturn::Nothing, {},
                {number}, {}));
  CHECK(refuses(std::vector<ForeignParameter>(mostForeignIntegers + 1, {Kind::Constant}), ForeignReturn::Nothing, {},
                {}, {}));
  CHECK(refuses({}, ForeignReturn::Value, {}, {number}, {}));
  CHECK(refuses({}, ForeignReturn::Value, {}, {number}, {complexNumber}));
  CHECK(calls == 0);
  std::vector<ForeignParameter> many(mostForeignIntegers + mostForeignFloats + 1, {Kind::Constant});
  CHECK(plainForeignCall("f", function, many, ForeignReturn::Nothing, {}).status().message() ==
        "f: too many parameters");
}

static void aStatusFails() {
  Fixture f;
  auto call = plainForeignCall("f", reinterpret_cast<void *>(+[](const int32_t *x) { return *x; }),
                               {{ForeignParameter::Kind::Input, 0}}, ForeignReturn::Status, {})
                  .take();
  int32_t x = 0;
  CHECK(f.invoke(*call, {{&x, nullptr, 0, PCRT_DTYPE_Int32}}, {}).isOk());
  x = 5;
  CHECK(f.invoke(*call, {{&x, nullptr, 0, PCRT_DTYPE_Int32}}, {}).message() == "f: returned the status 5");
}

int main() {
  RUN(theFrameHasOperandsAndAttributes);
  RUN(anErrorHasItsNameAndText);
  RUN(anAliasIsOneMemory);
  RUN(aFutureIsWaitedFor);
  RUN(stateIsOfTheCallSite);
  RUN(aPlainFunctionGetsItsParameters);
  RUN(theContextOfARun);
  RUN(statesAreChecked);
  RUN(manyOperandsInAnotherOrder);
  RUN(versionsAreChecked);
  RUN(anyNumberIsGivenAndReturned);
  RUN(aPlainAliasIsOneMemory);
  RUN(otherSignaturesAreRefused);
  RUN(aStatusFails);
  return test::failures() != 0;
}
