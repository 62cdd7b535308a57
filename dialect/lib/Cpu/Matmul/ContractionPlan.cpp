// Plans a contraction (ContractionPlan.h): the fusion of its prologues and its epilogue, the blocks that follow from
// them, and the division of a batch.
#include "ContractionPlan.h"
#include "Analysis/ContractionForm.h"
#include "Analysis/ParallelLoops.h"

namespace mlir::array {

namespace {

/// A smaller matrix, in bytes, is loaded in time without prefetching.
constexpr int64_t kLeastAhead = 2 << 10;

class Planner {
public:
  Planner(ImplicitLocOpBuilder &b, linalg::LinalgOp op, MatmulForm product, const MatmulSchedule &schedule,
          Type element)
      : b(b), g(b), op(op), plan{element, std::move(product), schedule, {}, {}} {}

  ContractionPlan run() {
    takeEpilogueOf();
    linalg::FillOp fill = findZeroFill(op, product.c.buffer);
    if (schedule.method == MatmulMethod::Tiles)
      takePrologues();
    if (fill && !product.maySumNothing())
      plan.fill = fill;
    if (plan.epilogue.op && plan.fill)
      giveToTiles();
    if (schedule.method == MatmulMethod::Dot2)
      pairFactors();
    schedule.packsLeft &= !plan.hasPrologue(0);
    if (schedule.packsLeft)
      schedule.blocks.rows = llvm::alignTo(schedule.blocks.rows, schedule.tile.rows);
    planBatch();
    bool hasLoops = !product.outer.empty() || !product.outerReductions.empty();
    if (schedule.method == MatmulMethod::Stream && !hasLoops)
      plan.depthBlocks = streamDepthBlocks(plan.element, product.m.size, product.n.size, product.k.size);
    planAhead();
    planBlocksOfEpilogue();
    return std::move(plan);
  }

private:
  void takeEpilogueOf() {
    linalg::GenericOp epilogue = takeEpilogue(op);
    if (!epilogue)
      return;
    product.c.buffer = op.getDpsInits().front();
    if (isCopy(epilogue))
      epilogue.erase();
    else
      plan.epilogue.op = epilogue;
  }

  /// Finds the prologues of the operands. Each must run once for each element, or be little work relative to the
  /// matmul.
  void takePrologues() {
    for (int side : {1, 0}) {
      OpOperand *operand = op.getDpsInputOperand(product.isSwapped ? 1 - side : side);
      linalg::GenericOp producer = findPrologue(op, *operand);
      if (!producer || !paysToCompute(side))
        continue;
      FailureOr<SmallVector<Operand>> inputs = readPrologue(producer, op, *operand);
      if (failed(inputs))
        continue;
      SmallVector<Operand> all = product.more;
      all.append(inputs->begin(), inputs->end());
      FailureOr<MatmulForm> extended = extendProduct(all);
      if (failed(extended))
        continue;
      auto &[prologue, firstInput] = plan.prologues[side];
      prologue.producer = producer;
      for (size_t i = product.more.size(); i < all.size(); ++i) {
        const BoundedSize &row = (side == 0 ? extended->m : extended->k).strides[3 + i];
        const BoundedSize &column = (side == 0 ? extended->k : extended->n).strides[3 + i];
        prologue.inputs.push_back({all[i].buffer, Value(), row, column});
      }
      firstInput = product.more.size();
      product = std::move(*extended);
      if (side == 1 && !makesPanels(schedule.packing))
        schedule.packing = MatmulPacking::Rows;
    }
  }

  /// Whether computing an operand by blocks pays: it is large, and no element is computed more than twice.
  bool paysToCompute(int side) const {
    constexpr int64_t leastElements = 4096, mostTimes = 2;
    int64_t m = product.m.size.expected(), n = product.n.size.expected(), k = product.k.size.expected(),
            times = side == 0 ? llvm::divideCeil(n, schedule.blocks.columns) : 1; // blocks compute it again
    for (const auto *loops : {&product.outer, &product.outerReductions})
      for (const Dimension &dimension : *loops)
        times *= dimension.strides[side].isStatic(0) ? dimension.size.expected() : 1;
    return k * (side == 0 ? m : n) >= leastElements && times <= mostTimes;
  }

