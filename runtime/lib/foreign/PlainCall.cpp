// Calls of C functions whose parameters are known only at run time. In the calling conventions of Linux on x86-64 and
// AArch64, integers and pointers have one set of registers, and floating-point numbers another: each kind takes its
// next free register, independently of the other kind. Further arguments are on the stack, in order, in words of 8
// bytes. The caller removes them, so a function may get more words than it reads. Hence one call with all registers,
// and integers on the stack, serves every function of at most `mostForeignFloats` numbers.
#include "runtime/PlainCall.h"

#include "memory/HostOperands.h"
#include "runtime/DType.h"
#include "runtime/Profile.h"

#include <array>
#include <cstring>
#include <optional>

using namespace pcrt;

#if defined(__x86_64__)
static constexpr int integerRegisters = 6;
#elif defined(__aarch64__)
static constexpr int integerRegisters = 8;
#endif

namespace {
struct Arguments {
  std::array<int64_t, mostForeignIntegers> integers{};
  /// A float is in the low half.
  std::array<double, mostForeignFloats> floats{};
};
} // namespace

template <size_t> using Word = int64_t;
template <size_t> using Number = double;

template <typename R, size_t... I, size_t... F, size_t... S>
static R callWith(void *function, const Arguments &given, std::index_sequence<I...>, std::index_sequence<F...>,
                  std::index_sequence<S...>) {
  using Function = R (*)(Word<I>..., Number<F>..., Word<S>...);
  return reinterpret_cast<Function>(function)(given.integers[I]..., given.floats[F]...,
                                              given.integers[integerRegisters + S]...);
}

template <typename R> static R callFunction(void *function, const Arguments &given) {
  return callWith<R>(function, given, std::make_index_sequence<integerRegisters>(),
                     std::make_index_sequence<mostForeignFloats>(),
                     std::make_index_sequence<mostForeignIntegers - integerRegisters>());
}

template <typename T> static int64_t extended(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return static_cast<int64_t>(value);
}

static bool isFloat(int32_t dtype) { return dtype == PCRT_DTYPE_Float32 || dtype == PCRT_DTYPE_Float64; }

/// An integer element, sign- or zero-extended; nothing for another element type.
static std::optional<int64_t> integerOf(const PcrtTensor &tensor) {
  switch (tensor.dtype) {
  case PCRT_DTYPE_Bool:
  case PCRT_DTYPE_UInt8:
    return extended<uint8_t>(tensor.data);
  case PCRT_DTYPE_Int8:
    return extended<int8_t>(tensor.data);
  case PCRT_DTYPE_Int16:
    return extended<int16_t>(tensor.data);
  case PCRT_DTYPE_UInt16:
    return extended<uint16_t>(tensor.data);
  case PCRT_DTYPE_Int32:
    return extended<int32_t>(tensor.data);
  case PCRT_DTYPE_UInt32:
    return extended<uint32_t>(tensor.data);
  case PCRT_DTYPE_Int64:
  case PCRT_DTYPE_UInt64:
    return extended<int64_t>(tensor.data);
  default:
    return std::nullopt;
  }
}

namespace {
class PlainCall final : public HostCallback {
public:
  PlainCall(std::string name, void *function, std::vector<ForeignParameter> parameters, ForeignReturn returns,
            std::vector<std::pair<int, int>> aliases)
      : HostCallback(Kind::Direct), name(std::move(name)), function(function), parameters(std::move(parameters)),
        returns(returns), aliases(std::move(aliases)) {}

  Status invoke(const RunContext *, const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs,
                int32_t outputCount) override {
    ProfileScope scope(ProfileKind::Callback, name);
    for (auto [input, output] : aliases) {
      if (input >= inputCount || output >= outputCount)
        return refused();
      if (outputs[output].data != inputs[input].data)
        std::memcpy(outputs[output].data, inputs[input].data, bytesOf(outputs[output]));
    }
    Arguments given;
    int integers = 0, floats = 0;
    for (const ForeignParameter &parameter : parameters) {
      int32_t k = parameter.operand;
      bool isInput = k >= 0 && k < inputCount, isOutput = k >= 0 && k < outputCount;
      int64_t word = parameter.constant;
      switch (parameter.kind) {
      case ForeignParameter::Kind::Input:
        if (!isInput)
          return refused();
        word = reinterpret_cast<intptr_t>(inputs[k].data);
        break;
      case ForeignParameter::Kind::Output:
        if (!isOutput)
          return refused();
        word = reinterpret_cast<intptr_t>(outputs[k].data);
        break;
      case ForeignParameter::Kind::Value:
        if (!isInput)
          return refused();
        if (isFloat(inputs[k].dtype)) {
          if (floats == mostForeignFloats)
            return refused();
          std::memcpy(&given.floats[floats++], inputs[k].data, inputs[k].dtype == PCRT_DTYPE_Float32 ? 4 : 8);
          continue;
        }
        if (std::optional<int64_t> value = integerOf(inputs[k]))
          word = *value;
        else
          return refused();
        break;
      case ForeignParameter::Kind::Size: {
        const PcrtTensor *tensor = isInput                        ? &inputs[k]
                                   : k - inputCount < outputCount ? &outputs[k - inputCount]
                                                                  : nullptr;
        if (!tensor || parameter.dimension < 0 || parameter.dimension >= tensor->rank)
          return refused();
        word = tensor->dims[parameter.dimension];
        break;
      }
      case ForeignParameter::Kind::Constant:
        break;
      }
      if (integers == mostForeignIntegers)
        return refused();
      given.integers[integers++] = word;
    }
    return call(given, outputs, outputCount);
  }

private:
  Status refused() const { return Status(Code::InvalidArgument, name + ": compiled for another signature"); }

  Status call(const Arguments &given, const PcrtTensor *outputs, int32_t outputCount) const {
    if (returns == ForeignReturn::Nothing) {
      callFunction<void>(function, given);
      return Status::ok();
    }
    if (returns == ForeignReturn::Status) {
      int status = callFunction<int>(function, given);
      return status == 0 ? Status::ok()
                         : Status(Code::LibraryFailed, name + ": returned the status " + std::to_string(status),
                                  CallSite{"c_function", ""});
    }
    if (outputCount == 0)
      return refused();
    const PcrtTensor &result = outputs[0];
    if (result.dtype == PCRT_DTYPE_Float32) {
      float value = callFunction<float>(function, given);
      std::memcpy(result.data, &value, sizeof(value));
    } else if (result.dtype == PCRT_DTYPE_Float64) {
      double value = callFunction<double>(function, given);
      std::memcpy(result.data, &value, sizeof(value));
    } else if (integerOf(result)) {
      // The low bytes of the register are the value.
      int64_t value = callFunction<int64_t>(function, given);
      std::memcpy(result.data, &value, byteSize(static_cast<DType>(result.dtype)));
    } else {
      return refused();
    }
    return Status::ok();
  }

  const std::string name;
  void *const function;
  const std::vector<ForeignParameter> parameters;
  const ForeignReturn returns;
  const std::vector<std::pair<int, int>> aliases;
};
} // namespace

Result<RefPtr<HostCallback>> pcrt::plainForeignCall(std::string name, void *function,
                                                    std::vector<ForeignParameter> parameters, ForeignReturn returns,
                                                    std::vector<std::pair<int, int>> aliases) {
  if (parameters.size() > mostForeignIntegers + mostForeignFloats)
    return Status(Code::InvalidArgument, name + ": too many parameters");
  return RefPtr<HostCallback>::adopt(
      new PlainCall(std::move(name), function, std::move(parameters), returns, std::move(aliases)));
}
