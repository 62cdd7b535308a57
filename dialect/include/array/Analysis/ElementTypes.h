// Element types of the dialect as the runtime's ABI numbers them (PCRT_DTYPES).
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
