// array-lsp-server: MLIR's language server with the array dialect, for editors. It completes, finds definitions and
// uses, reports errors during typing, and shows the documentation of operations on hover (HoverDocs.h).
#include "HoverDocs.h"
#include "Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  return mlir::array::runWithHoverDocs([&] {
    mlir::DialectRegistry registry;
    mlir::array::registerToolDialects(registry);
    return mlir::succeeded(mlir::MlirLspServerMain(argc, argv, registry)) ? EXIT_SUCCESS : EXIT_FAILURE;
  });
}