  /// Moves the epilogue into the tiles, if they support it. The variants without tiles, for some sizes, must support
  /// it, too.
  void giveToTiles() {
    linalg::GenericOp epilogue = plan.epilogue.op;
    bool isTiled = schedule.method == MatmulMethod::Tiles || schedule.method == MatmulMethod::Dot2;
    bool hasTilesOnly = product.m.size.isStatic() && product.n.size.isStatic() && product.k.size.isStatic();
    if (!isTiled || !product.outerReductions.empty() ||
        !(hasTilesOnly ? canMoveEpilogue(epilogue, op) : canRunOnBlocks(epilogue)))
      return;
    std::optional<TileEpilogue> matched = matchTileEpilogue(epilogue, product.c.buffer);
    if (!matched)
      return;
    if (OpOperand *addend = matched->addend) {
      FailureOr<Operand> read = readOperandBeside(epilogue, *addend, op, *op.getDpsInitOperand(0));
      if (failed(read) || getElementTypeOrSelf(addend->get().getType()) != plan.element)
        return;
      SmallVector<Operand> all = product.more;
      all.push_back(std::move(*read));
      FailureOr<MatmulForm> extended = extendProduct(all);
      if (failed(extended) || !extended->n.strides.back().isStatic(1))
        return;
      product = std::move(*extended);
    }
    plan.epilogue.inTiles = matched;
  }

  bool canRunOnBlocks(linalg::GenericOp epilogue) {
    return product.outer.empty() && product.outerReductions.empty() && !product.maySumNothing() &&
           canBlockEpilogue(epilogue, op);
  }

  void planBlocksOfEpilogue() {
    EpiloguePlan &epilogue = plan.epilogue;
    bool hasBlocks = schedule.method != MatmulMethod::Stream && product.m.size.expected() > schedule.blocks.rows;
    epilogue.isOnBlocks = epilogue.op && (epilogue.inTiles || hasBlocks) && canRunOnBlocks(epilogue.op);
  }

  /// The matmul with strides for all these operands as well; fails if they do not fit its dimensions.
  FailureOr<MatmulForm> extendProduct(ArrayRef<Operand> all) {
    FailureOr<MatmulForm> extended = readMatmul(op, all);
    bool isSame = succeeded(extended) && succeeded(orient(*extended)) && extended->isSwapped == product.isSwapped &&
                  extended->m.size == product.m.size && extended->n.size == product.n.size &&
                  extended->k.size == product.k.size && extended->outer.size() == product.outer.size() &&
                  extended->outerReductions.size() == product.outerReductions.size();
    return isSame ? extended : FailureOr<MatmulForm>();
  }

  /// From here on k counts pairs.
  void pairFactors() {
    auto factor = [](const Operand &operand, const BoundedSize &stride) {
      Type element = getElementTypeOrSelf(operand.buffer.getType());
      return Dot2Factor{element, operand.isSigned && element.isInteger(), stride.isStatic(1)};
    };
    BoundedSize terms = product.k.size;
    if (terms.isStatic()) {
      product.k.size = dot2Elements(terms.factor());
    } else {
      int64_t most =
          terms.isAtMost(std::numeric_limits<int64_t>::max() - 1) ? dot2Elements(terms.most()) : terms.most();
      product.k.size = BoundedSize(g.ceilDiv(g.index(terms), 2),
                                   {dot2Elements(terms.least()), most, 1, dot2Elements(terms.expected())});
    }
    plan.pairing = {factor(product.a, product.k.strides[0]), factor(product.b, product.n.strides[1]), terms};
  }

