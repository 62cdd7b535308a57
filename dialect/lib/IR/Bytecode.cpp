// The version of the dialect in MLIR's bytecode: a later version of the compiler reads and upgrades modules of an
// earlier one. Without a version, the meaning of a module's bytes would depend on the ops of the reading version.
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

  // There is only one version. A change of an op increases kBytecodeVersion, and adds an upgrade from older versions
  // here.
  LogicalResult upgradeFromVersion(Operation *, const DialectVersion &) const final { return success(); }
};

} // namespace

void array::registerBytecodeVersion(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, ArrayDialect *dialect) { dialect->addInterfaces<ArrayBytecodeInterface>(); });
}
