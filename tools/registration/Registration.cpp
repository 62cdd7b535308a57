// The one list of what the tools register. A new file of passes, or of pipelines, adds its line here.
#include "Registration.h"
#include "array/Conversion/Passes.h"
#include "array/Gpu/Collectives.h"
#include "array/Gpu/Passes.h"
#include "array/Pipelines/Cpu.h"
#include "array/Pipelines/Gpu.h"
#include "array/Transforms/Passes.h"

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
  registerArrayConversionPasses();
  registerArrayTransformsPasses();
  registerArrayGpuPasses();
  registerArrayGpuCollectivePasses();
  registerArrayPipelines();
  registerGpuPipelines();
}

} // namespace mlir::array
