// Calls of handlers of XLA's FFI: their attributes, and the call frame of each stage.
#include "runtime/ForeignCall.h"

#include "foreign/Handlers.h"
#include "memory/HostOperands.h"
#include "runtime/Profile.h"

#include <array>
#include <atomic>
#include <cstring>
#include <cxxabi.h>
#include <deque>
#include <exception>
#include <new>

using namespace pcrt;

//===-- Element types
//-----------------------------------------------------------------------------------------------===//

static XLA_FFI_DataType elementType(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return XLA_FFI_DataType_PRED;
  case DType::Int8:
    return XLA_FFI_DataType_S8;
  case DType::Int16:
    return XLA_FFI_DataType_S16;
  case DType::Int32:
    return XLA_FFI_DataType_S32;
  case DType::Int64:
    return XLA_FFI_DataType_S64;
  case DType::UInt8:
    return XLA_FFI_DataType_U8;
  case DType::UInt16:
    return XLA_FFI_DataType_U16;
  case DType::UInt32:
    return XLA_FFI_DataType_U32;
  case DType::UInt64:
    return XLA_FFI_DataType_U64;
  case DType::Float16:
    return XLA_FFI_DataType_F16;
  case DType::BFloat16:
    return XLA_FFI_DataType_BF16;
  case DType::Float32:
    return XLA_FFI_DataType_F32;
  case DType::Float64:
    return XLA_FFI_DataType_F64;
  case DType::Complex64:
    return XLA_FFI_DataType_C64;
  case DType::Complex128:
    return XLA_FFI_DataType_C128;
  case DType::Float8E4M3FN:
    return XLA_FFI_DataType_F8E4M3FN;
  case DType::Float8E5M2:
    return XLA_FFI_DataType_F8E5M2;
  case DType::Float8E3M4:
    return XLA_FFI_DataType_F8E3M4;
  case DType::Float8E4M3:
    return XLA_FFI_DataType_F8E4M3;
  case DType::Float8E4M3B11FNUZ:
    return XLA_FFI_DataType_F8E4M3B11FNUZ;
  case DType::Float8E4M3FNUZ:
    return XLA_FFI_DataType_F8E4M3FNUZ;
  case DType::Float8E5M2FNUZ:
    return XLA_FFI_DataType_F8E5M2FNUZ;
  case DType::Float8E8M0FNU:
    return XLA_FFI_DataType_F8E8M0FNU;
  case DType::Float4E2M1FN:
    return XLA_FFI_DataType_F4E2M1FN;
  case DType::Int1:
    return XLA_FFI_DataType_S1;
  case DType::Int2:
    return XLA_FFI_DataType_S2;
  case DType::Int4:
    return XLA_FFI_DataType_S4;
  case DType::UInt1:
    return XLA_FFI_DataType_U1;
  case DType::UInt2:
    return XLA_FFI_DataType_U2;
  case DType::UInt4:
    return XLA_FFI_DataType_U4;
  case DType::Float6E2M3FN:
  case DType::Float6E3M2FN:
  case DType::Key:
    return XLA_FFI_DataType_INVALID;
  }
  return XLA_FFI_DataType_INVALID;
}

//===-- Attributes
//--------------------------------------------------------------------------------------------------===//

namespace {
/// The attributes in the form of the interface. The given ones must outlive it.
class AttributeTable {
public:
  explicit AttributeTable(const std::vector<ForeignAttribute> &given) {
    for (const ForeignAttribute &attribute : given) {
      spans.push_back(spanOf(attribute.name));
      names.push_back(&spans.back());
      add(attribute);
    }
    table.struct_size = XLA_FFI_Attrs_STRUCT_SIZE;
    table.size = static_cast<int64_t>(types.size());
    table.types = types.data();
    table.names = names.data();
    table.attrs = values.data();
  }
  AttributeTable(const AttributeTable &) = delete;
  AttributeTable &operator=(const AttributeTable &) = delete;

  XLA_FFI_Attrs table{};

private:
  static XLA_FFI_ByteSpan spanOf(const std::string &text) { return {text.data(), text.size()}; }

