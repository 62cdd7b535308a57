// Readers of tensors that tensor.insert_slice assembles (DivideReaders.h). The gradient of x[1:] - x[:-1] is the sum of
// two padded tensors. Padding in memory takes several sweeps; three ops, for the first element, the last one and those
// between, take one. Their results are inserted into a new tensor, so its readers can be divided, too.
#include "DivideReaders.h"
#include "Analysis/Box.h"
#include "array/Analysis/ScatterForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::array {
namespace {

/// The maximum number of ops that replace one op, if each has at least elementsOfPart elements on average, and the
/// maximum size of all their bodies. A roll in three dimensions has 27 parts.
constexpr int64_t mostParts = 27, elementsOfPart = 256, mostOperations = 512;
/// The number of elements in a row of memory that take as long as one element: a part of short rows is not a vector.
constexpr int64_t elementsOfRow = 16;

Box wholeBox(ArrayRef<int64_t> sizes) {
  return Box(llvm::map_range(sizes, [](int64_t size) { return std::pair<int64_t, int64_t>(0, size); }));
}

/// One of the tensors, or scalars, that are inserted.
struct Piece {
  Value source;
  Box box;                      // in the assembled tensor
  SmallVector<int64_t> offsets; // in the source, of the element at the start of the box
  bool isScalar() const { return !isa<RankedTensorType>(source.getType()); }
};

/// The box of a slice with known offsets, sizes and strides of 1, and without a change of rank.
template <typename Slice> std::optional<Box> boxOf(Slice op, RankedTensorType slice, RankedTensorType whole) {
  auto isKnown = [](ArrayRef<int64_t> numbers) { return !llvm::is_contained(numbers, ShapedType::kDynamic); };
  if (slice.getRank() != whole.getRank() || !whole.hasStaticShape() || !isKnown(op.getStaticOffsets()) ||
      !isKnown(op.getStaticSizes()) || llvm::any_of(op.getStaticStrides(), [](int64_t stride) { return stride != 1; }))
    return std::nullopt;
  Box box;
  for (auto [offset, size] : llvm::zip_equal(op.getStaticOffsets(), op.getStaticSizes()))
    box.push_back({offset, offset + size});
  return box;
}

/// The pieces of a tensor that is only written by insertions; the last one first. None if it is another one, or is read
/// before it is complete.
std::optional<SmallVector<Piece>> piecesOf(Value tensor) {
  SmallVector<Piece> pieces;
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
    std::optional<Box> window = boxOf(slice, slice.getType(), slice.getSourceType());
    std::optional<SmallVector<Piece>> all = window ? piecesOf(slice.getSource()) : std::nullopt;
    if (!all)
      return std::nullopt;
    for (Piece &piece : *all) {
      bool isEmpty = false;
      for (auto [side, visible, offset] : llvm::zip_equal(piece.box, *window, piece.offsets)) {
        int64_t from = std::max(side.first, visible.first), to = std::min(side.second, visible.second);
        offset += from - side.first;
        side = {from - visible.first, to - visible.first};
        isEmpty |= from >= to;
      }
      if (!isEmpty)
        pieces.push_back(piece);
    }
    return pieces;
  }
  bool isFirst = true;
  while (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>()) {
    std::optional<Box> box = boxOf(insert, insert.getSourceType(), insert.getDestType());
    if (!box || (!isFirst && !insert->hasOneUse()))
      return std::nullopt;
    std::optional<SmallVector<Piece>> inner;
    if (insert.getSource().hasOneUse()) // else it is stored
      inner = piecesOf(insert.getSource());
    if (inner) {
      for (Piece &piece : *inner)
        for (auto [side, outer] : llvm::zip_equal(piece.box, *box))
          side = {side.first + outer.first, side.second + outer.first};
      pieces.append(std::move(*inner));
    } else {
      pieces.push_back({insert.getSource(), *box, SmallVector<int64_t>(box->size(), 0)});
    }
    isFirst = false;
    tensor = insert.getDest();
  }
  if (pieces.empty())
    return std::nullopt;
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  if (fill)
    pieces.push_back({fill.value(), wholeBox(cast<RankedTensorType>(tensor.getType()).getShape()),
                      SmallVector<int64_t>(pieces.front().box.size(), 0)});
  return fill || tensor.getDefiningOp<tensor::EmptyOp>() ? std::optional(pieces) : std::nullopt;
}

