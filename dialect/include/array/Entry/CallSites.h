// What of a compiled module can fail while it runs, and where the program asked for it. array-assign-call-site-ids
// makes the table, array-lower-launches adds kernels to it; lib/Target gives it to the runtime beside the object.
#ifndef ARRAY_ENTRY_CALLSITES_H
#define ARRAY_ENTRY_CALLSITES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include <string>
#include <utility>
#include <vector>

namespace mlir::array {

/// The attribute of an operation that can fail: its number in the table, from 1.
inline constexpr llvm::StringLiteral kCallSiteAttr = "array.call_site";

/// The attribute of the module that is the table: an array of [primitive, "file:line"], the first is number 1.
inline constexpr llvm::StringLiteral kCallSitesAttr = "array.call_sites";

/// The place in the program that a location names, "file:line"; empty where none is known.
std::string placeText(Location location);

/// The table as it is given to the runtime: primitives and places; a place is empty when it is not known.
std::vector<std::pair<std::string, std::string>> getCallSites(ModuleOp module);

/// The table of a module, to be added to.
class CallSiteTable {
public:
  explicit CallSiteTable(ModuleOp module);
  /// Gives an operation that can fail its number. Those of one name at one place share it.
  void add(Operation *op, StringRef primitive);
  /// Writes the table into the module.
  void write();

private:
  ModuleOp module;
  llvm::MapVector<Attribute, int64_t> numbers;
};

} // namespace mlir::array

#endif // ARRAY_ENTRY_CALLSITES_H
