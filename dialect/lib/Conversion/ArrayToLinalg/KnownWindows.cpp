// Numbers of windows, and the phases of strides and dilated operands (WindowLoops.h).
#include "IndexMath.h"
#include "WindowLoops.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::array;

//===--- Windows --------------------------------------------------------------------------------------------------===//

bool KnownWindows::isKnown() const {
  for (int64_t dim = 0; dim < rank(); ++dim) {
    bool isStatic = llvm::none_of(ArrayRef{sizes[dim], low[dim], high[dim]}, ShapedType::isDynamic);
    if (!isStatic || lengths[dim] == 0 || (divides(dim) && (ShapedType::isDynamic(lengths[dim]) || count(dim) == 0)))
      return false;
  }
  return true;
}

bool KnownWindows::isPadded() const {
  return isDilated() || llvm::any_of(low, [](int64_t padding) { return padding != 0; }) ||
         llvm::any_of(high, [](int64_t padding) { return padding != 0; });
}

int64_t KnownWindows::count(int64_t dim) const {
  if (!divides(dim))
    return lengths[dim];
  int64_t padded = (lengths[dim] - 1) * base[dim] + 1 + low[dim] + high[dim];
  int64_t reach = (sizes[dim] - 1) * dilation[dim] + 1;
  return padded < reach ? 0 : (padded - reach) / strides[dim] + 1;
}

SmallVector<int64_t> KnownWindows::counts() const {
  return llvm::map_to_vector(llvm::seq<int64_t>(0, rank()), [&](int64_t dim) { return count(dim); });
}

int64_t KnownWindows::positions() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

SmallVector<int64_t> KnownWindows::position(int64_t number) const {
  SmallVector<int64_t> position(rank());
  for (int64_t dim = rank(); dim-- > 0;) {
    position[dim] = number % sizes[dim];
    number /= sizes[dim];
  }
  return position;
}

KnownWindows KnownWindows::afterPadding() const {
  KnownWindows after = *this;
  for (int64_t dim = 0; dim < rank(); ++dim) {
    if (divides(dim))
      after.lengths[dim] = (lengths[dim] - 1) * base[dim] + 1 + low[dim] + high[dim];
    after.low[dim] = after.high[dim] = 0;
    after.base[dim] = 1;
  }
  return after;
}

WindowRead array::readFrom(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> strides,
                           ArrayRef<int64_t> starts, ArrayRef<OpFoldResult> counts) {
  IndexMath index(b, loc);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor), offsets,
                            steps(sizes.size(), index.number(1));
  SmallVector<AffineExpr> places;
  bool isWhole = true;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    AffineExpr place = b.getAffineDimExpr(dim) * strides[dim];
    bool isSlice = strides[dim] == 1 && !isEqualConstantIntOrValue(size, counts[dim]) && getConstantIntValue(size);
    offsets.push_back(index.number(isSlice ? starts[dim] : 0));
    places.push_back(isSlice ? place : place + starts[dim]);
    if (isSlice)
      size = counts[dim];
    isWhole &= !isSlice;
  }
  if (!isWhole)
    tensor = tensor::ExtractSliceOp::create(b, loc, tensor, offsets, sizes, steps);
  return {tensor, AffineMap::get(sizes.size(), 0, places, b.getContext())};
}

WindowRead array::readPosition(OpBuilder &b, Location loc, Value operand, const KnownWindows &windows, int64_t number,
                               ArrayRef<OpFoldResult> counts) {
  SmallVector<int64_t> starts;
  for (auto [k, dilation] : llvm::zip_equal(windows.position(number), windows.dilation))
    starts.push_back(k * dilation);
  return readFrom(b, loc, operand, windows.strides, starts, counts);
}

/// A tensor with `gaps` - 1 elements between neighbours and more around it, or, if negative, fewer.
static Value surround(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                      ArrayRef<int64_t> gaps, Value scalar) {
  IndexMath index(b, loc);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor), all, from, to, counts, steps;
  SmallVector<OpFoldResult> ones(sizes.size(), index.number(1));
  bool crops = false, pads = false;
  for (auto [size, before, after, gap] : llvm::zip_equal(sizes, low, high, gaps)) {
    // The elements that are left, and the place of the first one.
    int64_t first = before < 0 ? (-before + gap - 1) / gap : 0, lost = after < 0 ? (-after + gap - 1) / gap : 0;
    crops |= first + lost > 0;
    pads |= before > 0 || after > 0 || gap > 1;
    from.push_back(index.number(first));
    counts.push_back(first + lost == 0 ? size : index.maximum(index.add(size, -first - lost), 0));
    to.push_back(index.number(before + first * gap));
    steps.push_back(index.number(gap));
    all.push_back(index.add(index.dilated(size, gap), before + after));
  }
  if (crops)
    tensor = tensor::ExtractSliceOp::create(b, loc, tensor, from, counts, ones);
  if (!pads)
    return tensor;
  return tensor::InsertSliceOp::create(b, loc, tensor, filled(b, loc, all, scalar), to, counts, steps);
}

