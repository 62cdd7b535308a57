// Element types of the API, and named values.
#include "pjrt/Objects.h"

#include <algorithm>

using namespace pcrt;
using namespace pcrt::pjrt;

namespace {
struct Pair {
  DType dtype;
  PJRT_Buffer_Type type;
};
constexpr Pair pairs[] = {
    {DType::Bool, PJRT_Buffer_Type_PRED},
    {DType::Int8, PJRT_Buffer_Type_S8},
    {DType::Int16, PJRT_Buffer_Type_S16},
    {DType::Int32, PJRT_Buffer_Type_S32},
    {DType::Int64, PJRT_Buffer_Type_S64},
    {DType::UInt8, PJRT_Buffer_Type_U8},
    {DType::UInt16, PJRT_Buffer_Type_U16},
    {DType::UInt32, PJRT_Buffer_Type_U32},
    {DType::UInt64, PJRT_Buffer_Type_U64},
    {DType::Float16, PJRT_Buffer_Type_F16},
    {DType::BFloat16, PJRT_Buffer_Type_BF16},
    {DType::Float32, PJRT_Buffer_Type_F32},
    {DType::Float64, PJRT_Buffer_Type_F64},
    {DType::Complex64, PJRT_Buffer_Type_C64},
    {DType::Complex128, PJRT_Buffer_Type_C128},
    {DType::Float8E4M3FN, PJRT_Buffer_Type_F8E4M3FN},
    {DType::Float8E5M2, PJRT_Buffer_Type_F8E5M2},
    {DType::Int4, PJRT_Buffer_Type_S4},
    {DType::UInt4, PJRT_Buffer_Type_U4},
    {DType::Float8E3M4, PJRT_Buffer_Type_F8E3M4},
    {DType::Float8E4M3, PJRT_Buffer_Type_F8E4M3},
    {DType::Float8E4M3B11FNUZ, PJRT_Buffer_Type_F8E4M3B11FNUZ},
    {DType::Float8E4M3FNUZ, PJRT_Buffer_Type_F8E4M3FNUZ},
    {DType::Float8E5M2FNUZ, PJRT_Buffer_Type_F8E5M2FNUZ},
    {DType::Float8E8M0FNU, PJRT_Buffer_Type_F8E8M0FNU},
    {DType::Float4E2M1FN, PJRT_Buffer_Type_F4E2M1FN},
    {DType::Int2, PJRT_Buffer_Type_S2},
    {DType::UInt2, PJRT_Buffer_Type_U2},
};
} // namespace

PJRT_Buffer_Type pcrt::pjrt::typeOf(DType dtype) {
  for (const Pair &pair : pairs)
    if (pair.dtype == dtype)
      return pair.type;
  return PJRT_Buffer_Type_INVALID;
}

bool pcrt::pjrt::dtypeOf(PJRT_Buffer_Type type, DType &dtype) {
  for (const Pair &pair : pairs)
    if (pair.type == type) {
      dtype = pair.dtype;
      return true;
    }
  return false;
}

uint64_t ArrayType::bytes() const {
  uint64_t count = byteSize(dtype);
  for (int64_t dim : dims)
    count *= static_cast<uint64_t>(dim);
  return count;
}

std::vector<int64_t> ArrayType::strides() const {
  std::vector<int64_t> made(dims.size());
  auto step = static_cast<int64_t>(byteSize(dtype));
  for (size_t i = dims.size(); i-- > 0;) {
    size_t dimension = order.empty() ? i : static_cast<size_t>(order[i]);
    made[dimension] = step;
    step *= dims[dimension];
  }
  return made;
}

void ArrayType::setOrder(std::vector<int64_t> given) {
  order = std::is_sorted(given.begin(), given.end()) ? std::vector<int64_t>() : std::move(given);
}

PJRT_NamedValue &Attributes::named(std::string name) {
  strings.push_back(std::move(name));
  PJRT_NamedValue value = {};
  value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  value.name = strings.back().data();
  value.name_size = strings.back().size();
  value.value_size = 1;
  values.push_back(value);
  return values.back();
}

void Attributes::add(std::string name, std::string text) {
  strings.push_back(std::move(text));
  const std::string &kept = strings.back();
  PJRT_NamedValue &value = named(std::move(name));
  value.type = PJRT_NamedValue_kString;
  value.string_value = kept.data();
  value.value_size = kept.size();
}

void Attributes::add(std::string name, int64_t number) {
  PJRT_NamedValue &value = named(std::move(name));
  value.type = PJRT_NamedValue_kInt64;
  value.int64_value = number;
}

void Attributes::add(std::string name, std::vector<int64_t> numbers) {
  lists.push_back(std::move(numbers));
  PJRT_NamedValue &value = named(std::move(name));
  value.type = PJRT_NamedValue_kInt64List;
  value.int64_array_value = lists.back().data();
  value.value_size = lists.back().size();
}

void Attributes::add(std::string name, float number) {
  PJRT_NamedValue &value = named(std::move(name));
  value.type = PJRT_NamedValue_kFloat;
  value.float_value = number;
}