/// The piece that contains a box; null if none was inserted there.
const Piece *pieceAt(ArrayRef<Piece> pieces, const Box &box) {
  auto found = llvm::find_if(pieces, [&](const Piece &piece) { return contains(piece.box, box); });
  return found == pieces.end() ? nullptr : &*found;
}

/// Whether the op computes each element of its one result by elements of its operands.
bool isElementwise(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 || op.getNumLoops() == 0 ||
      op->getNumResults() != 1 || op->hasAttr(kScatterAttr) || !op.getRegionOutputArgs()[0].use_empty() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
      llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic) ||
      llvm::any_of(*op.getBody(), [](Operation &inner) { return inner.getNumRegions() != 0; }))
    return false;
  return llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(/*allowZeroInResults=*/true); });
}

/// Whether elementwise ops alone read a tensor, and slices of it that elementwise ops alone read.
bool hasElementwiseReaders(Value tensor) {
  return llvm::all_of(tensor.getUses(), [](OpOperand &use) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner()))
      return boxOf(slice, slice.getType(), slice.getSourceType()) && hasElementwiseReaders(slice.getResult());
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    return reader && isElementwise(reader) && reader.isDpsInput(&use) &&
           reader.getMatchingIndexingMap(&use).isProjectedPermutation();
  });
}

class Divider {
public:
  Divider(linalg::GenericOp op, function_ref<int64_t(linalg::GenericOp)> elementCost, int64_t cheapCost)
      : op(op), builder(op), loc(op.getLoc()), elementCost(elementCost), cheapCost(cheapCost) {}

  bool divide() {
    for (OpOperand *operand : op.getDpsInputOperands()) {
      if (assembled.contains(operand->get()) || !op.getMatchingIndexingMap(operand).isProjectedPermutation())
        continue;
      std::optional<SmallVector<Piece>> pieces = piecesOf(operand->get());
      if (pieces && hasElementwiseReaders(wholeOf(operand->get())))
        assembled[operand->get()] = std::move(*pieces);
    }
    // Tensors that are assembled along the last dimensions have the shortest rows. If dividing along all dimensions
    // does not pay, these tensors are stored.
    while (!findParts() || !isWorthwhile())
      if (!storeInnermost())
        return false;
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value result = parts.size() == 1 ? Value() : tensor::EmptyOp::create(builder, loc, type, ValueRange());
    for (const Part &part : parts) {
      Value computed = emit(op, part.box, [&](OpOperand &operand, const Box &box) -> Value {
        auto found = assembled.find(operand.get());
        if (found == assembled.end())
          return sliceOf(operand.get(), box, /*isLast=*/false);
        const Piece &piece = *pieceAt(found->second, box);
        if (piece.isScalar())
          return piece.source;
        Box inSource;
        for (auto [side, from, offset] : llvm::zip_equal(box, piece.box, piece.offsets))
          inSource.push_back({side.first - from.first + offset, side.second - from.first + offset});
        return sliceOf(piece.source, inSource, readsAlone(piece.source));
      });
      result = result ? insert(computed, result, part.box) : computed;
    }
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return true;
  }

private:
  struct Part {
    Box box;
    SmallVector<const Piece *> pieces; // of each assembled operand
  };

  static Value wholeOf(Value tensor) {
    while (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>())
      tensor = slice.getSource();
    return tensor;
  }

  /// The assembled operands that are cut along the innermost loop will be stored. Returns whether there are others.
  bool storeInnermost() {
    auto isCut = [&](OpOperand *operand, unsigned loop) {
      AffineMap map = op.getMatchingIndexingMap(operand);
      return llvm::any_of(assembled.lookup(operand->get()), [&](const Piece &piece) {
        return llvm::any_of(llvm::zip_equal(map.getResults(), piece.box), [&](auto dimension) {
          auto [expr, side] = dimension;
          return cast<AffineDimExpr>(expr).getPosition() == loop &&
                 side != std::pair<int64_t, int64_t>(0, op.getStaticLoopRanges()[loop]);
        });
      });
    };
    for (unsigned loop = op.getNumLoops(); loop-- > 0;) {
      SmallVector<Value> cut;
      for (OpOperand *operand : op.getDpsInputOperands())
        if (assembled.contains(operand->get()) && isCut(operand, loop))
          cut.push_back(operand->get());
      for (Value tensor : cut)
        assembled.erase(tensor);
      if (!cut.empty())
        return !assembled.empty();
    }
    return false;
  }

