// Random arrays, the same on every machine. After Values; Inputs asks for them.
#ifndef ARRAY_RUN_RANDOM_H
#define ARRAY_RUN_RANDOM_H

#include "Values.h"

namespace arrayrun {

/// An array for words such as "uniform", "normal,mean=1,std=2,seed=7", "uniform,low=-1,high=1". The default seed is
/// `seed`. Uniform floats lie in [low, high), by default [0, 1), and integers in [0, 10); bools are true with
/// probability one half.
///
/// Uniform numbers are the words of std::mt19937_64, which the C++ standard defines. Normal ones are drawn from them by
/// Karney's exact method (ACM TOMS 42, 2016), which only compares. A complex number takes two.
llvm::Expected<Array> makeRandom(llvm::StringRef words, const ArrayType &type, uint64_t seed);

} // namespace arrayrun

#endif // ARRAY_RUN_RANDOM_H
