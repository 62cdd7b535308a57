// A pass that emits remarks on additions, by the array dialect's class for them, and a dialect, `plugged`, of any
// operations. tests/lit/Tools/array-opt/plugins.mlir loads it.
#include "array/IR/Array.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

namespace {

struct FindAdditions : mlir::PassWrapper<FindAdditions, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FindAdditions)

  llvm::StringRef getArgument() const override { return "find-additions"; }
  llvm::StringRef getDescription() const override { return "Remark on every array.add"; }
  void runOnOperation() override {
    getOperation()->walk([](mlir::array::AddOp op) { op.emitRemark("an addition of ") << op.getType(); });
  }
};

struct PluggedDialect : mlir::Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PluggedDialect)

  explicit PluggedDialect(mlir::MLIRContext *context)
      : Dialect(getDialectNamespace(), context, mlir::TypeID::get<PluggedDialect>()) {
    allowUnknownOperations();
  }
  static llvm::StringRef getDialectNamespace() { return "plugged"; }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "array-test-plugin", "1", [] { mlir::PassRegistration<FindAdditions>(); }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "array-test-plugin", "1",
          [](mlir::DialectRegistry *registry) { registry->insert<PluggedDialect>(); }};
}
