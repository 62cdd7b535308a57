// Names that passes had before version 0.1. They work until the next version, and report the new name.
#include "array/Pipelines/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/WithColor.h"

namespace mlir::array {

namespace {

struct Renamed {
  StringRef before, now;
};

constexpr Renamed passes[] = {
    {"array-linalg-to-loops", "array-vectorize-linalg"},
    {"array-limit-loops", "array-add-loop-budget"},
    {"array-lower-contractions", "array-lower-matmuls"},
    {"array-map-clusters-to-gpu", "array-map-row-fusions-to-gpu"},
    {"array-map-products-to-gpu", "array-map-matmuls-to-gpu"},
    {"array-number-sites", "array-assign-call-site-ids"},
    {"array-prepare-loops", "array-in-place-carries"},
    {"array-widen-products", "array-widen-matmuls"},
};

constexpr Renamed passOptions[] = {
    {"bfloat16-pairs", "bfloat16-dot2"},
    {"copy-carry", "copy-carries"},
    {"fetch-ahead", "prefetch-distance"},
};

/// "a=1 fetch-ahead=0" with the names of today.
std::string optionsOfToday(StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::string result;
  for (StringRef word : words) {
    StringRef name = word.split('=').first, rest = word.substr(name.size());
    for (const Renamed &option : passOptions)
      if (name == option.before)
        name = option.now;
    result += (name + rest + " ").str();
  }
  return result;
}

} // namespace

void registerOldPassNames() {
  for (const Renamed &pass : passes) {
    registerPassPipeline(
        pass.before, ("The name that " + pass.now + " had before version 0.1").str(),
        [pass](OpPassManager &pm, StringRef options, function_ref<LogicalResult(const Twine &)> errorHandler) {
          llvm::WithColor::warning() << "the pass " << pass.before << " is called " << pass.now << " now\n";
          return PassInfo::lookup(pass.now)->addToPipeline(pm, optionsOfToday(options), errorHandler);
        },
        [](function_ref<void(const ::mlir::detail::PassOptions &)>) {});
  }
}

} // namespace mlir::array
