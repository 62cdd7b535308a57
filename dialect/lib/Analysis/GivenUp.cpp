// Emits remarks about fallbacks (GivenUp.h). The header of the remark engine includes LLVM's diagnostics.
#include "array/Analysis/GivenUp.h"

#include "mlir/IR/Remarks.h"

namespace mlir::array {

void tellGivenUp(Location loc, llvm::StringRef kind, const llvm::Twine &text) {
  if (loc.getContext()->getRemarkEngine())
    remark::missed(loc, remark::RemarkOpts::name(kind).category(kRemarkCategory))
        << remark::detail::Remark::Arg("Reason", text.str());
}

} // namespace mlir::array