  void add(const ForeignAttribute &attribute) {
    // Handlers only read them.
    char *bytes = const_cast<char *>(attribute.bytes.data());
    switch (attribute.kind) {
    case ForeignAttribute::Kind::Scalar:
      types.push_back(XLA_FFI_AttrType_SCALAR);
      values.push_back(&scalars.emplace_back(XLA_FFI_Scalar{elementType(attribute.dtype), bytes}));
      return;
    case ForeignAttribute::Kind::Array:
      types.push_back(XLA_FFI_AttrType_ARRAY);
      values.push_back(&arrays.emplace_back(
          XLA_FFI_Array{elementType(attribute.dtype), attribute.bytes.size() / byteSize(attribute.dtype), bytes}));
      return;
    case ForeignAttribute::Kind::String:
      types.push_back(XLA_FFI_AttrType_STRING);
      values.push_back(&spans.emplace_back(spanOf(attribute.bytes)));
      return;
    case ForeignAttribute::Kind::Dictionary:
      types.push_back(XLA_FFI_AttrType_DICTIONARY);
      values.push_back(&inner.emplace_back(attribute.members).table);
      return;
    }
  }

  std::vector<XLA_FFI_AttrType> types;
  std::vector<XLA_FFI_ByteSpan *> names;
  std::vector<void *> values;
  // Pointers into these stay valid while they grow.
  std::deque<XLA_FFI_ByteSpan> spans;
  std::deque<XLA_FFI_Scalar> scalars;
  std::deque<XLA_FFI_Array> arrays;
  std::deque<AttributeTable> inner;
};

/// Operands in the form of the interface. Few of them are on the stack.
class Operands {
public:
  explicit Operands(size_t count) {
    if (count <= few)
      return;
    more.resize(count);
    morePointers.resize(count);
  }

  Status set(size_t index, const PcrtTensor &tensor, void *data, const ForeignOrder &order, const std::string &name) {
    XLA_FFI_Buffer &buffer = more.empty() ? buffers[index] : more[index];
    buffer.struct_size = XLA_FFI_Buffer_STRUCT_SIZE;
    buffer.extension_start = nullptr;
    buffer.dtype = elementType(static_cast<DType>(tensor.dtype));
    if (buffer.dtype == XLA_FFI_DataType_INVALID)
      return Status(Code::InvalidArgument,
                    name + ": XLA's FFI has no element type " + pcrt::name(static_cast<DType>(tensor.dtype)));
    buffer.data = data;
    buffer.rank = tensor.rank;
    // Handlers only read them.
    buffer.dims = const_cast<int64_t *>(tensor.dims);
    if (!order.empty()) {
      auto own = std::make_unique<int64_t[]>(tensor.rank);
      for (int32_t i = 0; i < tensor.rank; ++i)
        own[order[i]] = tensor.dims[i];
      buffer.dims = own.get();
      dims.push_back(std::move(own));
    }
    pointers()[index] = &buffer;
    return Status::ok();
  }

  void **pointers() { return more.empty() ? fewPointers.data() : morePointers.data(); }

private:
  static constexpr size_t few = 6;
  std::array<XLA_FFI_Buffer, few> buffers;
  std::array<void *, few> fewPointers;
  std::vector<XLA_FFI_Buffer> more;
  std::vector<void *> morePointers;
  std::vector<std::unique_ptr<int64_t[]>> dims;
};
} // namespace

//===-- Calls
//-------------------------------------------------------------------------------------------------------===//

/// Calls a handler. An exception becomes an error: it must not pass through compiled code, which has no tables of
/// frames.
static XLA_FFI_Error *callHandler(void *handler, XLA_FFI_CallFrame &frame) {
  try {
    return reinterpret_cast<XLA_FFI_Handler *>(handler)(&frame);
  } catch (abi::__forced_unwind &) {
    // The thread ends, for example in a handler that calls Python while it finalizes.
    throw;
  } catch (const std::bad_alloc &) {
    return new XLA_FFI_Error{XLA_FFI_Error_Code_RESOURCE_EXHAUSTED, "the handler threw std::bad_alloc"};
  } catch (const std::exception &thrown) {
    return new XLA_FFI_Error{XLA_FFI_Error_Code_UNKNOWN,
                             std::string("the handler threw an exception: ") + thrown.what()};
  } catch (...) {
    return new XLA_FFI_Error{XLA_FFI_Error_Code_UNKNOWN, "the handler threw an object that is no std::exception"};
  }
}

