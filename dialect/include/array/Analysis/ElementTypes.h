// The numbers of the dialect's element types in the runtime's ABI (PCRT_DTYPES).
#ifndef ARRAY_ANALYSIS_ELEMENTTYPES_H
#define ARRAY_ANALYSIS_ELEMENTTYPES_H

#include "runtime/Abi.h"

#include "mlir/IR/Types.h"
#include <optional>

namespace mlir::array {

/// The ABI's code of an element type of the array dialect; none for other types.
std::optional<PcrtDType> dtypeCode(Type type);

} // namespace mlir::array

#endif // ARRAY_ANALYSIS_ELEMENTTYPES_H
