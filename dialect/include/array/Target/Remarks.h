// Collects the remarks about fallbacks during a compilation. The binding returns them with the code.
#ifndef ARRAY_TARGET_REMARKS_H
#define ARRAY_TARGET_REMARKS_H

#include "mlir/IR/MLIRContext.h"
#include <string>
#include <vector>

namespace mlir::array {

/// A fallback of a pass: the kind of the remark, the place in the program ("file:line" or nothing), and the text.
struct GivenUp {
  std::string kind, place, text;
  bool operator==(const GivenUp &other) const {
    return kind == other.kind && place == other.place && text == other.text;
  }
};

/// During its lifetime, the remarks of a context are added to `given`, each once. If the context has a listener
/// already, as in array-opt, this has no effect.
class CollectRemarks {
public:
  CollectRemarks(MLIRContext *context, std::vector<GivenUp> &given);
  ~CollectRemarks();
  CollectRemarks(const CollectRemarks &) = delete;
  CollectRemarks &operator=(const CollectRemarks &) = delete;

private:
  MLIRContext *context;
  bool isOurs = false;
};

} // namespace mlir::array

#endif // ARRAY_TARGET_REMARKS_H
