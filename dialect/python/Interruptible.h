// Long work of the compiler during which signals reach Python. Bindings use it for everything that runs passes.
#ifndef ARRAY_PYTHON_INTERRUPTIBLE_H
#define ARRAY_PYTHON_INTERRUPTIBLE_H

#include "Binding.h"

#include <functional>

namespace pycompiler {

/// Runs `work`, which uses a context and no Python objects, without the GIL.
///
/// Python's signal handlers run in the main thread alone. In the main thread, `work` runs in a thread of the compiler,
/// and the main thread checks for signals. If a handler raises, as that of Ctrl-C does, this function raises at once.
/// It asks the work to stop, and the work continues in the background until it does; its result is dropped. So the work
/// owns all that it uses. Until it ends, it has exclusive use of the context; other work in the context waits.
void runInterruptibly(const ContextRef &context, std::function<void()> work);

/// Whether work that `runInterruptibly` abandoned still runs in a context.
bool isLeft(mlir::MLIRContext *context);

/// Runs `work(module)`, which returns a FailureOr; on failure, raises MLIRError with `summary` and its diagnostics.
template <typename Work> auto compileInterruptibly(const PyModule &module, const std::string &summary, Work work) {
  struct State {
    std::shared_ptr<Tree> tree;
    std::optional<DiagnosticCollector> diagnostics;
    decltype(work(mlir::ModuleOp())) result = mlir::failure();
  };
  auto state = std::make_shared<State>();
  state->tree = module.tree;
  // Diagnostics go to the newest collector, so start collecting only when the context is free.
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
