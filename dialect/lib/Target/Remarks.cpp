// Collects the remarks of a compilation from MLIR's remark engine.
#include "array/Target/Remarks.h"
#include "array/Analysis/GivenUp.h"
#include "array/Entry/CallSites.h"

#include "mlir/IR/Remarks.h"

#include <mutex>

namespace mlir::array {
namespace {

struct Collector : remark::detail::MLIRRemarkStreamerBase {
  explicit Collector(std::vector<GivenUp> &given) : given(given) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    GivenUp found{remark.getRemarkName().str(), placeText(remark.getLocation()), ""};
    for (const remark::detail::Remark::Arg &arg : remark.getArgs())
      found.text += arg.val;
    std::lock_guard<std::mutex> guard(lock); // passes run on several functions at the same time
    if (!llvm::is_contained(given, found))
      given.push_back(std::move(found));
  }

  std::mutex lock;
  std::vector<GivenUp> &given;
};

} // namespace

CollectRemarks::CollectRemarks(MLIRContext *context, std::vector<GivenUp> &given) : context(context) {
  if (context->getRemarkEngine())
    return;
  remark::RemarkCategories categories; // each kind of remark is requested separately
  categories.missed = kRemarkCategory.str();
  isOurs = succeeded(remark::enableOptimizationRemarks(
      *context, std::make_unique<Collector>(given), std::make_unique<remark::RemarkEmittingPolicyAll>(), categories));
}

CollectRemarks::~CollectRemarks() {
  if (isOurs)
    context->setRemarkEngine(nullptr);
}

} // namespace mlir::array
