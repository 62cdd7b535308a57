// The sizes that single operations compute: the elements of small arrays of integers, and the dimensions of results.
// See Sizes.h.
#include "Contraction.h"
#include "Rules.h"
#include "Sizes.h"

#include "llvm/ADT/StringSwitch.h"

namespace mlir::array::stablehlo {

/// The elements of a constant; none if they do not fit in 64 bits.
static SmallVector<int64_t> numbersOf(Attribute value) {
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(value);
  if (!elements || elements.getElementType().getIntOrFloatBitWidth() > 64)
    return {};
  bool isBool = elements.getElementType().isInteger(1);
  return llvm::map_to_vector(elements.getValues<APInt>(), [&](const APInt &number) {
    return isBool ? static_cast<int64_t>(number.getZExtValue()) : number.getSExtValue();
  });
}

SizeReader::Elements SizeReader::readElements(Operation *op, int64_t count) {
  OpBuilder builder(op);
  Source source(op, builder);
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("stablehlo."))
    return {};
  auto numbersFrom = [&](ArrayRef<int64_t> given) {
    return llvm::map_to_vector(given, [&](int64_t one) { return values.number(one); });
  };
  if (name == "constant")
    return numbersFrom(numbersOf(source.attribute({"value"})));
  if (name == "iota")
    return count == 0 || source.resultType().getRank() != 1 ? Elements()
                                                            : numbersFrom(llvm::to_vector(llvm::seq(count)));
  if (name == "get_dimension_size") {
    int64_t dim = source.integer({"dim", "dimension"}, -1);
    Dims dims = dimsOf(op->getOperand(0));
    return dim < 0 || dim >= static_cast<int64_t>(dims.size()) || !dims[dim] ? Elements()
                                                                             : Elements{values.of(dims[dim])};
  }
  SmallVector<Elements> given;
  for (Value operand : op->getOperands())
    given.push_back(elementsAt(operand));
  if (given.empty() || llvm::any_of(given, [](const Elements &one) { return one.empty(); }))
    return {};
  if (name == "reshape")
    return given[0];
  if (name == "broadcast_in_dim")
    return given[0].size() == 1 ? Elements(count, given[0][0]) : Elements();
  if (name == "convert") {
    unsigned from = source.type(0).getElementTypeBitWidth(), to = source.resultType().getElementTypeBitWidth();
    bool isKept = from <= to || to >= 32; // a size fits in 32 bits if the program says so
    return isKept ? given[0] : Elements();
  }
  if (name == "concatenate" && source.integer({"dim", "dimension"}, -1) == 0) {
    Elements all;
    for (const Elements &one : given)
      all.append(one);
    return all;
  }
  if (name == "slice" && source.resultType().getRank() == 1) {
    SmallVector<int64_t> starts = source.integers({"start_indices"}), strides = source.integers({"strides"});
    Elements all;
    for (int64_t index = 0; index < count && starts.size() == 1 && strides.size() == 1; ++index)
      if (int64_t place = starts[0] + index * strides[0]; place >= 0 && place < static_cast<int64_t>(given[0].size()))
        all.push_back(given[0][place]);
    return all;
  }
  std::string operation = name.str();
  if (name == "compare")
    operation += " " + source.wordAt(0, {"comparison_direction"}, "").str();
  bool isLogical = name == "and" || name == "or" || name == "xor" || name == "not";
  if (isLogical && !source.resultType().getElementType().isInteger(1))
    return {};
  unsigned operands = llvm::StringSwitch<unsigned>(name)
                          .Cases({"add", "subtract", "multiply", "divide", "remainder"}, 2)
                          .Cases({"maximum", "minimum", "and", "or", "xor", "compare"}, 2)
                          .Cases({"negate", "sign", "not"}, 1)
                          .Cases({"select", "clamp"}, 3)
                          .Default(0);
  if (operands == 0 || given.size() != operands)
    return {};
  Elements results;
  for (int64_t index = 0; index < count; ++index) {
    Elements one;
    for (const Elements &operand : given) // a predicate or a bound may be a scalar
      one.push_back(operand[operand.size() == 1 ? 0 : index]);
    results.push_back(name == "clamp" ? values.apply("minimum", {values.apply("maximum", {one[1], one[0]}), one[2]})
                                      : values.apply(operation, one));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

static StringRef calledTarget(Operation *op) {
  auto target = op->getAttrOfType<StringAttr>("call_target_name");
  return target ? target.getValue() : "";
}

SmallVector<std::pair<unsigned, unsigned>> shapeOperands(Operation *op) {
  SmallVector<std::pair<unsigned, unsigned>> found;
  for (auto [result, operand] : llvm::enumerate(numbersOf(op->getAttr(kShapeOperandsAttr))))
    if (result < op->getNumResults() && operand >= 0 && operand < op->getNumOperands())
      found.emplace_back(result, operand);
  return found;
}

void SizeReader::readShapes(Operation *op) {
  StringRef name = op->getName().getStringRef();
  unsigned count = op->getNumResults();
  // Results like the operands of the same number.
  bool isEach = name == "stablehlo.sort" || name == "stablehlo.optimization_barrier";
  bool isReduction = name == "stablehlo.reduce" && op->getNumOperands() == 2 * count;
  OpBuilder builder(op);
  Source source(op, builder);
  // JAX's calls of libraries have the shapes of some results as operands.
  for (auto [result, operand] : shapeOperands(op))
    setDims(op->getResult(result), sizesAt(op->getOperand(operand)));
  if (op->hasAttr(kShapeOperandsAttr))
    return;
  if (name == "chlo.top_k" || calledTarget(op) == kDynamicTopK) {
    Dims all = dimsOf(op->getOperand(0)), k = {number(source.integer({"k"}, 0))};
    if (name != "chlo.top_k")
      k = op->getNumOperands() == 2 ? sizesAt(op->getOperand(1)) : Dims();
    if (all.empty() || k.size() != 1)
      return;
    all.back() = k[0];
    for (Value result : op->getResults())
      setDims(result, all);
    return;
  }
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    if (isEach && index < op->getNumOperands())
      setDims(result, dimsOf(op->getOperand(index)));
    else if (isReduction) {
      Dims kept;
      SmallVector<int64_t> dimensions = source.integers({"dimensions"}, SmallVector<int64_t>());
      for (auto [dim, size] : llvm::enumerate(dimsOf(op->getOperand(index))))
        if (!llvm::is_contained(dimensions, static_cast<int64_t>(dim)))
          kept.push_back(size);
      setDims(result, kept);
    } else if (count == 1 || name == "stablehlo.reduce_window")
      setDims(result, shapeOf(op));
  }
}

AffineExpr SizeReader::windowCount(AffineExpr size, AffineExpr window, AffineExpr stride, AffineExpr baseDilation,
                                   AffineExpr dilation, AffineExpr low, AffineExpr high) {
  auto step = dyn_cast_or_null<AffineConstantExpr>(stride);
  if (!size || !window || !step || step.getValue() < 1 || !baseDilation || !dilation || !low || !high)
    return {};
  // An empty dimension stays empty.
  if (baseDilation != number(1) && values.factsOf(size).min < 1)
    return {};
  AffineExpr padded = baseDilation == number(1) ? size : (size - 1) * baseDilation + 1;
  AffineExpr room = values.resolved(padded + low + high - (window - 1) * dilation - 1 + step.getValue());
  // A smaller array has no window.
  return values.factsOf(room).min >= 0 ? room.floorDiv(step.getValue()) : AffineExpr();
}

SizeReader::Dims SizeReader::windowCounts(ArrayRef<AffineExpr> dims, ArrayRef<Dims> lists) {
  Dims counts;
  for (auto [list, each] : llvm::zip_equal(lists, ArrayRef<unsigned>({1, 1, 1, 1, 2})))
    if (list.size() != each * dims.size())
      return {};
  for (auto [dim, size] : llvm::enumerate(dims))
    counts.push_back(windowCount(size, lists[0][dim], lists[1][dim], lists[2][dim], lists[3][dim], lists[4][2 * dim],
                                 lists[4][2 * dim + 1]));
  return counts;
}

SizeReader::Dims SizeReader::shapeOfConvolution(Source &source, ArrayRef<AffineExpr> lhs, ArrayRef<AffineExpr> rhs,
                                                ArrayRef<AffineExpr> padding) {
  DictionaryAttr numbers = source.structure({"dimension_numbers"});
  SmallVector<int64_t> left = source.entry(numbers, "lhs"), right = source.entry(numbers, "rhs"),
                       out = source.entry(numbers, "out");
  size_t rank = lhs.size(), spatial = rank - std::min<size_t>(rank, 2);
  auto isPlace = [&](int64_t place) { return place >= 0 && place < static_cast<int64_t>(rank); };
  if (rank < 2 || rhs.size() != rank || left.size() != rank || right.size() != rank || out.size() != rank ||
      !llvm::all_of(left, isPlace) || !llvm::all_of(right, isPlace) || !llvm::all_of(out, isPlace))
    return {};
  SmallVector<int64_t> pads = windowList(source, "pad", "padding", 2 * spatial, 0),
                       strides = windowList(source, "stride", "window_strides", spatial, 1),
                       holes = windowList(source, "lhs_dilate", "lhs_dilation", spatial, 1),
                       dilation = windowList(source, "rhs_dilate", "rhs_dilation", spatial, 1);
  Dims all(rank), given(padding);
  if (given.empty())
    given = llvm::map_to_vector(pads, [&](int64_t pad) { return number(pad); });
  auto groups = dyn_cast<AffineConstantExpr>(number(source.integer({"batch_group_count"}, 1)));
  AffineExpr batch = lhs[left[0]];
  all[out[0]] = batch && groups.getValue() > 0 ? batch.floorDiv(groups.getValue()) : AffineExpr();
  all[out[1]] = rhs[right[0]];
  if (given.size() != 2 * spatial || strides.size() != spatial || holes.size() != spatial || dilation.size() != spatial)
    return {};
  for (size_t dim = 0; dim < spatial; ++dim)
    all[out[2 + dim]] = windowCount(lhs[left[2 + dim]], rhs[right[2 + dim]], number(strides[dim]), number(holes[dim]),
                                    number(dilation[dim]), given[2 * dim], given[2 * dim + 1]);
  return all;
}

SizeReader::Dims SizeReader::shapeOf(Operation *op) {
  OpBuilder builder(op);
  Source source(op, builder);
  StringRef name = op->getName().getStringRef();
  size_t rank = source.resultType().getRank();
  SmallVector<Value> operands(op->getOperands());
  auto dims = [&](unsigned operand) { return operand < operands.size() ? dimsOf(operands[operand]) : Dims(); };
  auto sizes = [&](unsigned operand) { return operand < operands.size() ? sizesAt(operands[operand]) : Dims(); };
  auto sum = [](AffineExpr a, AffineExpr b) { return a && b ? a + b : AffineExpr(); };
  if (auto rule = rules().find(name); rule != rules().end() && rule->second.isElementwise) {
    for (unsigned operand = 0; operand < operands.size(); ++operand)
      if (Dims like = dims(operand); like.size() == rank && !llvm::is_contained(like, AffineExpr()))
        return like;
    return {};
  }
  if (!name.consume_front("stablehlo."))
    return {};
  if (name == "dynamic_broadcast_in_dim" || name == "dynamic_reshape")
    return sizes(1);
  if (name == "dynamic_iota")
    return sizes(0);
  if (name == "fft" || name == "reverse" || name == "scatter" || name == "dynamic_update_slice" ||
      name == "reduce_precision")
    return dims(0);
  if (name == "bitcast_convert") { // parts of elements are a last dimension, of a known size
    Dims all = dims(0);
    all.resize(rank);
    return all;
  }
  if (name == "transpose") {
    Dims from = dims(0), to;
    for (int64_t dim : source.integers({"dims", "permutation"}))
      to.push_back(dim >= 0 && dim < static_cast<int64_t>(from.size()) ? from[dim] : AffineExpr());
    return to;
  }
  if (name == "concatenate") {
    Dims all = dims(0);
    int64_t dim = source.integer({"dim", "dimension"}, -1);
    if (dim < 0 || dim >= static_cast<int64_t>(all.size()))
      return {};
    for (unsigned operand = 1; operand < operands.size(); ++operand)
      if (Dims more = dims(operand); more.size() == all.size())
        all[dim] = sum(all[dim], more[dim]);
    return all;
  }
  if (name == "pad" || name == "dynamic_pad") {
    Dims all = dims(0), low = sizes(2), high = sizes(3), interior = sizes(4);
    if (name == "pad")
      for (auto [list, printed, generic] :
           {std::tuple(&low, "low", "edge_padding_low"), std::tuple(&high, "high", "edge_padding_high"),
            std::tuple(&interior, "interior", "interior_padding")}) {
        list->clear();
        for (int64_t value : source.integers({printed, generic}))
          list->push_back(number(value));
      }
    if (low.size() != all.size() || high.size() != all.size() || interior.size() != all.size())
      return {};
    for (auto [size, before, after, between] : llvm::zip_equal(all, low, high, interior)) {
      // Between the elements of an array that may be empty: not followed.
      bool hasHoles = between != number(0);
      bool isFilled = size && values.factsOf(size).min >= 1;
      AffineExpr spread = !hasHoles ? size : size && between && isFilled ? size + (size - 1) * between : AffineExpr();
      size = sum(sum(spread, before), after);
    }
    return all;
  }
  if (name == "real_dynamic_slice") {
    Dims starts = sizes(1), limits = sizes(2), strides = sizes(3), all;
    // A block at a position from data: its limits are the starts plus its sizes.
    if (Operation *end = operands.size() == 4 ? operands[2].getDefiningOp() : nullptr;
        starts.empty() && end && end->getName().getStringRef() == "stablehlo.add" &&
        end->getOperand(0) == operands[1] &&
        llvm::all_of(strides, [&](AffineExpr stride) { return stride == number(1); }))
      return sizesAt(end->getOperand(1));
    if (starts.size() != rank || limits.size() != rank || strides.size() != rank)
      return {};
    for (auto [start, limit, stride] : llvm::zip_equal(starts, limits, strides)) {
      auto step = dyn_cast_or_null<AffineConstantExpr>(stride);
      all.push_back(start && limit && step && step.getValue() >= 1
                        ? (limit - start + (step.getValue() - 1)).floorDiv(step.getValue())
                        : AffineExpr());
    }
    return all;
  }
  if (name == "gather" || name == "dynamic_gather") {
    DictionaryAttr numbers = source.structure({"dimension_numbers"});
    Dims window = sizes(2), indices = dims(1), all(rank);
    if (name == "gather") {
      window.clear();
      for (int64_t size : source.integers({"slice_sizes"}))
        window.push_back(number(size));
    }
    SmallVector<int64_t> offsets = source.entry(numbers, "offset_dims"),
                         collapsed = source.entry(numbers, "collapsed_slice_dims"),
                         batching = source.entry(numbers, "operand_batching_dims");
    auto given = numbers ? numbers.getAs<IntegerAttr>("index_vector_dim") : IntegerAttr();
    size_t vectors = given ? given.getInt() : 0, next = 0, nextOffset = 0;
    for (auto [dim, size] : llvm::enumerate(window))
      if (int64_t place = dim; !llvm::is_contained(collapsed, place) && !llvm::is_contained(batching, place) &&
                               nextOffset < offsets.size() && offsets[nextOffset] < static_cast<int64_t>(rank))
        all[offsets[nextOffset++]] = size;
    for (size_t dim = 0; dim < rank; ++dim) {
      next += next == vectors;
      if (!llvm::is_contained(offsets, static_cast<int64_t>(dim)) && next < indices.size())
        all[dim] = indices[next++];
    }
    return all;
  }
  if (name == "dot_general" || name == "dot") {
    DotDimensions contracting = dotDimensions(source, "contracting_dims", "contracting_dimensions");
    DotDimensions batch = dotDimensions(source, "batching_dims", "batching_dimensions");
    Dims lhs = dims(0), rhs = dims(1), all;
    if (name == "dot")
      contracting = {{static_cast<int64_t>(lhs.size()) - 1}, {0}};
    for (int64_t dim : batch.lhs)
      all.push_back(dim >= 0 && dim < static_cast<int64_t>(lhs.size()) ? lhs[dim] : AffineExpr());
    for (auto [side, contracted, batched] :
         {std::tuple(&lhs, &contracting.lhs, &batch.lhs), std::tuple(&rhs, &contracting.rhs, &batch.rhs)})
      for (auto [dim, size] : llvm::enumerate(*side))
        if (!llvm::is_contained(*contracted, static_cast<int64_t>(dim)) &&
            !llvm::is_contained(*batched, static_cast<int64_t>(dim)))
          all.push_back(size);
    return all;
  }
  if (name == "reduce_window") {
    Windows windows = readWindows(source, rank);
    auto listed = [&](ArrayRef<int64_t> list) {
      return llvm::map_to_vector(list, [&](int64_t one) { return number(one); });
    };
    Dims padding;
    for (auto [low, high] : llvm::zip(windows.low, windows.high))
      padding.append({number(low), number(high)});
    return windowCounts(dims(0), {listed(windows.dimensions), listed(windows.strides), listed(windows.baseDilation),
                                  listed(windows.dilation), padding});
  }
  if (calledTarget(op) == kDynamicReduceWindow)
    return windowCounts(dims(0), {sizes(2), sizes(3), sizes(4), sizes(5), sizes(6)});
  if (name == "convolution" || name == "dynamic_conv")
    return shapeOfConvolution(source, dims(0), dims(1), sizes(2));
  return {};
}

} // namespace mlir::array::stablehlo