  /// Cuts the loops at all borders of pieces, and joins neighbours with equal pieces.
  bool findParts() {
    if (assembled.empty())
      return false;
    parts.clear();
    SmallVector<SmallVector<int64_t>> cuts;
    for (int64_t range : op.getStaticLoopRanges())
      cuts.push_back({0, range});
    for (OpOperand *operand : op.getDpsInputOperands())
      for (const Piece &piece : assembled.lookup(operand->get()))
        for (auto [expr, side] : llvm::zip_equal(op.getMatchingIndexingMap(operand).getResults(), piece.box))
          cuts[cast<AffineDimExpr>(expr).getPosition()].append({side.first, side.second});
    parts.push_back({});
    for (SmallVector<int64_t> &loop : cuts) {
      llvm::sort(loop);
      loop.erase(llvm::unique(loop), loop.end());
      SmallVector<Part> longer;
      for (const Part &part : parts)
        for (size_t i = 0; i + 1 < loop.size(); ++i) {
          longer.push_back(part);
          longer.back().box.push_back({loop[i], loop[i + 1]});
        }
      parts = std::move(longer);
      if (parts.size() > 4 * mostParts) // before neighbours are joined
        return false;
    }
    for (Part &part : parts)
      for (OpOperand *operand : op.getDpsInputOperands())
        if (auto found = assembled.find(operand->get()); found != assembled.end()) {
          part.pieces.push_back(pieceAt(found->second, boxOfOperand(op.getMatchingIndexingMap(operand), part.box)));
          if (!part.pieces.back())
            return false;
        }
    for (unsigned loop = op.getNumLoops(); loop-- > 0;)
      joinAlong(loop);
    return true;
  }

  void joinAlong(unsigned loop) {
    SmallVector<Part> joined;
    for (Part &part : parts) {
      auto before = llvm::find_if(joined, [&](const Part &other) {
        if (other.pieces != part.pieces || other.box[loop].second != part.box[loop].first)
          return false;
        Box next = other.box;
        next[loop] = part.box[loop];
        return next == part.box;
      });
      if (before != joined.end())
        before->box[loop].second = part.box[loop].second;
      else
        joined.push_back(part);
    }
    parts = std::move(joined);
  }

  /// The time for a box, in elements.
  static int64_t costOf(const Box &box, ArrayRef<int64_t> sizes) {
    int64_t row = 1, rows = 1;
    bool isWhole = true;
    for (auto [side, whole] : llvm::reverse(llvm::zip_equal(box, sizes))) {
      int64_t size = side.second - side.first;
      (isWhole ? row : rows) *= size;
      isWhole &= size == whole;
    }
    return rows * std::max(row, elementsOfRow);
  }

  /// Whether the parts take less time than the whole, with operands that are assembled in memory. An element costs its
  /// operations; assembly reads and writes it, for all readers.
  bool isLessThanAssembly(int64_t parts, int64_t elements) {
    int64_t assembly = 0;
    for (auto &[tensor, pieces] : assembled) {
      int64_t cost = 0;
      for (const Piece &piece : pieces)
        cost += 2 * costOf(piece.box, cast<RankedTensorType>(tensor.getType()).getShape());
      assembly += cost / llvm::range_size(wholeOf(tensor).getUses());
    }
    return (parts - elements) * elementCost(op) <= assembly;
  }

  bool isWorthwhile() {
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    int64_t elements = 1, cost = 0, count = parts.size();
    for (int64_t range : ranges)
      elements *= range;
    for (const Part &part : parts)
      cost += costOf(part.box, ranges);
    return count == 1 || (count <= mostParts && elements >= count * elementsOfPart &&
                          (2 * cost <= 3 * elements || isLessThanAssembly(cost, elements)) &&
                          count * int64_t(op.getBody()->getOperations().size()) <= mostOperations);
  }

  /// Whether the op alone reads a value: as an operand that it is inserted into, or a slice of that.
  bool readsAlone(Value value) {
    while (value.hasOneUse()) {
      Operation *user = *value.user_begin();
      if (user == op)
        return true;
      if (!isa<tensor::InsertSliceOp, tensor::ExtractSliceOp>(user))
        return false;
      value = user->getResult(0);
    }
    return false;
  }

