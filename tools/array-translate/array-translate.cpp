// array-translate: mlir-translate for the array dialect. Reads a program in another form and prints its array module,
// which array-opt compiles.
#include "array/Stablehlo/Import.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"

int main(int argc, char **argv) {
  mlir::TranslateToMLIRRegistration stablehlo(
      "stablehlo-to-array", "StableHLO as text, of one device, to the array dialect",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, mlir::MLIRContext *context) {
        // An error shows the line; printing the operation with its regions would hide it.
        context->printOpOnDiagnostic(false);
        return mlir::OwningOpRef<mlir::Operation *>(mlir::array::importStablehlo(*sources, context).release());
      });
  return mlir::failed(mlir::mlirTranslateMain(argc, argv, "array-translate: programs from elsewhere\n"));
}
