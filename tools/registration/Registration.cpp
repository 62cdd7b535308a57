// Registers MLIR's dialects and passes, and those of this project.
#include "Registration.h"
#include "array/Pipelines/Cpu.h"
#include "array/Pipelines/Gpu.h"
#include "array/Pipelines/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

namespace mlir::array {

void registerToolDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerPipelineDialects(registry);
  registerGpuDialects(registry);
}

void registerToolPasses() {
  registerAllPasses();
  registerOwnPasses();
}

} // namespace mlir::array
