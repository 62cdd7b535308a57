// _compiler.rewrite: patterns that are written in Python, and MLIR's greedy driver for them.
#include "Binding.h"
#include "Gil.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

namespace pycompiler {
namespace {

/// Patterns that undo each other never end.
constexpr int64_t kMostRewrites = 1 << 20;

/// The rewriter of a pattern: it inserts before the matched operation.
struct PyRewriter {
  PyOperation root;
};

/// Shared state of one run of the driver and its patterns.
struct Run {
  std::shared_ptr<Tree> tree;
  std::optional<nb::python_error> error;
};

struct PythonPattern : mlir::RewritePattern {
  PythonPattern(const std::string &root, mlir::PatternBenefit benefit, mlir::MLIRContext *context, nb::handle function,
                Run &run)
      : RewritePattern(root, benefit, context), function(function), run(run) {}

  /// A pattern has matched if it changed the module.
  mlir::LogicalResult matchAndRewrite(mlir::Operation *op, mlir::PatternRewriter &rewriter) const override {
    if (run.error)
      return mlir::failure();
    AcquiredGil acquired;
    Tree &tree = *run.tree;
    uint64_t before = tree.changes;
    tree.rewriter = &rewriter;
    try {
      PyOperation root(run.tree, op);
      function(root, PyRewriter{root});
    } catch (nb::python_error &error) {
      run.error.emplace(std::move(error));
    }
    tree.rewriter = nullptr;
    return mlir::success(tree.changes != before);
  }

  nb::handle function; ///< The list of patterns keeps it alive.
  Run &run;
};

/// Records operations that the driver itself erases.
struct Eraser : mlir::RewriterBase::Listener {
  explicit Eraser(Tree &tree) : tree(tree) {}
  void notifyOperationErased(mlir::Operation *op) override { tree.markErased(op); }
  Tree &tree;
};

/// `patterns` has (name of an operation, function, benefit). Returns whether something has changed.
bool applyGreedily(const PyOperation &operation, nb::list patterns) {
  operation.check();
  if (operation.tree->rewriter)
    throw nb::value_error("a pattern can't apply patterns: the driver visits changed operations again in any case");
  Run run{operation.tree, std::nullopt};
  mlir::RewritePatternSet set(operation.context());
  for (nb::handle entry : patterns) {
    auto [root, function, benefit] = nb::cast<std::tuple<std::string, nb::object, int>>(entry);
    if (!mlir::OperationName(root, operation.context()).isRegistered())
      throw nb::value_error(("there is no operation '" + root + "'").c_str());
    set.add<PythonPattern>(root, mlir::PatternBenefit(benefit), operation.context(), function, run);
  }
  Eraser eraser(*operation.tree);
  mlir::GreedyRewriteConfig config;
  config.setListener(&eraser).setMaxNumRewrites(kMostRewrites).setMaxIterations(mlir::GreedyRewriteConfig::kNoLimit);
  config.setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Disabled);
  DiagnosticCollector diagnostics(operation.context());
  bool changed = false;
  mlir::LogicalResult ended = mlir::failure();
  {
    ReleasedGil released;
    ended = mlir::applyPatternsGreedily(operation.op, std::move(set), config, &changed);
  }
  operation.tree->startGeneration();
  if (run.error)
    throw nb::python_error(std::move(*run.error));
  if (mlir::failed(ended))
    diagnostics.raise("the patterns do not converge: operations still match after " + std::to_string(kMostRewrites) +
                      " rewrites");
  return changed;
}

/// The values that replace an operation's results: those of a sequence, or the results of an operation.
llvm::SmallVector<mlir::Value> replacements(const PyOperation &replaced, nb::handle given) {
  llvm::SmallVector<mlir::Value> values;
  if (nb::isinstance<PyOperation>(given)) {
    const auto &operation = nb::cast<const PyOperation &>(given);
    operation.check();
    if (operation.tree != replaced.tree)
      throw nb::value_error("the operation is of another module");
    llvm::append_range(values, operation.op->getResults());
  } else {
    for (nb::handle element : given) {
      const auto &value = nb::cast<const PyValue &>(element);
      value.check();
      if (value.tree != replaced.tree)
        throw nb::value_error("a value is of another module");
      values.push_back(value.value);
    }
  }
  if (llvm::any_of(values, [&](mlir::Value value) { return value.getDefiningOp() == replaced.op; }))
    throw nb::value_error("an operation can't be replaced by its own results");
  if (values.size() != replaced.op->getNumResults())
    throw nb::value_error(("'" + replaced.op->getName().getStringRef() + "' has " +
                           llvm::Twine(replaced.op->getNumResults()) + " results, but " + llvm::Twine(values.size()) +
                           " values are given for them")
                              .str()
                              .c_str());
  return values;
}

mlir::RewriterBase &activeRewriter(const PyOperation &operation) {
  operation.check();
  if (!operation.tree->rewriter)
    throw nb::value_error("a rewriter is valid only during the call of the pattern that received it");
  return *operation.tree->rewriter;
}

void replace(const PyRewriter &, const PyOperation &operation, nb::handle with) {
  mlir::RewriterBase &rewriter = activeRewriter(operation);
  llvm::SmallVector<mlir::Value> values = replacements(operation, with);
  operation.tree->markErased(operation.op);
  ++operation.tree->changes;
  rewriter.replaceOp(operation.op, values);
}

void erase(const PyRewriter &, const PyOperation &operation) {
  activeRewriter(operation);
  eraseOperation(operation);
}

PyInsertionPoint pointBefore(const PyRewriter &self) {
  self.root.check();
  return {PyBlock(self.root.tree, self.root.op->getBlock()), self.root};
}

PyOperation insert(const PyRewriter &self, const std::string &name, nb::handle results, nb::handle operands,
                   nb::handle attributes, int regions, const PyLocation *location) {
  activeRewriter(self.root);
  PyLocation own{self.root.tree->context, self.root.op->getLoc()};
  PyInsertionPoint point = pointBefore(self);
  return createOperation(name, results, operands, attributes, regions, location ? location : &own, &point,
                         /*infersTypes=*/results.is_none());
}

} // namespace

void bindRewriting(nb::module_ &module) {
  nb::class_<PyRewriter>(module, "PatternRewriter")
      .def_prop_ro("ip", pointBefore, "The position before the matched operation.")
      .def("insert", insert, nb::arg("name"), nb::arg("results").none() = nb::none(),
           nb::arg("operands").none() = nb::none(), nb::arg("attributes").none() = nb::none(), nb::arg("regions") = 0,
           nb::arg("loc") = nb::none(),
           "Create an operation before the matched one, at its location; without `results`, their types are inferred.")
      .def("replace_op", replace, nb::arg("op"), nb::arg("with_"), "Replace an operation by another one, or by values.")
      .def("erase_op", erase, nb::arg("op"), "Erase an operation without uses.");
  module.def("apply_patterns_and_fold_greedily", applyGreedily, nb::arg("operation"), nb::arg("patterns"),
             "Apply patterns (the name of an operation, a function of it and a PatternRewriter, a benefit) to the\n"
             "contents of an operation until none matches, and fold. Returns whether something has changed.");
}

} // namespace pycompiler
