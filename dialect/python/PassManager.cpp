// _compiler.passmanager, under the names of upstream's mlir.passmanager.
#include "Binding.h"
#include "array/Conversion/Passes.h"
#include "array/Pipelines/Cpu.h"
#include "array/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include <nanobind/stl/string.h>

namespace pycompiler {
namespace {

struct PyPassManager {
  ContextRef context; // declared first: it must outlive the passes
  std::unique_ptr<mlir::PassManager> passes;
};

PyPassManager parsePipeline(const std::string &text, const PyContext *given) {
  const ContextRef &context = resolve(given, "context").context;
  std::string message;
  llvm::raw_string_ostream stream(message);
  // Parsing into a pass manager would nest the pipeline under the one that is there, so it is parsed by itself and
  // moved.
  mlir::FailureOr<mlir::OpPassManager> parsed = mlir::parsePassPipeline(text, stream);
  if (mlir::failed(parsed))
    throw nb::value_error(("can't parse the pass pipeline '" + text + "': " + message).c_str());
  auto passes = std::make_unique<mlir::PassManager>(context.get());
  static_cast<mlir::OpPassManager &>(*passes) = std::move(*parsed);
  return {context, std::move(passes)};
}

void run(PyPassManager &self, Tree &tree, mlir::Operation *op) {
  if (tree.context != self.context)
    throw nb::value_error("the pass manager is of another context");
  if (op->getName() != self.passes->getOpName(*self.context))
    throw nb::value_error(
        ("the pipeline is for '" + self.passes->getOpAnchorName() + "', not for '" + op->getName().getStringRef() + "'")
            .str()
            .c_str());
  DiagnosticCollector diagnostics(self.context.get());
  ++tree.generation;
  bool ok;
  {
    nb::gil_scoped_release release;
    ok = mlir::succeeded(self.passes->run(op));
  }
  if (!ok)
    diagnostics.raise("the pass pipeline failed");
}

} // namespace

void bindPassManager(nb::module_ &module) {
  mlir::registerTransformsPasses();
  mlir::array::registerArrayConversionPasses();
  mlir::array::registerArrayTransformsPasses();
  mlir::array::registerArrayPipelines();

  nb::class_<PyPassManager>(module, "PassManager")
      .def_static("parse", parsePipeline, nb::arg("pipeline"), nb::arg("context") = nb::none())
      .def(
          "run",
          [](PyPassManager &self, const PyOperation &operation) {
            operation.check();
            run(self, *operation.tree, operation.op);
          },
          nb::arg("operation"))
      .def(
          "run",
          [](PyPassManager &self, const PyModule &module) {
            run(self, *module.tree, module.tree->module->getOperation());
          },
          nb::arg("module"))
      .def("__str__", [](PyPassManager &self) {
        std::string text;
        llvm::raw_string_ostream stream(text);
        self.passes->printAsTextualPipeline(stream);
        return text;
      });
}

} // namespace pycompiler
