// array-opt: mlir-opt with the array dialect. Reads a module, runs the passes that are named on the command line,
// prints it.
#include "array/Conversion/Passes.h"
#include "array/Gpu/Collectives.h"
#include "array/Gpu/Passes.h"
#include "array/Pipelines/Cpu.h"
#include "array/Pipelines/Gpu.h"
#include "array/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::array::registerArrayConversionPasses();
  mlir::array::registerArrayTransformsPasses();
  mlir::array::registerArrayGpuPasses();
  mlir::array::registerArrayGpuCollectivePasses();
  mlir::array::registerArrayPipelines();
  mlir::array::registerGpuPipelines();

  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::array::registerPipelineDialects(registry);
  mlir::array::registerGpuDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "array-opt: array programs\n", registry));
}
