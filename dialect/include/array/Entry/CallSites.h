// Operations of a compiled module that can fail at run time, and their places in the program.
// array-assign-call-site-ids makes the table, and array-lower-launches adds kernels to it. lib/Target passes it to the
// runtime with the object.
#ifndef ARRAY_ENTRY_CALLSITES_H
#define ARRAY_ENTRY_CALLSITES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include <string>
#include <utility>
#include <vector>

namespace mlir::array {

/// The attribute of an operation that can fail: its call-site id, from 1.
inline constexpr llvm::StringLiteral kCallSiteAttr = "array.call_site";

/// The attribute of the module that holds the table: an array of [primitive, "file:line"]. The first entry has id 1.
inline constexpr llvm::StringLiteral kCallSitesAttr = "array.call_sites";

/// The place in the program that a location names, "file:line"; empty if none is known.
std::string placeText(Location location);

/// The table for the runtime: primitives and places. A place is empty if it is not known.
std::vector<std::pair<std::string, std::string>> getCallSites(ModuleOp module);

/// The table of a module, while entries are added.
class CallSiteTable {
public:
  explicit CallSiteTable(ModuleOp module);
  /// Gives an operation that can fail its id. Operations with the same name and place share an id.
  void add(Operation *op, StringRef primitive);
  /// Writes the table into the module.
  void write();

private:
  ModuleOp module;
  llvm::MapVector<Attribute, int64_t> numbers;
};

} // namespace mlir::array

#endif // ARRAY_ENTRY_CALLSITES_H
