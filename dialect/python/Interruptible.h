// Long work of the compiler, while which signals reach Python: what a binding calls for everything that runs passes.
#ifndef ARRAY_PYTHON_INTERRUPTIBLE_H
#define ARRAY_PYTHON_INTERRUPTIBLE_H

#include "Binding.h"

#include <functional>

namespace pycompiler {

/// Runs `work`, which touches a context and nothing of Python, without the GIL.
///
/// Python's handlers of signals run in the main thread alone. If this is it, `work` runs in a thread of the compiler
/// meanwhile, and this one looks for signals. If a handler raises, as that of Ctrl-C does, this raises it at once: the
/// work is asked to end, goes on by itself until it does, and nobody hears of it any more. So it owns all that it uses.
/// The context is its own until then; whoever runs something else in it waits.
void runInterruptibly(const ContextRef &context, std::function<void()> work);

/// Whether something that was left by `runInterruptibly` still runs in a context.
bool isLeft(mlir::MLIRContext *context);

/// Runs `work(module)`, which gives a FailureOr; raises MLIRError with `summary` and its diagnostics where it fails.
template <typename Work> auto compileInterruptibly(const PyModule &module, const std::string &summary, Work work) {
  struct State {
    std::shared_ptr<Tree> tree;
    std::optional<DiagnosticCollector> diagnostics;
    decltype(work(mlir::ModuleOp())) result = mlir::failure();
  };
  auto state = std::make_shared<State>();
  state->tree = module.tree;
  // Diagnostics go to who began to collect them last: not before the context is free.
  runInterruptibly(module.tree->context, [state, work] {
    state->diagnostics.emplace(state->tree->context.get());
    state->result = work(*state->tree->module);
  });
  if (mlir::failed(state->result))
    state->diagnostics->raise(summary);
  return std::move(*state->result);
}

} // namespace pycompiler

#endif // ARRAY_PYTHON_INTERRUPTIBLE_H
