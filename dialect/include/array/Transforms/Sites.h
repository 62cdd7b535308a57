// What of a compiled module can fail while it runs, and where the program asked for it. array-number-sites makes the
// table; lib/Target gives it to the runtime beside the object.
#ifndef ARRAY_TRANSFORMS_SITES_H
#define ARRAY_TRANSFORMS_SITES_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <utility>
#include <vector>

namespace mlir::array {

/// The attribute of an operation that can fail: its number in the table, from 1.
inline constexpr llvm::StringLiteral kSiteAttr = "array.site";

/// The attribute of the module that is the table: an array of [primitive, "file:line"], the first is number 1.
inline constexpr llvm::StringLiteral kSitesAttr = "array.sites";

/// The place in the program that a location names, "file:line"; empty where none is known.
std::string placeText(Location location);

/// The table as it is given to the runtime: primitives and places; a place is empty when it is not known.
std::vector<std::pair<std::string, std::string>> getSites(ModuleOp module);

} // namespace mlir::array

#endif // ARRAY_TRANSFORMS_SITES_H