Value array::padForWindows(OpBuilder &b, Location loc, Value operand, const KnownWindows &windows, Value scalar) {
  return surround(b, loc, operand, windows.low, windows.high, windows.base, scalar);
}

//===--- Phases ---------------------------------------------------------------------------------------------------===//

void Phases::addDim(int64_t step, int64_t offset, int64_t dilation, int64_t window, int64_t sourceLength,
                    int64_t length) {
  Dim dim{step, sourceLength, length, {}};
  for (int64_t phase = 0; phase < step; ++phase) {
    SmallVector<Term> &terms = dim.terms.emplace_back();
    for (int64_t k = 0; k < window; ++k) {
      int64_t position = dilation < 0 ? window - 1 - k : k; // ascending places
      int64_t place = phase + offset + position * dilation;
      if (place % step == 0)
        terms.push_back({position, place / step});
    }
  }
  dims.push_back(std::move(dim));
}

bool Phases::areFew() const {
  constexpr int64_t mostPhases = 16, mostTerms = 64, mostInAll = 128;
  int64_t phases = 1, terms = 1, all = 1;
  for (const Dim &dim : dims) {
    size_t most = 0, sum = 0;
    for (const auto &ofPhase : dim.terms) {
      most = std::max(most, ofPhase.size());
      sum += ofPhase.size();
    }
    phases *= dim.step;
    terms *= int64_t(most);
    all *= int64_t(sum);
  }
  return isOneEach() || (phases <= mostPhases && terms <= mostTerms && all <= mostInAll);
}

/// Whether each element of a source goes to one element for each phase, at its own place.
bool Phases::isOneEach() const {
  return llvm::all_of(dims, [](const Dim &dim) {
    bool isWhole = dim.step == 1 || (!ShapedType::isDynamic(dim.length) && dim.length == dim.sourceLength * dim.step);
    return isWhole && llvm::all_of(llvm::enumerate(dim.terms), [&](auto terms) {
             return terms.value().size() == 1 && terms.value().front().shift == 0;
           });
  });
}

