// The items of a collective: reductions over the members, and copies between them.
#include "collective/CollectiveJob.h"

#include "cpu/Elements.h"
#include "runtime/Device.h"

#include <algorithm>
#include <complex>
#include <cstring>

using namespace pcrt;

/// Elements that one item reduces.
static constexpr size_t chunk = 1 << 14;

const char *CollectiveParams::name() const {
  static const char *const names[] = {"participant",    "all_reduce", "all_gather",
                                      "reduce_scatter", "all_to_all", "collective_permute"};
  return code() >= PCRT_PARTICIPANT && code() <= PCRT_COLLECTIVE_PERMUTE ? names[code()] : "an unknown collective";
}

static size_t elementCount(const PcrtTensor &tensor) {
  size_t total = 1;
  for (int32_t i = 0; i < tensor.rank; ++i)
    total *= static_cast<size_t>(tensor.dims[i]);
  return total;
}

//===-- Reductions
//--------------------------------------------------------------------------------------------------===//

namespace {

template <typename T> struct WideOf {
  using Type = Accumulator<T>;
};
template <typename T> struct WideOf<std::complex<T>> {
  using Type = std::complex<T>;
};

template <typename T> struct Sum {
  using Wide = typename WideOf<T>::Type;
  static Wide combine(Wide sum, T x) { return sum + static_cast<Wide>(x); }
};
template <typename T> struct Product {
  using Wide = typename WideOf<T>::Type;
  static Wide combine(Wide product, T x) { return product * static_cast<Wide>(x); }
};
template <typename T, bool isMax> struct Extremum {
  using Wide = Compared<T>;
  static Wide combine(Wide best, T x) { return isBetter<isMax>(static_cast<Wide>(x), best) ? Wide(x) : best; }
};
template <typename T, bool isAnd> struct Bits {
  using Wide = T;
  static Wide combine(Wide bits, T x) { return static_cast<T>(isAnd ? bits & x : bits | x); }
};

/// The most elements that are combined at once.
constexpr size_t block = 512;

/// Combines `size` elements (at most `block`) of each of `count` inputs, in the order of the inputs, into `output`.
using Combination = void (*)(const char *const *inputs, size_t count, size_t size, char *output);

template <typename T, typename Operation>
void combineBlock(const char *const *inputs, size_t count, size_t size, char *output) {
  using Wide = typename Operation::Wide;
  Wide running[block];
  const T *first = reinterpret_cast<const T *>(inputs[0]);
  for (size_t i = 0; i < size; ++i)
    running[i] = static_cast<Wide>(first[i]);
  for (size_t member = 1; member < count; ++member) {
    const T *next = reinterpret_cast<const T *>(inputs[member]);
    for (size_t i = 0; i < size; ++i)
      running[i] = Operation::combine(running[i], next[i]);
  }
  T *combined = reinterpret_cast<T *>(output);
  for (size_t i = 0; i < size; ++i)
    combined[i] = static_cast<T>(running[i]);
}

template <typename T> Combination arithmeticCombination(PcrtReduction reduction) {
  if (reduction == PCRT_REDUCTION_SUM)
    return combineBlock<T, Sum<T>>;
  if (reduction == PCRT_REDUCTION_PROD)
    return combineBlock<T, Product<T>>;
  return nullptr;
}

/// The combination of a dtype by a reduction; null if there is none.
Combination combinationOf(int32_t dtype, PcrtReduction reduction) {
  if (dtype == PCRT_DTYPE_Complex64)
    return arithmeticCombination<std::complex<float>>(reduction);
  if (dtype == PCRT_DTYPE_Complex128)
    return arithmeticCombination<std::complex<double>>(reduction);
  Combination combination = nullptr;
  withElement(dtype, [&](auto element) {
    using T = decltype(element);
    combination = arithmeticCombination<T>(reduction);
    if (reduction == PCRT_REDUCTION_MAX)
      combination = combineBlock<T, Extremum<T, true>>;
    if (reduction == PCRT_REDUCTION_MIN)
      combination = combineBlock<T, Extremum<T, false>>;
    if constexpr (std::is_integral_v<T>) {
      if (reduction == PCRT_REDUCTION_AND)
        combination = combineBlock<T, Bits<T, true>>;
      if (reduction == PCRT_REDUCTION_OR)
        combination = combineBlock<T, Bits<T, false>>;
    }
  });
  return combination;
}

/// Combines `length` elements of `width` bytes from element `at` on of each input, and passes them to `write`, a block
/// at a time.
template <typename Write>
void combineInputs(Combination combination, std::vector<const char *> inputs, size_t width, size_t at, size_t length,
                   Write write) {
  alignas(std::max_align_t) char combined[block * sizeof(std::complex<double>)];
  for (const char *&input : inputs)
    input += at * width;
  for (size_t start = 0; start < length; start += block) {
    size_t size = std::min(block, length - start);
    combination(inputs.data(), inputs.size(), size, combined);
    write(start * width, combined, size * width);
    for (const char *&input : inputs)
      input += size * width;
  }
}

std::vector<const char *> inputsOf(const std::vector<Contribution> &members) {
  std::vector<const char *> inputs;
  for (const Contribution &member : members)
    inputs.push_back(static_cast<const char *>(member.input.data));
  return inputs;
}

} // namespace

