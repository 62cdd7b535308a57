// Checks that an object is self-contained: each function that LLVM calls implicitly must be in the runtime's list of
// symbols, by which its loader resolves them.
#include "Host.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ObjectFile.h"

namespace mlir::array {

static bool isProvided(llvm::StringRef name) {
  static const llvm::StringSet<> provided = {
#define PCRT_SYMBOL(name) #name,
#include "runtime/Symbols.def"
#undef PCRT_SYMBOL
  };
  return provided.contains(name);
}

llvm::Error checkSymbols(llvm::ArrayRef<char> object) {
  llvm::MemoryBufferRef buffer(llvm::StringRef(object.data(), object.size()), "object");
  auto file = llvm::object::ObjectFile::createObjectFile(buffer);
  if (!file)
    return file.takeError();
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined))
      continue;
    auto name = symbol.getName();
    if (!name)
      return name.takeError();
    // The first entry of an ELF symbol table is the empty undefined symbol.
    if (!name->empty() && !isProvided(*name))
      return llvm::createStringError("the compiled code calls '" + *name +
                                     "', which the runtime does not provide (runtime/Symbols.def)");
  }
  return llvm::Error::success();
}

} // namespace mlir::array
