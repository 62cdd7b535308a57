// The device library from the build (dialect/device/CMakeLists.txt): MLIR's bytecode, embedded in the binary.
#include "DeviceLibrary.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBufferRef.h"

asm(".pushsection .rodata\n"
    ".balign 64\n"
    ".local arrayDeviceLibrary\n"
    ".local arrayDeviceLibraryEnd\n"
    "arrayDeviceLibrary:\n"
    ".incbin \"" ARRAY_DEVICE_LIBRARY "\"\n"
    "arrayDeviceLibraryEnd:\n"
    ".popsection\n");
extern "C" {
extern const char arrayDeviceLibrary[] __attribute__((visibility("hidden")));
extern const char arrayDeviceLibraryEnd[] __attribute__((visibility("hidden")));
}

namespace mlir::array {

static llvm::MemoryBufferRef libraryBytes() {
  return {StringRef(arrayDeviceLibrary, arrayDeviceLibraryEnd - arrayDeviceLibrary), "device library"};
}

DeviceLibrary::DeviceLibrary(MLIRContext *context)
    : config(context, /*verifyAfterParse=*/false), reader(libraryBytes(), config, /*lazyLoad=*/true) {
  // Reads the module, and the names of its contents.
  if (failed(reader.readTopLevel(&place, [](Operation *op) { return isa<ModuleOp>(op); })))
    llvm::report_fatal_error("the device library that the build made can't be read");
  for (ModuleOp module : place.getOps<ModuleOp>())
    for (Operation &op : *module.getBody())
      if (auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
        symbols[name] = &op;
}

DeviceLibrary::~DeviceLibrary() {
  (void)reader.finalize([](Operation *) { return false; }); // unused functions are dropped
}

Operation *DeviceLibrary::lookup(StringAttr name) {
  Operation *symbol = symbols.lookup(name);
  if (symbol && reader.isMaterializable(symbol) && failed(reader.materialize(symbol)))
    return nullptr;
  return symbol;
}

} // namespace mlir::array