void CollectiveJob::reduce(size_t first, size_t end) const {
  Combination combination = combinationOf((*members)[0].input.dtype, params.reduction());
  combineInputs(combination, inputsOf(*members), width, first, end - first,
                [&](size_t start, const char *from, size_t bytes) {
                  for (const Contribution &member : *members)
                    if (member.output.data)
                      std::memcpy(static_cast<char *>(member.output.data) + first * width + start, from, bytes);
                });
}

void CollectiveJob::scatter(size_t target) const {
  size_t run = along / members->size() * inner;
  Combination combination = combinationOf((*members)[0].input.dtype, params.reduction());
  char *output = static_cast<char *>((*members)[target].output.data);
  for (size_t i = 0; i < outer; ++i)
    combineInputs(combination, inputsOf(*members), width, (i * members->size() + target) * run, run,
                  [&](size_t start, const char *from, size_t bytes) {
                    std::memcpy(output + i * run * width + start, from, bytes);
                  });
}

void CollectiveJob::combine(const std::vector<const char *> &inputs, size_t length, char *output) const {
  combineInputs(combinationOf((*members)[0].input.dtype, params.reduction()), inputs, width, 0, length,
                [&](size_t start, const char *from, size_t bytes) { std::memcpy(output + start, from, bytes); });
}

//===-- Copies
//------------------------------------------------------------------------------------------------------===//

static const char *inputOf(const Contribution &member) { return static_cast<const char *>(member.input.data); }
static char *outputOf(const Contribution &member) { return static_cast<char *>(member.output.data); }

void CollectiveJob::gather(size_t source) const {
  size_t run = along * inner * width;
  for (const Contribution &target : *members)
    for (size_t i = 0; target.output.data && i < outer; ++i)
      std::memcpy(outputOf(target) + (i * members->size() + source) * run, inputOf((*members)[source]) + i * run, run);
}

void CollectiveJob::permute(size_t target) const {
  char *output = outputOf((*members)[target]);
  for (int64_t i = 0; i < params.pairCount(); ++i) {
    if (static_cast<size_t>(params.pairs()[2 * i + 1]) != target)
      continue;
    std::memcpy(output, inputOf((*members)[static_cast<size_t>(params.pairs()[2 * i])]), elements * width);
    return;
  }
  std::memset(output, 0, elements * width);
}

namespace {
/// Copies a box of `sizes` between two dense arrays that contain it.
struct BoxCopy {
  const int64_t *sizes, *sourceDims, *targetDims;
  /// The first dimension from which on the copied elements are contiguous.
  int64_t last;
  size_t run;

  /// Strides are those of dimension `dim`, in bytes.
  void copy(const char *source, char *target, int64_t dim, size_t sourceStride, size_t targetStride) const {
    if (dim == last) {
      std::memcpy(target, source, run);
      return;
    }
    size_t sourceStep = sourceStride / static_cast<size_t>(sourceDims[dim]);
    size_t targetStep = targetStride / static_cast<size_t>(targetDims[dim]);
    for (int64_t i = 0; i < sizes[dim]; ++i)
      copy(source + static_cast<size_t>(i) * sourceStep, target + static_cast<size_t>(i) * targetStep, dim + 1,
           sourceStep, targetStep);
  }
};
} // namespace

/// The number of elements after a dimension.
static size_t elementsAfter(const PcrtTensor &tensor, int64_t dim) {
  size_t total = 1;
  for (int64_t i = dim + 1; i < tensor.rank; ++i)
    total *= static_cast<size_t>(tensor.dims[i]);
  return total;
}

/// The sizes of a block of an all_to_all: a part along the dimension that is cut.
static std::vector<int64_t> blockSizes(const PcrtTensor &input, const CollectiveParams &params) {
  std::vector<int64_t> sizes(input.dims, input.dims + input.rank);
  sizes[static_cast<size_t>(params.dimension())] /= params.groupSize();
  return sizes;
}

void CollectiveJob::exchange(size_t target) const {
  const PcrtTensor &input = (*members)[0].input, &output = (*members)[0].output;
  int64_t split = params.dimension(), concat = params.otherDimension(), last = std::max(split, concat);
  std::vector<int64_t> sizes = blockSizes(input, params);
  auto sizeAt = [&](int64_t dim) { return static_cast<size_t>(sizes[static_cast<size_t>(dim)]); };
  BoxCopy box = {sizes.data(), input.dims, output.dims, last, sizeAt(last) * elementsAfter(input, last) * width};
  if (elements == 0)
    return;
  for (size_t source = 0; source < members->size(); ++source) {
    const char *from = inputOf((*members)[source]) + target * sizeAt(split) * elementsAfter(input, split) * width;
    char *to = outputOf((*members)[target]) + source * sizeAt(concat) * elementsAfter(output, concat) * width;
    box.copy(from, to, 0, elements * width, elementCount(output) * width);
  }
}

