// What passes give up, collected for who compiles: the binding hands it over with the code.
#ifndef ARRAY_TARGET_REMARKS_H
#define ARRAY_TARGET_REMARKS_H

#include "mlir/IR/MLIRContext.h"
#include <string>
#include <vector>

namespace mlir::array {

/// What a pass gave up: the kind of the remark, the place in the program ("file:line" or nothing), and the words.
struct GivenUp {
  std::string kind, place, text;
  bool operator==(const GivenUp &other) const {
    return kind == other.kind && place == other.place && text == other.text;
  }
};

/// While it lives, the remarks of a context are added to `given`, each once. Where somebody listens already, as
/// array-opt does, it changes nothing.
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