/// Runs a handler. If its work continues after its return, waits for the end.
static Status runStage(void *handler, XLA_FFI_CallFrame &frame, XLA_FFI_ExecutionStage stage, const std::string &name) {
  if (!handler)
    return Status::ok();
  frame.stage = stage;
  frame.future = nullptr;
  XLA_FFI_Error *failure = callHandler(handler, frame);
  std::unique_ptr<XLA_FFI_Future> future(frame.future);
  if (future) {
    BlockingScope blocking;
    while (future->done.load(std::memory_order_acquire) == 0)
      futexWait(future->done, 0);
    if (!failure)
      failure = future->error.release();
  }
  return failure ? statusOf(failure, name) : Status::ok();
}

static XLA_FFI_CallFrame emptyFrame(XLA_FFI_ExecutionContext &context) {
  XLA_FFI_CallFrame frame{};
  frame.struct_size = XLA_FFI_CallFrame_STRUCT_SIZE;
  frame.api = &foreignApi();
  frame.ctx = &context;
  frame.args.struct_size = XLA_FFI_Args_STRUCT_SIZE;
  frame.rets.struct_size = XLA_FFI_Rets_STRUCT_SIZE;
  frame.attrs.struct_size = XLA_FFI_Attrs_STRUCT_SIZE;
  return frame;
}

namespace {
class ForeignCall final : public HostCallback {
public:
  ForeignCall(std::string name, const ForeignTarget &target, std::vector<ForeignAttribute> given,
              std::vector<ForeignOrder> inputOrders, std::vector<ForeignOrder> outputOrders,
              std::vector<ForeignAlias> aliases)
      : HostCallback(Kind::Direct), name(std::move(name)), target(target), given(std::move(given)),
        attributes(this->given), inputOrders(std::move(inputOrders)), outputOrders(std::move(outputOrders)),
        aliases(std::move(aliases)), argumentTypes(this->inputOrders.size(), XLA_FFI_ArgType_BUFFER),
        resultTypes(this->outputOrders.size(), XLA_FFI_RetType_BUFFER) {}

  Status instantiate() {
    XLA_FFI_ExecutionContext context;
    context.states[XLA_FFI_ExecutionStage_INSTANTIATE] = &state;
    XLA_FFI_CallFrame frame = emptyFrame(context);
    frame.attrs = attributes.table;
    return runStage(target.instantiate, frame, XLA_FFI_ExecutionStage_INSTANTIATE, name);
  }

  Status invoke(const RunContext *run, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                int32_t outputCount) override {
    static std::atomic<int64_t> runs{0};
    ProfileScope scope(ProfileKind::Callback, name);
    if (static_cast<size_t>(inputCount) != inputOrders.size() ||
        static_cast<size_t>(outputCount) != outputOrders.size())
      return Status(Code::InvalidArgument, name + ": compiled for another number of arrays");
    Operands args(inputCount), results(outputCount);
    for (int32_t i = 0; i < inputCount; ++i) {
      void *memory = inputs[i].data;
      for (auto [input, output] : aliases)
        if (input == i)
          memory = takeOver(inputs[i], outputs[output]);
      if (Status status = args.set(i, inputs[i], memory, inputOrders[i], name); !status.isOk())
        return status;
    }
    for (int32_t i = 0; i < outputCount; ++i)
      if (Status status = results.set(i, outputs[i], outputs[i].data, outputOrders[i], name); !status.isOk())
        return status;

    ForeignState prepared, initialized, executed;
    XLA_FFI_ExecutionContext context;
    context.device = &run->device;
    context.run = runs.fetch_add(1, std::memory_order_relaxed) + 1;
    context.states = {&state, &prepared, &initialized, &executed};
    XLA_FFI_CallFrame frame = emptyFrame(context);
    frame.args.size = inputCount;
    frame.args.types = argumentTypes.data();
    frame.args.args = args.pointers();
    frame.rets.size = outputCount;
    frame.rets.types = resultTypes.data();
    frame.rets.rets = results.pointers();
    frame.attrs = attributes.table;
    const std::pair<void *, XLA_FFI_ExecutionStage> stages[] = {{target.prepare, XLA_FFI_ExecutionStage_PREPARE},
                                                                {target.initialize, XLA_FFI_ExecutionStage_INITIALIZE},
                                                                {target.execute, XLA_FFI_ExecutionStage_EXECUTE}};
    for (auto [handler, stage] : stages)
      if (Status status = runStage(handler, frame, stage, name); !status.isOk())
        return status;
    return Status::ok();
  }

private:
  /// The output's memory, with the input in it.
  static void *takeOver(const PcrtTensor &input, const PcrtTensor &output) {
    if (output.data != input.data)
      std::memcpy(output.data, input.data, bytesOf(output));
    return output.data;
  }