void CollectiveJob::takeBlock(size_t source, size_t target, char *block) const {
  size_t run = along / members->size() * inner * width;
  const char *from = inputOf((*members)[source]);
  for (size_t i = 0; i < outer; ++i)
    std::memcpy(block + i * run, from + (i * members->size() + target) * run, run);
}

void CollectiveJob::placeBlock(size_t source, size_t target, const char *block) const {
  const PcrtTensor &input = (*members)[0].input, &output = (*members)[0].output;
  if (elements == 0)
    return;
  int64_t concat = params.otherDimension();
  std::vector<int64_t> sizes = blockSizes(input, params);
  auto size = static_cast<size_t>(sizes[static_cast<size_t>(concat)]);
  size_t after = elementsAfter(output, concat) * width;
  BoxCopy box = {sizes.data(), sizes.data(), output.dims, concat, size * after};
  box.copy(block, outputOf((*members)[target]) + source * size * after, 0, blockBytes(), elementCount(output) * width);
}

//===-- Preparation
//-------------------------------------------------------------------------------------------------===//

static bool isOneOf(int64_t dimension, const PcrtTensor &tensor) { return dimension >= 0 && dimension < tensor.rank; }

/// Checks the first member's operands; the others are alike.
bool CollectiveJob::fits() const {
  const PcrtTensor &input = (*members)[0].input, &output = (*members)[0].output;
  size_t count = members->size(), results = elementCount(output);
  bool isReduction = params.code() == PCRT_ALL_REDUCE || params.code() == PCRT_REDUCE_SCATTER;
  if (input.dtype != output.dtype || input.rank != output.rank ||
      (isReduction && !combinationOf(input.dtype, params.reduction())))
    return false;
  switch (params.code()) {
  case PCRT_ALL_REDUCE:
    return sameDims(input, output);
  case PCRT_ALL_GATHER:
    return isOneOf(params.dimension(), input) && results == elements * count;
  case PCRT_REDUCE_SCATTER:
    return isOneOf(params.dimension(), input) && along % count == 0 && results * count == elements;
  case PCRT_ALL_TO_ALL:
    return isOneOf(params.dimension(), input) && isOneOf(params.otherDimension(), input) && along % count == 0 &&
           results == elements;
  case PCRT_COLLECTIVE_PERMUTE:
    for (int64_t i = 0; i < 2 * params.pairCount(); ++i)
      if (params.pairs()[i] < 0 || params.pairs()[i] >= params.groupSize())
        return false;
    return sameDims(input, output);
  default:
    return false;
  }
}

bool pcrt::areAlike(const std::vector<Contribution> &members) {
  const Contribution &first = members[0];
  int64_t length = CollectiveParams(first.params).length();
  return std::all_of(members.begin(), members.end(), [&](const Contribution &other) {
    return std::equal(first.params, first.params + length, other.params) && other.input.dtype == first.input.dtype &&
           other.output.dtype == first.output.dtype && sameDims(other.input, first.input) &&
           sameDims(other.output, first.output);
  });
}

static bool isOnHost(const Contribution &member) { return !member.device || member.device->hasHostMemory(); }

bool CollectiveJob::prepare(const std::vector<Contribution> &contributions) {
  members = &contributions;
  params = CollectiveParams(contributions[0].params);
  if (!areAlike(contributions) || !std::all_of(contributions.begin(), contributions.end(), isOnHost))
    return false;
  const PcrtTensor &input = contributions[0].input;
  elements = elementCount(input);
  width = byteSize(static_cast<DType>(input.dtype));
  bytes = elements * width * contributions.size();
  outer = along = inner = 1;
  if (isOneOf(params.dimension(), input)) {
    for (int64_t i = 0; i < params.dimension(); ++i)
      outer *= static_cast<size_t>(input.dims[i]);
    along = static_cast<size_t>(input.dims[params.dimension()]);
    inner = elementsAfter(input, params.dimension());
  }
  size_t parts = params.code() == PCRT_ALL_REDUCE ? (elements + chunk - 1) / chunk : contributions.size();
  itemCount = static_cast<uint32_t>(parts);
  return fits();
}

void CollectiveJob::run(uint32_t item) {
  switch (params.code()) {
  case PCRT_ALL_REDUCE:
    return reduce(item * chunk, std::min(elements, (item + 1) * chunk));
  case PCRT_ALL_GATHER:
    return gather(item);
  case PCRT_REDUCE_SCATTER:
    return scatter(item);
  case PCRT_ALL_TO_ALL:
    return exchange(item);
  default:
    return permute(item);
  }
}
