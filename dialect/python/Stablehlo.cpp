// _compiler.import_stablehlo: the C++ API of array/Stablehlo/Import.h.
#include "Binding.h"
#include "Gil.h"
#include "array/Stablehlo/Import.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace pycompiler {

static PyModule importStablehlo(const std::string &text, const PyContext *given) {
  const PyContext &context = resolve(given, "context");
  DiagnosticCollector diagnostics(context.context.get());
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    ReleasedGil released;
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "<stablehlo>"), llvm::SMLoc());
    module = mlir::array::importStablehlo(sources, context.context.get());
  }
  if (!module)
    diagnostics.raise("can't import the StableHLO module");
  return {std::shared_ptr<Tree>(new Tree{context.context, std::move(module)})};
}

void bindStablehlo(nb::module_ &module) {
  module.def("import_stablehlo", importStablehlo, nb::arg("asm"), nb::arg("context") = nb::none(),
             "The verified array module of a StableHLO module. Raises MLIRError, which names an unsupported operation\n"
             "and its line.");
  module.def("stablehlo_operations", mlir::array::takenOperations,
             "The names of the operations that import_stablehlo supports, sorted.");
}

} // namespace pycompiler
