// array-assign-call-site-ids: gives every operation that can fail at run time a number, and the module a table with the
// operation and its place in the program. array-lower-runtime-calls returns the number. lib/Target stores the table
// with the object, and the runtime reports both in the error.
#include "Guards.h"
#include "array/Entry/CallSites.h"
#include "array/Entry/Passes.h"
#include "array/IR/Array.h"
#include "runtime/Abi.h"

#include "llvm/Support/JSON.h"

namespace mlir::array {

#define GEN_PASS_DEF_ASSIGNCALLSITEIDS
#include "array/Entry/Passes.h.inc"

/// The first place in a file that a location names. Inlined code has its own place, not that of the call.
static FileLineColLoc placeOf(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return file;
  if (auto name = dyn_cast<NameLoc>(location))
    return placeOf(name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    FileLineColLoc callee = placeOf(call.getCallee());
    return callee ? callee : placeOf(call.getCaller());
  }
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (FileLineColLoc place = placeOf(part))
        return place;
  return {};
}

/// A text of a file may have any bytes; Python reads UTF-8.
static std::string readable(StringRef text) { return llvm::json::fixUTF8(text); }

std::string placeText(Location location) {
  FileLineColLoc place = placeOf(location);
  return place ? readable((place.getFilename().strref() + ":" + Twine(place.getLine())).str()) : "";
}

/// The op of the dialect that became a call.
static StringRef primitiveOf(RuntimeCallOp call) {
  if (auto name = call->getAttrOfType<StringAttr>(kStandsForAttr))
    return name.getValue();
  if (call.getName() == "special" && call.getParams().size() == 1) {
    switch (call.getParams()[0]) {
#define PCRT_FUNCTION_NAME(name, code, inputs)                                                                         \
  case code:                                                                                                           \
    return #name;
      PCRT_SPECIAL_FUNCTIONS(PCRT_FUNCTION_NAME)
#undef PCRT_FUNCTION_NAME
    }
  }
  return call.getName() == "host_call" ? "callback" : call.getName();
}

std::vector<std::pair<std::string, std::string>> getCallSites(ModuleOp module) {
  std::vector<std::pair<std::string, std::string>> sites;
  if (auto table = module->getAttrOfType<ArrayAttr>(kCallSitesAttr))
    for (auto row : table.getAsRange<ArrayAttr>())
      sites.emplace_back(readable(cast<StringAttr>(row[0])), readable(cast<StringAttr>(row[1])));
  return sites;
}

CallSiteTable::CallSiteTable(ModuleOp module) : module(module) {
  if (auto table = module->getAttrOfType<ArrayAttr>(kCallSitesAttr))
    for (Attribute row : table)
      numbers.insert({row, static_cast<int64_t>(numbers.size()) + 1});
}

void CallSiteTable::add(Operation *op, StringRef primitive) {
  Builder builder(op->getContext());
  Attribute site = builder.getStrArrayAttr({primitive, placeText(op->getLoc())});
  int64_t number = numbers.insert({site, static_cast<int64_t>(numbers.size()) + 1}).first->second;
  op->setAttr(kCallSiteAttr, builder.getI64IntegerAttr(number));
}

void CallSiteTable::write() {
  if (!numbers.empty())
    module->setAttr(kCallSitesAttr,
                    Builder(module.getContext()).getArrayAttr(llvm::to_vector(llvm::make_first_range(numbers))));
}

namespace {

struct AssignCallSiteIds : impl::AssignCallSiteIdsBase<AssignCallSiteIds> {
  void runOnOperation() override {
    CallSiteTable sites(getOperation());
    getOperation().walk([&](RuntimeCallOp call) { sites.add(call, primitiveOf(call)); });
    sites.write();
  }
};

} // namespace
} // namespace mlir::array