  /// The op on a part of its loops. `slice` gives the operands: tensors, or scalars.
  Value emit(linalg::GenericOp whole, const Box &part, function_ref<Value(OpOperand &, const Box &)> slice) {
    SmallVector<int64_t> sizes;
    for (auto [from, to] : part)
      sizes.push_back(to - from);
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    IRMapping scalars;
    SmallVector<BlockArgument> arguments;
    for (OpOperand *operand : whole.getDpsInputOperands()) {
      AffineMap map = whole.getMatchingIndexingMap(operand);
      BlockArgument argument = whole.getMatchingBlockArgument(operand);
      Value value = operand->get();
      if (isa<RankedTensorType>(value.getType()))
        value = slice(*operand, boxOfOperand(map, part));
      if (isa<RankedTensorType>(operand->get().getType()) && !isa<RankedTensorType>(value.getType())) {
        scalars.map(argument, value);
        continue;
      }
      inputs.push_back(value);
      maps.push_back(map);
      arguments.push_back(argument);
    }
    maps.push_back(builder.getMultiDimIdentityMap(whole.getNumLoops()));
    Type element = getElementTypeOrSelf(whole->getResult(0).getType());
    Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
    auto copy = linalg::GenericOp::create(
        builder, loc, empty.getType(), inputs, empty, maps, whole.getIteratorTypesArray(),
        [&](OpBuilder &b, Location, ValueRange elements) {
          IRMapping mapping = scalars;
          for (auto [argument, value] : llvm::zip(arguments, elements))
            mapping.map(argument, value);
          for (Operation &inner : *whole.getBody()) {
            Operation *clone = b.clone(inner, mapping);
            auto index = dyn_cast<linalg::IndexOp>(clone);
            if (!index || part[index.getDim()].first == 0)
              continue;
            Value first = arith::ConstantIndexOp::create(b, loc, part[index.getDim()].first);
            mapping.map(inner.getResult(0), arith::AddIOp::create(b, loc, index, first).getResult());
          }
        });
    return copy->getResult(0);
  }

  /// The tensor at a box, or the scalar that all its elements equal. If that pays, the elementwise producer is computed
  /// for the box alone; `isLast`: it has no other reader.
  Value sliceOf(Value tensor, const Box &box, bool isLast) {
    if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
      return fill.value();
    SplatElementsAttr splat;
    if (matchPattern(tensor, m_Constant(&splat)))
      return arith::ConstantOp::create(builder, loc, splat.getSplatValue<TypedAttr>());
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.hasStaticShape() && box == wholeBox(type.getShape()))
      return tensor;
    if (auto producer = tensor.getDefiningOp<linalg::GenericOp>();
        producer && isElementwise(producer) && (isLast || elementCost(producer) <= cheapCost))
      return emit(producer, box,
                  [&](OpOperand &operand, const Box &part) { return sliceOf(operand.get(), part, /*isLast=*/false); });
    if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>())
      if (std::optional<Box> outer = boxOf(slice, slice.getType(), slice.getSourceType())) {
        for (auto [side, inner] : llvm::zip_equal(*outer, box))
          side = {side.first + inner.first, side.first + inner.second};
        return sliceOf(slice.getSource(), *outer, /*isLast=*/false);
      }
    SmallVector<OpFoldResult> offsets, sizes, ones(box.size(), builder.getIndexAttr(1));
    for (auto [from, to] : box) {
      offsets.push_back(builder.getIndexAttr(from));
      sizes.push_back(builder.getIndexAttr(to - from));
    }
    return tensor::ExtractSliceOp::create(builder, loc, tensor, offsets, sizes, ones);
  }

  Value insert(Value part, Value whole, const Box &box) {
    SmallVector<OpFoldResult> offsets, sizes, ones(box.size(), builder.getIndexAttr(1));
    for (auto [from, to] : box) {
      offsets.push_back(builder.getIndexAttr(from));
      sizes.push_back(builder.getIndexAttr(to - from));
    }
    return tensor::InsertSliceOp::create(builder, loc, part, whole, offsets, sizes, ones);
  }

  linalg::GenericOp op;
  OpBuilder builder;
  Location loc;
  function_ref<int64_t(linalg::GenericOp)> elementCost;
  int64_t cheapCost;
  llvm::MapVector<Value, SmallVector<Piece>> assembled;
  SmallVector<Part> parts;
};

} // namespace

bool divideReaders(func::FuncOp function, function_ref<int64_t(linalg::GenericOp)> costOf, int64_t cheapCost) {
  SmallVector<linalg::GenericOp> readers;
  function.walk([&](linalg::GenericOp op) {
    if (isElementwise(op))
      readers.push_back(op);
  });
  bool changed = false;
  for (linalg::GenericOp reader : readers)
    changed |= Divider(reader, costOf, cheapCost).divide();
  if (changed) { // the assembling operations count as readers of the sources
    IRRewriter rewriter(function.getContext());
    (void)runRegionDCE(rewriter, function->getRegions());
  }
  return changed;
}

} // namespace mlir::array
