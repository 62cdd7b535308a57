// The routines `reduce_window`, `select_and_gather` and `select_and_scatter` as launches (dialect/device/Window.cpp).
#include "RoutineLauncher.h"
#include "runtime/Accumulations.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::array {

namespace {

constexpr int64_t kThreads = 256;
/// Maximum bytes of a value between steps, and of a choice.
constexpr int64_t kValueBytes = 8, kChoiceBytes = 4;

/// One dimension of the windows, as in the routines' params.
struct Dim {
  int64_t size, stride, low, baseDilation, dilation;
  bool isTrivial() const { return size == 1 && stride == 1 && low == 0 && baseDilation == 1; }
};

/// A step from `length` elements to `windows` windows in the middle of [outer, length, inner].
struct Step {
  int64_t outer = 1, length = 1, windows = 1, inner = 1;
  Dim dim{1, 1, 0, 1, 1};

  int64_t results() const { return outer * windows * inner; }
  int64_t elements() const { return outer * length * inner; }
};

/// The steps from an operand to its windows, last dimension first; at least one.
SmallVector<Step> stepsOf(RoutineLauncher &launcher, ArrayRef<int64_t> lengths, ArrayRef<int64_t> windows) {
  SmallVector<Step> steps;
  int64_t inner = 1;
  for (int64_t d = lengths.size(); d-- > 0;) {
    unsigned first = 1 + 5 * d;
    Dim dim{launcher.param(first), launcher.param(first + 1), launcher.param(first + 2), launcher.param(first + 3),
            launcher.param(first + 4)};
    Step step{1, lengths[d], windows[d], inner, dim};
    for (int64_t size : lengths.take_front(d))
      step.outer *= size;
    if (!dim.isTrivial() || step.length != step.windows)
      steps.push_back(step);
    inner *= windows[d];
  }
  if (steps.empty())
    steps.push_back({inner, 1, 1, 1});
  return steps;
}

class Windows {
public:
  Windows(RoutineLauncher &launcher, Value operand, Value windows)
      : launcher(launcher), steps(stepsOf(launcher, cast<MemRefType>(operand.getType()).getShape(),
                                          cast<MemRefType>(windows.getType()).getShape())),
        name(elementName(launcher.element(0))) {}

  const Step &step(size_t index) { return steps[index]; }
  size_t size() { return steps.size(); }

  void launch(StringRef entry, SmallVector<Value> operands, const Step &step, bool perElement = false) {
    int64_t count = perElement ? step.elements() : step.results();
    const Dim &d = step.dim;
    for (int64_t number :
         {step.length, step.windows, step.inner, count, d.size, d.stride, d.low, d.baseDilation, d.dilation})
      operands.push_back(launcher.number(number));
    launcher.launch(entry, blocksFor(count, kThreads), kThreads, operands);
  }

  /// Whether a step reads elements, and whether it writes elements, rather than accumulator values: the suffix of an
  /// entry's name.
  static StringRef kinds(bool readsElements, bool writesElements) {
    return readsElements ? (writesElements ? "_ee" : "_ev") : writesElements ? "_ve" : "_vv";
  }

  Value reserve(int64_t elements, int64_t bytes = kValueBytes) { return launcher.scratch(elements * bytes); }

  /// The choices of each step.
  SmallVector<Value> choose(Value operand) {
    StringRef operation = launcher.param(0) ? "max" : "min";
    SmallVector<Value> choices;
    Value from = operand, exists = operand; // which the first step does not read
    for (const Step &step : steps) {
      Value to = reserve(step.results());
      choices.push_back(reserve(step.results(), kChoiceBytes));
      launch(("window_choose_" + operation + "_" + name).str(),
             {from, exists, to, choices.back(), launcher.number(choices.size() == 1)}, step);
      from = to;
      exists = choices.back();
    }
    return choices;
  }

  RoutineLauncher &launcher;
  SmallVector<Step> steps;
  std::string name;
};

#define PCRT_ROW(Name, name) #name,
constexpr StringLiteral operations[] = {PCRT_WINDOW_ACCUMULATIONS(PCRT_ROW)};
#undef PCRT_ROW

LogicalResult mapReduceWindow(RoutineLauncher &launcher) {
  Windows windows(launcher, launcher.input(0), launcher.output(0));
  Value from = launcher.input(0);
  for (size_t i = 0; i < windows.size(); ++i) {
    bool isLast = i + 1 == windows.size();
    const Step &step = windows.step(i);
    Value to = isLast ? launcher.output(0) : windows.reserve(step.results());
    std::string entry = ("window_" + operations[launcher.param(0)] + "_" + windows.name).str();
    windows.launch(entry + Windows::kinds(i == 0, isLast).str(), {from, to}, step);
    from = to;
  }
  return success();
}

LogicalResult mapSelectAndGather(RoutineLauncher &launcher) {
  Windows windows(launcher, launcher.input(1), launcher.output(0));
  SmallVector<Value> choices = windows.choose(launcher.input(1));
  Value from = launcher.input(0);
  for (size_t i = 0; i < windows.size(); ++i) {
    const Step &step = windows.step(i);
    Value to = i + 1 == windows.size() ? launcher.output(0) : windows.reserve(step.results());
    windows.launch("window_pick_" + windows.name, {from, choices[i], to}, step);
    from = to;
  }
  return success();
}

LogicalResult mapSelectAndScatter(RoutineLauncher &launcher) {
  Windows windows(launcher, launcher.input(1), launcher.input(0));
  SmallVector<Value> choices = windows.choose(launcher.input(1));
  Value from = launcher.input(0);
  for (size_t i = windows.size(); i-- > 0;) {
    const Step &step = windows.step(i);
    bool isFirst = i + 1 == windows.size(), isLast = i == 0;
    Value to = isLast ? launcher.output(0) : windows.reserve(step.elements());
    windows.launch("window_spread_" + windows.name + Windows::kinds(isFirst, isLast).str(), {from, choices[i], to},
                   step, /*perElement=*/true);
    from = to;
  }
  return success();
}

} // namespace

ArrayRef<Routine> windowRoutines() {
  static constexpr Routine rows[] = {
      {"reduce_window", mapReduceWindow},
      {"select_and_gather", mapSelectAndGather},
      {"select_and_scatter", mapSelectAndScatter},
  };
  return rows;
}

} // namespace mlir::array
