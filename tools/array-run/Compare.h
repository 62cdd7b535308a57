// Comparison of results with expected arrays. Includes Values; array-run prints the report.
#ifndef ARRAY_RUN_COMPARE_H
#define ARRAY_RUN_COMPARE_H

#include "Values.h"

namespace arrayrun {

struct Tolerance {
  double relative, absolute;
};

/// Whether each element is within absolute + relative * |expected| of the expected one (as numpy.allclose). Integers
/// and bools must be equal. nan equals nan. Prints the first differing places.
bool compare(const Array &result, const Array &expected, Tolerance tolerance, llvm::StringRef name,
             llvm::raw_ostream &os);

} // namespace arrayrun

#endif // ARRAY_RUN_COMPARE_H
