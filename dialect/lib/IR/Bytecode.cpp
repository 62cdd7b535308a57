// The version of the dialect in MLIR's bytecode: what an earlier version of the compiler wrote, a later one reads, and
// upgrades. Without it the bytes of a module would mean whatever the reading version's ops are.
#include "array/IR/Bytecode.h"
#include "array/IR/Array.h"

#include "mlir/Bytecode/BytecodeImplementation.h"

using namespace mlir;
using namespace mlir::array;

namespace {

struct ArrayVersion : DialectVersion {
  explicit ArrayVersion(uint64_t number) : number(number) {}
  uint64_t number;
};

struct ArrayBytecodeInterface : BytecodeDialectInterface {
  explicit ArrayBytecodeInterface(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const final { writer.writeVarInt(kBytecodeVersion); }

  std::unique_ptr<DialectVersion> readVersion(DialectBytecodeReader &reader) const final {
    uint64_t number;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number > kBytecodeVersion) {
      reader.emitError("the module is of version ")
          << number << " of the array dialect, and this compiler reads versions up to " << kBytecodeVersion
          << ": use a later compiler, or write the module with this one";
      return nullptr;
    }
    return std::make_unique<ArrayVersion>(number);
  }

  // There is one version so far. What changes an op raises kBytecodeVersion, and turns what older versions wrote into
  // what this one means here.
  LogicalResult upgradeFromVersion(Operation *, const DialectVersion &) const final { return success(); }
};

} // namespace

void array::registerBytecodeVersion(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, ArrayDialect *dialect) { dialect->addInterfaces<ArrayBytecodeInterface>(); });
}
