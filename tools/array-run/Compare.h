// Compares results with expected arrays. After Values; array-run prints the report.
#ifndef ARRAY_RUN_COMPARE_H
#define ARRAY_RUN_COMPARE_H

#include "Values.h"

namespace arrayrun {

struct Tolerance {
  double relative, absolute;
};

/// Whether every element is within absolute + relative * |expected| of the expected one (as numpy.allclose); integers
/// and bools have to be equal. nan equals nan. Prints the first differing places otherwise.
bool compare(const Array &result, const Array &expected, Tolerance tolerance, llvm::StringRef name,
             llvm::raw_ostream &os);

} // namespace arrayrun

#endif // ARRAY_RUN_COMPARE_H
