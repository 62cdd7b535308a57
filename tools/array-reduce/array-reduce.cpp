// array-reduce: mlir-reduce with the array dialect, and with a pass that shrinks a module while a script finds it
// interesting (Reduction.h).
#include "Reduction.h"
#include "Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::array::registerToolPasses();
  mlir::array::registerReduction();
  mlir::array::registerToolDialects(registry);
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