Value Phases::emit(ImplicitLocOpBuilder &b, ArrayRef<Value> sources, ArrayRef<Value> scalars, Type stored, Type number,
                   ArrayRef<int64_t> window, Value like, RankedTensorType result, Body combine) const {
  Location loc = b.getLoc();
  MLIRContext *context = b.getContext();
  int64_t rank = int64_t(dims.size());
  SmallVector<OpFoldResult> resultSizes = sizesLike(b, loc, result, like);
  IndexMath index(b, loc);

  if (isOneEach()) {
    // A dimension of the result becomes two: the places, and the phases.
    SmallVector<OpFoldResult> sizes;
    SmallVector<AffineExpr> places;
    SmallVector<ReassociationIndices> groups;
    SmallVector<std::optional<int64_t>> phaseLoops;
    for (int64_t dim = 0; dim < rank; ++dim) {
      places.push_back(getAffineDimExpr(sizes.size(), context));
      groups.push_back({int64_t(sizes.size())});
      sizes.push_back(dims[dim].step == 1 ? resultSizes[dim] : index.number(dims[dim].sourceLength));
      phaseLoops.push_back(std::nullopt);
      if (dims[dim].step == 1)
        continue;
      phaseLoops.back() = int64_t(sizes.size());
      groups.back().push_back(int64_t(sizes.size()));
      sizes.push_back(index.number(dims[dim].step));
    }
    SmallVector<AffineMap> maps(sources.size(), AffineMap::get(sizes.size(), 0, places, context));
    Value spread =
        parallelGeneric(b, loc, stored, sizes, sources, maps, [&](ImplicitLocOpBuilder &body, ValueRange args) {
          Given given{llvm::to_vector(args.take_front(sources.size())), Value()};
          if (number) {
            // Positions in the window ascend or descend with the phase.
            given.position = intConstant(body, number, 0);
            for (int64_t dim = 0; dim < rank; ++dim) {
              Value position;
              int64_t first = dims[dim].terms.front().front().position;
              if (phaseLoops[dim]) {
                Value phase = arith::IndexCastOp::create(body, number, linalg::IndexOp::create(body, *phaseLoops[dim]));
                position = first == 0
                               ? phase
                               : arith::SubIOp::create(body, intConstant(body, number, first), phase).getResult();
              } else {
                position = intConstant(body, number, first);
              }
              given.position = arith::MulIOp::create(body, given.position, intConstant(body, number, window[dim]));
              given.position = arith::AddIOp::create(body, given.position, position);
            }
          }
          return combine(body, given);
        });
    auto flat = storageType(result);
    if (getElementTypeOrSelf(spread) != flat.getElementType())
      flat = flat.clone(getElementTypeOrSelf(spread));
    return groups.size() == sizes.size() ? spread
                                         : tensor::CollapseShapeOp::create(b, flat, spread, groups).getResult();
  }

  // The elements before and after a source that terms take.
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  int64_t phases = 1;
  for (auto [d, dim] : llvm::enumerate(dims)) {
    phases *= dim.step;
    for (auto [phase, terms] : llvm::enumerate(dim.terms))
      for (const Term &term : terms) {
        if (ShapedType::isDynamic(dim.length))
          continue; // an undivided dimension, without shifts
        low[d] = std::max(low[d], -term.shift);
        high[d] = std::max(high[d], dim.count(int64_t(phase)) - 1 + term.shift - (dim.sourceLength - 1));
      }
  }
  SmallVector<Value> surrounded;
  for (auto [source, scalar] : llvm::zip_equal(sources, scalars))
    surrounded.push_back(surround(b, loc, source, low, high, SmallVector<int64_t>(rank, 1), scalar));

  Value all = tensor::EmptyOp::create(b, resultSizes, stored);
  for (int64_t n = 0; n < phases; ++n) {
    SmallVector<int64_t> phase(rank);
    SmallVector<OpFoldResult> sizes(resultSizes), offsets, steps;
    int64_t rest = n, terms = 1;
    bool isEmpty = false;
    for (int64_t dim = rank; dim-- > 0;) {
      phase[dim] = rest % dims[dim].step;
      rest /= dims[dim].step;
      if (dims[dim].step != 1)
        sizes[dim] = index.number(dims[dim].count(phase[dim]));
      isEmpty |= isZeroInteger(sizes[dim]);
      terms *= int64_t(dims[dim].terms[phase[dim]].size());
    }
    if (isEmpty)
      continue;
    SmallVector<AffineMap> maps;
    SmallVector<Value> inputs;
    SmallVector<int64_t> numbers;
    for (int64_t t = 0; t < terms; ++t) {
      SmallVector<int64_t> starts(rank), ones(rank, 1);
      int64_t left = t, position = 0, scale = 1;
      for (int64_t dim = rank; dim-- > 0;) {
        const auto &ofPhase = dims[dim].terms[phase[dim]];
        const Term &term = ofPhase[left % int64_t(ofPhase.size())];
        left /= int64_t(ofPhase.size());
        starts[dim] = term.shift + low[dim];
        position += term.position * scale;
        scale *= window[dim];
      }
      numbers.push_back(position);
      for (Value source : surrounded) {
        WindowRead read = readFrom(b, loc, source, ones, starts, sizes);
        inputs.push_back(read.tensor);
        maps.push_back(read.map);
      }
    }
    Value part;
    if (terms == 0) {
      part = filled(b, loc, sizes, scalars.front());
    } else {
      part = parallelGeneric(b, loc, stored, sizes, inputs, maps, [&](ImplicitLocOpBuilder &body, ValueRange args) {
        SmallVector<Given> given;
        for (auto [t, position] : llvm::enumerate(numbers))
          given.push_back({llvm::to_vector(args.slice(t * sources.size(), sources.size())),
                           number ? intConstant(body, number, position) : Value()});
        return combine(body, given);
      });
    }
    if (phases == 1)
      return part;
    for (int64_t dim = 0; dim < rank; ++dim) {
      offsets.push_back(index.number(phase[dim]));
      steps.push_back(index.number(dims[dim].step));
    }
    all = tensor::InsertSliceOp::create(b, part, all, offsets, sizes, steps);
  }
  return all;
}
