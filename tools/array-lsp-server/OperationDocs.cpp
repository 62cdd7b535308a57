// Finds an operation's section in mlir-tblgen's output, which is embedded in the binary.
#include "OperationDocs.h"

#include "llvm/ADT/StringExtras.h"

asm(".pushsection .rodata\n"
    ".local arrayOperationDocs\n"
    ".local arrayOperationDocsEnd\n"
    "arrayOperationDocs:\n"
    ".incbin \"" ARRAY_OPERATION_DOCS "\"\n"
    "arrayOperationDocsEnd:\n"
    ".popsection\n");
extern "C" {
extern const char arrayOperationDocs[] __attribute__((visibility("hidden")));
extern const char arrayOperationDocsEnd[] __attribute__((visibility("hidden")));
}

namespace mlir::array {

static bool isOfInterest(llvm::StringRef line) {
  // Lines for C++ passes.
  return !line.starts_with("Traits: ") && !line.starts_with("Interfaces: ") && !line.starts_with("Effects: ");
}

std::string operationDocs(llvm::StringRef name) {
  llvm::StringRef all(arrayOperationDocs, arrayOperationDocsEnd - arrayOperationDocs);
  std::string heading = ("\n### `" + name + "` ").str();
  size_t start = all.find(heading);
  if (start == llvm::StringRef::npos)
    return "";
  llvm::StringRef section = all.substr(start + heading.size());
  section = section.take_front(section.find("\n### ")).split('\n').second;

  std::string docs;
  bool isAfterBlank = true;
  for (llvm::StringRef line : llvm::split(section, '\n')) {
    if (!isOfInterest(line) || (line.empty() && isAfterBlank))
      continue;
    isAfterBlank = line.empty();
    docs += line.str() + '\n';
  }
  return docs;
}

} // namespace mlir::array