  /// Threads share the outermost loop around many small matmuls. If an operand is packed, there are several blocks of
  /// matmuls, each with its own packing buffer.
  void planBatch() {
    if (product.outer.empty())
      return;
    BatchPlan &batch = plan.batch;
    const BoundedSize &size = product.outer.front().size;
    int64_t products = 1;
    for (const Dimension &dimension : llvm::drop_begin(product.outer))
      products *= dimension.size.expected();
    for (const Dimension &dimension : product.outerReductions)
      products *= dimension.size.expected();
    batch.itemNs = double(products) * estimateMatmulNs(schedule.tile, product.m.size.expected(),
                                                       product.n.size.expected(), product.k.size.expected());
    if (batch.itemNs * double(size.most()) < kSharedNs || (products == 1 && batch.itemNs > 8 * kSharedNs))
      return;
    constexpr int64_t mostBlocks = 16;
    bool needsNoBuffer = plan.packElements() == 0 && !plan.copiesLeft();
    if (needsNoBuffer) {
      batch.blocks = size.most();
    } else if (size.isStatic()) {
      batch.step = llvm::divideCeil(size.factor(), mostBlocks);
      batch.blocks = llvm::divideCeil(size.factor(), batch.step.factor());
    } else {
      Value step = arith::MaxSIOp::create(b, g.ceilDiv(g.index(size), mostBlocks), g.index(1));
      batch.step = BoundedSize(step, {1, size.most(), 1, int64_t(llvm::divideCeil(size.expected(), mostBlocks))});
      batch.blocks = std::min(size.most(), mostBlocks);
    }
  }

  /// Prefetches the operands of the batch's next matmul. With small matrices, hardware prefetching is too late: 64
  /// matmuls of 64 x 64 took a quarter longer from memory than from the cache on Zen 4, and no longer with this.
  void planAhead() {
    const Dimension &m = product.m, &n = product.n, &k = product.k;
    const MatmulTile &tile = schedule.tile;
    const MatmulBlocks &blocks = schedule.blocks;
    bool isOneBlock = m.size.isStatic() && n.size.isStatic() && k.size.isStatic() && m.size.isAtMost(blocks.rows) &&
                      n.size.isAtMost(blocks.columns) && k.size.isAtMost(blocks.depth);
    if (schedule.method != MatmulMethod::Tiles || schedule.packing != MatmulPacking::InPlace || plan.copiesLeft() ||
        plan.hasPrologue(1) || !isOneBlock || product.outer.empty() || !product.outerReductions.empty() ||
        tile.vectors == 1)
      return;
    int64_t terms = llvm::divideCeil(m.size.factor(), tile.rows) * llvm::divideCeil(n.size.factor(), tile.columns()) *
                    k.size.factor();
    if (terms == 0)
      return;
    const Dimension *sides[][2] = {{&m, &k}, {&k, &n}, {&m, &n}};
    std::array<AheadPlan, 3> ahead;
    for (auto [i, side] : llvm::enumerate(sides)) {
      const BoundedSize &distance = product.outer.back().strides[i];
      int64_t elements = side[0]->size.factor() * side[1]->size.factor();
      bool isDense = llvm::any_of(llvm::seq(0, 2), [i = i, side = side](int inner) {
        return side[inner]->strides[i].isStatic(1) && side[1 - inner]->strides[i].isStatic(side[inner]->size.factor());
      });
      int64_t step = llvm::divideCeil(elements, terms), bytes = plan.element.getIntOrFloatBitWidth() / 8;
      if (isDense && distance.isStatic() && distance.factor() >= elements && step * bytes <= kLineBytes &&
          elements * bytes >= kLeastAhead)
        ahead[i] = {distance.factor(), step};
    }
    if (llvm::any_of(ahead, [](const AheadPlan &operand) { return operand.step > 0; }))
      plan.ahead = ahead;
  }

  ImplicitLocOpBuilder &b;
  MatmulBuilder g;
  linalg::LinalgOp op;
  ContractionPlan plan;
  MatmulForm &product = plan.product;
  MatmulSchedule &schedule = plan.schedule;
};

} // namespace

ContractionPlan planContraction(ImplicitLocOpBuilder &b, linalg::LinalgOp op, MatmulForm product,
                                const MatmulSchedule &schedule, Type element) {
  return Planner(b, op, std::move(product), schedule, element).run();
}

} // namespace mlir::array