  const std::string name;
  const ForeignTarget target;
  const std::vector<ForeignAttribute> given;
  const AttributeTable attributes;
  const std::vector<ForeignOrder> inputOrders, outputOrders;
  const std::vector<ForeignAlias> aliases;
  /// The interface does not promise that handlers only read them, but none writes them.
  std::vector<XLA_FFI_ArgType> argumentTypes;
  std::vector<XLA_FFI_RetType> resultTypes;
  /// The state that the stage `instantiate` made.
  ForeignState state;
};
} // namespace

Result<RefPtr<HostCallback>> pcrt::foreignCall(std::string name, const ForeignTarget &target,
                                               std::vector<ForeignAttribute> attributes,
                                               std::vector<ForeignOrder> inputs, std::vector<ForeignOrder> outputs,
                                               std::vector<ForeignAlias> aliases) {
  for (auto [input, output] : aliases)
    if (input < 0 || static_cast<size_t>(input) >= inputs.size() || output < 0 ||
        static_cast<size_t>(output) >= outputs.size())
      return Status(Code::InvalidArgument, name + ": an alias of an operand that does not exist");
  auto *made = new ForeignCall(std::move(name), target, std::move(attributes), std::move(inputs), std::move(outputs),
                               std::move(aliases));
  auto call = RefPtr<HostCallback>::adopt(made);
  if (Status status = made->instantiate(); !status.isOk())
    return status;
  return call;
}

Status pcrt::checkForeignHandler(void *handler) {
  XLA_FFI_Metadata metadata{};
  metadata.struct_size = XLA_FFI_Metadata_STRUCT_SIZE;
  XLA_FFI_Metadata_Extension extension{};
  extension.extension_base.struct_size = XLA_FFI_Metadata_Extension_STRUCT_SIZE;
  extension.extension_base.type = XLA_FFI_Extension_Metadata;
  extension.metadata = &metadata;
  XLA_FFI_ExecutionContext context;
  XLA_FFI_CallFrame frame = emptyFrame(context);
  frame.extension_start = &extension.extension_base;
  if (Status status = runStage(handler, frame, XLA_FFI_ExecutionStage_EXECUTE, ""); !status.isOk())
    return status;
  int major = metadata.api_version.major_version, minor = metadata.api_version.minor_version;
  if (major == XLA_FFI_API_MAJOR && minor <= XLA_FFI_API_MINOR)
    return Status::ok();
  return Status(Code::InvalidArgument, "the handler was compiled for version " + std::to_string(major) + "." +
                                           std::to_string(minor) + " of XLA's FFI, expected " +
                                           std::to_string(XLA_FFI_API_MAJOR) + "." + std::to_string(XLA_FFI_API_MINOR) +
                                           " or an earlier minor version; compile it with the headers of "
                                           "ffi.include_dir()");
}

Status pcrt::registerForeignType(const std::string &name, void *typeId, const void *typeInfo) {
  XLA_FFI_Error *failure =
      registerStateType(name, *static_cast<XLA_FFI_TypeId *>(typeId), static_cast<const XLA_FFI_TypeInfo *>(typeInfo));
  return failure ? statusOf(failure, "") : Status::ok();
}
