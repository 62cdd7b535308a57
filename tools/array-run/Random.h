// Random arrays, equal on all machines. Includes Values; Inputs uses it.
#ifndef ARRAY_RUN_RANDOM_H
#define ARRAY_RUN_RANDOM_H

#include "Values.h"

namespace arrayrun {

/// An array from words: "uniform", "normal,mean=1,std=2,seed=7", "uniform,low=-1,high=1". The default of the seed is
/// `seed`. Uniform floats lie in [low, high), by default [0, 1); integers in [low, high), by default [0, 10). Half of
/// the bools are true.
///
/// Uniform numbers are the words of std::mt19937_64, which the C++ standard defines. Normal numbers are drawn from them
/// by Karney's exact method (ACM TOMS 42, 2016), which only compares. A complex number takes two.
llvm::Expected<Array> makeRandom(llvm::StringRef words, const ArrayType &type, uint64_t seed);

} // namespace arrayrun

#endif // ARRAY_RUN_RANDOM_H
