// Files of NumPy's format .npy, versions 1 to 3 (numpy.lib.format). Includes Values; Inputs uses it.
#ifndef ARRAY_RUN_NPY_H
#define ARRAY_RUN_NPY_H

#include "Values.h"

namespace arrayrun {

/// The array in a file, which must have this type. Both byte orders and both element orders are read.
llvm::Expected<Array> readNpy(llvm::StringRef path, const ArrayType &type);

llvm::Error writeNpy(llvm::StringRef path, const Array &array);

} // namespace arrayrun

#endif // ARRAY_RUN_NPY_H
