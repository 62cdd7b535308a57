// Bufferization of array.runtime_call and of array.optimization_barrier, and the operands of carries. Library routines
// take dense operands. A strided view is copied to a temporary before the call, or from one after it.
#include "array/Bufferize/BufferizableOpInterfaceImpl.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array {
namespace {

using namespace bufferization;

struct RuntimeCallBufferization : DstBufferizableOpInterfaceExternalModel<RuntimeCallBufferization, RuntimeCallOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return !cast<RuntimeCallOp>(op).isDpsInit(&operand); // outputs are overwritten
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto call = cast<RuntimeCallOp>(op);
    rewriter.setInsertionPoint(call);
    SmallVector<Value> inputs, outputs, results;
    for (Value input : call.getIns()) {
      FailureOr<Value> buffer = getBuffer(rewriter, input, options, state);
      FailureOr<Value> dense = failed(buffer) ? buffer : densify(rewriter, call.getLoc(), *buffer, options);
      if (failed(dense) ||
          (*dense != *buffer && failed(options.createMemCpy(rewriter, call.getLoc(), *buffer, *dense))))
        return failure();
      inputs.push_back(*dense);
    }
    for (Value output : call.getOuts()) {
      FailureOr<Value> buffer = getBuffer(rewriter, output, options, state);
      FailureOr<Value> dense = failed(buffer) ? buffer : densify(rewriter, call.getLoc(), *buffer, options);
      if (failed(dense))
        return failure();
      outputs.push_back(*dense);
      results.push_back(*buffer);
    }
    RuntimeCallOp::create(rewriter, call.getLoc(), TypeRange(), call.getNameAttr(), call.getParamsAttr(),
                          call.getElementTypesAttr(), inputs, outputs, call.getSizes(), call.getEffectfulAttr());
    for (auto [dense, buffer] : llvm::zip_equal(outputs, results))
      if (dense != buffer && failed(options.createMemCpy(rewriter, call.getLoc(), dense, buffer)))
        return failure();
    replaceOpWithBufferizedValues(rewriter, call, results);
    return success();
  }

  /// `buffer` if it is dense, else a new dense buffer of its shape.
  static FailureOr<Value> densify(RewriterBase &rewriter, Location loc, Value buffer,
                                  const BufferizationOptions &options) {
    auto type = cast<MemRefType>(buffer.getType());
    if (type.getLayout().isIdentity() || memref::isStaticShapeAndContiguousRowMajor(type))
      return buffer;
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(memref::DimOp::create(rewriter, loc, buffer, dim));
    return options.createAlloc(rewriter, loc, MemRefType::get(type.getShape(), type.getElementType()), sizes);
  }
};

/// The result is the operand's buffer.
struct BarrierBufferization : BufferizableOpInterface::ExternalModel<BarrierBufferization, OptimizationBarrierOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const { return false; }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const AnalysisState &) const { return false; }

  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return {{op->getResult(operand.getOperandNumber()), BufferRelation::Equivalent}};
  }

  // The default looks through the producers of the operand: in a chain, once for each of its links.
  bool resultBufferizesToMemoryWrite(Operation *, OpResult, const AnalysisState &) const { return false; }
  AliasingOpOperandList getAliasingOpOperands(Operation *op, Value value, const AnalysisState &) const {
    return {{&op->getOpOperand(cast<OpResult>(value).getResultNumber()), BufferRelation::Equivalent}};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    replaceOpWithBufferizedValues(rewriter, op, buffers);
    return success();
  }
};

//===--- Carries --------------------------------------------------------------------------------------------------===//

/// The operand of a loop that may share memory with a value. Upstream's default asks each operand of the loop for its
/// values, and each operand searches the results: for n carries, the analysis takes n * n * n steps. Here a result has
/// only one candidate. Arguments of the loop's blocks have none, as upstream.
template <typename Loop>
AliasingOpOperandList operandOf(const BufferizableOpInterface::Concept *, Operation *op, Value value,
                                const AnalysisState &state) {
  auto result = dyn_cast<OpResult>(value);
  unsigned number = result ? result.getResultNumber() : 0;
  if constexpr (std::is_same_v<Loop, scf::ForOp>)
    number += cast<scf::ForOp>(op).getNumControlOperands();
  if (!result || number >= op->getNumOperands())
    return {};
  OpOperand &operand = op->getOpOperand(number);
  if (!isa<TensorType>(operand.get().getType()))
    return {};
  for (const AliasingValue &aliasing : state.getAliasingValues(operand))
    if (aliasing.value == value)
      return {AliasingOpOperand(&operand, aliasing.relation, aliasing.isDefinite)};
  return {};
}

/// Changes one function of upstream's model, which is not in a header.
template <typename Loop> void takeOperands(MLIRContext *context) {
  auto *model = OperationName(Loop::getOperationName(), context).getInterface<BufferizableOpInterface>();
  if (!model)
    llvm::report_fatal_error("upstream's models of loops must be registered before registerOperandsOfCarries");
  model->getAliasingOpOperands = operandOf<Loop>;
}

} // namespace

void registerOperandsOfCarries(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    takeOperands<scf::ForOp>(context);
    takeOperands<scf::WhileOp>(context);
  });
}

void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ArrayDialect *) {
    RuntimeCallOp::attachInterface<RuntimeCallBufferization>(*context);
    OptimizationBarrierOp::attachInterface<BarrierBufferization>(*context);
  });
}

} // namespace mlir::array
