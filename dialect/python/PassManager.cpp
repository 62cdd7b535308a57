// _compiler.passmanager, under the names of upstream's mlir.passmanager.
#include "Gil.h"
#include "Interruptible.h"
#include "array/Pipelines/Gpu.h"
#include "array/Pipelines/Passes.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace pycompiler {
namespace {

/// State that passes written in Python share with their caller.
struct Running {
  std::shared_ptr<Tree> tree;
  std::optional<nb::python_error> error; ///< the exception of the first one that failed
};

struct PyPassManager {
  ContextRef context; // declared first: it must outlive the passes
  std::shared_ptr<mlir::PassManager> passes;
  bool hasFunctions = false; ///< Passes that are written in Python.
  std::shared_ptr<Running> running = std::make_shared<Running>();
};

/// A Python function that is called with the operation of the pass manager.
class PythonPass : public mlir::PassWrapper<PythonPass, mlir::OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PythonPass)

  PythonPass(std::string name, nb::object function, std::shared_ptr<Running> running)
      : name(std::move(name)), function(std::make_shared<Function>(std::move(function))), running(std::move(running)) {}

  llvm::StringRef getArgument() const override { return name; }
  llvm::StringRef getName() const override { return name; }

  void runOnOperation() override {
    AcquiredGil acquired;
    running->tree->startGeneration();
    try {
      function->object(PyOperation(running->tree, getOperation()));
    } catch (nb::python_error &error) {
      running->error.emplace(std::move(error));
      signalPassFailure();
    }
  }

private:
  /// Copies of the pass are made and destroyed without the GIL.
  struct Function {
    nb::object object;
    explicit Function(nb::object object) : object(std::move(object)) {}
    ~Function() {
      AcquiredGil acquired;
      object.reset();
    }
  };

  std::string name;
  std::shared_ptr<Function> function;
  std::shared_ptr<Running> running;
};

/// A pipeline for a GPU translates kernels, by interfaces that are registered in the context here.
const ContextRef &contextFor(const PyContext *given) {
  const ContextRef &context = resolve(given, "context").context;
  mlir::DialectRegistry registry;
  mlir::array::registerGpuDialects(registry);
  context->appendDialectRegistry(registry);
  return context;
}

PyPassManager createPassManager(const std::string &anchor, const PyContext *given) {
  const ContextRef &context = contextFor(given);
  return {context, std::make_shared<mlir::PassManager>(context.get(), anchor)};
}

void addPasses(PyPassManager &self, const std::string &pipeline) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (mlir::failed(mlir::parsePassPipeline(pipeline, *self.passes, stream)))
    throw nb::value_error(("can't parse the passes '" + pipeline + "': " + message).c_str());
}

void addFunction(PyPassManager &self, nb::callable function, std::optional<std::string> name) {
  if (!name)
    name = nb::cast<std::string>(nb::getattr(function, "__name__", nb::str("python-pass")));
  self.passes->addPass(std::make_unique<PythonPass>(*name, std::move(function), self.running));
  self.hasFunctions = true;
}

PyPassManager parsePipeline(const std::string &text, const PyContext *given) {
  const ContextRef &context = contextFor(given);
  std::string message;
  llvm::raw_string_ostream stream(message);
  // Parsing into a pass manager would nest the pipeline under the existing one, so it is parsed separately and moved.
  mlir::FailureOr<mlir::OpPassManager> parsed = mlir::parsePassPipeline(text, stream);
  if (mlir::failed(parsed))
    throw nb::value_error(("can't parse the pass pipeline '" + text + "': " + message).c_str());
  auto passes = std::make_shared<mlir::PassManager>(context.get());
  static_cast<mlir::OpPassManager &>(*passes) = std::move(*parsed);
  return {context, std::move(passes)};
}

/// Runs in this thread: between the passes, and in passes written in Python, signals are handled as anywhere in Python.
void runWithFunctions(PyPassManager &self, const std::shared_ptr<Tree> &owner, mlir::Operation *op) {
  DiagnosticCollector diagnostics(self.context.get());
  self.running->tree = owner;
  bool ok;
  {
    ReleasedGil released;
    ok = mlir::succeeded(self.passes->run(op));
  }
  self.running->tree.reset();
  if (self.running->error) {
    nb::python_error error(std::move(*self.running->error));
    self.running->error.reset();
    throw error;
  }
  if (!ok)
    diagnostics.raise("the pass pipeline failed");
}

/// An abandoned run keeps the module that it works on; the caller's module is empty then.
void runAlone(PyPassManager &self, const std::shared_ptr<Tree> &owner, mlir::Operation *op) {
  struct State {
    ContextRef context; // declared first, as in Tree
    mlir::OwningOpRef<mlir::ModuleOp> module;
    std::shared_ptr<mlir::PassManager> passes;
    std::optional<DiagnosticCollector> diagnostics;
    bool ok = false;
  };
  auto state = std::make_shared<State>();
  state->context = self.context;
  state->passes = self.passes;
  state->module = mlir::ModuleOp::create(mlir::UnknownLoc::get(self.context.get()));
  try {
    runInterruptibly(self.context, [state, op] {
      state->diagnostics.emplace(state->context.get());
      state->ok = mlir::succeeded(state->passes->run(op));
    });
  } catch (nb::python_error &) {
    if (isLeft(self.context.get()))
      std::swap(owner->module, state->module);
    throw;
  }
  if (!state->ok)
    state->diagnostics->raise("the pass pipeline failed");
}

void run(PyPassManager &self, const std::shared_ptr<Tree> &owner, mlir::Operation *op) {
  Tree &tree = *owner;
  if (tree.context != self.context)
    throw nb::value_error("the pass manager is of another context");
  if (op->getName() != self.passes->getOpName(*self.context))
    throw nb::value_error(
        ("the pipeline is for '" + self.passes->getOpAnchorName() + "', not for '" + op->getName().getStringRef() + "'")
            .str()
            .c_str());
  if (self.running->tree)
    throw nb::value_error("the pass manager is running");
  tree.startGeneration();
  try {
    (self.hasFunctions ? runWithFunctions : runAlone)(self, owner, op);
  } catch (...) {
    tree.startGeneration();
    throw;
  }
  tree.startGeneration();
}

} // namespace

void bindPassManager(nb::module_ &module) {
  mlir::array::registerPipelinePasses();

  nb::class_<PyPassManager>(module, "PassManager")
      .def_static("parse", parsePipeline, nb::arg("pipeline"), nb::arg("context") = nb::none())
      .def(
          "__init__",
          [](PyPassManager *self, const std::string &anchor, const PyContext *context) {
            new (self) PyPassManager(createPassManager(anchor, context));
          },
          nb::arg("anchor_op") = "builtin.module", nb::arg("context") = nb::none())
      .def("add", addPasses, nb::arg("pipeline"), "Append passes by name.")
      .def("add", addFunction, nb::arg("run"), nb::arg("name") = nb::none(),
           "Append a pass that is written in Python: a function of the operation that the pass manager is for.")
      .def(
          "run",
          [](PyPassManager &self, const PyOperation &operation) {
            operation.check();
            run(self, operation.tree, operation.op);
          },
          nb::arg("operation"))
      .def(
          "run",
          [](PyPassManager &self, const PyModule &module) {
            run(self, module.tree, module.tree->module->getOperation());
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
