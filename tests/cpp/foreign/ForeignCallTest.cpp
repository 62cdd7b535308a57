// Calls of C functions: the call frame of handlers, their errors, stages, tasks and futures; plain functions.
#include "runtime/ForeignCall.h"
#include "Check.h"
#include "runtime/CpuDevice.h"
#include "runtime/Executable.h"
#include "runtime/PlainCall.h"
#include "runtime/ThreadPool.h"

#include "xla/ffi/api/c_api.h"

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
  RUN(aStatusFails);
  return test::failures() != 0;
}
