// Words of a key and a position that are sorted along lines. Sorts (MapRoutinesToGpuSort.cpp) and scatters
// (ScatterRules.cpp) order elements by them. The kernels are in dialect/device/Sort.cpp.
#ifndef ARRAY_LIB_GPU_ROUTINES_SORTWORDS_H
#define ARRAY_LIB_GPU_ROUTINES_SORTWORDS_H

#include "RoutineLauncher.h"

namespace mlir::array {

/// The words of all lines.
class SortWords {
public:
  SortWords(DeviceLauncher &launcher, AxisSizes sizes);

  /// Sorts by one more key, which is more significant than the previous ones.
  void sortBy(Value operand, Type element, bool isFirst, bool isDescending) {
    take(operand, element, isFirst, isDescending);
    sort();
  }
  /// The keys of an operand as words, unsorted; `sort` sorts them.
  void take(Value operand, Type element, bool isFirst, bool isDescending);
  void sort();

  /// The first `kept` of each line in order; `places` for those of the positions.
  void permute(Value source, Value target, Type element, int64_t kept);
  void places(Value target, int64_t kept);

  /// The words: 64 bits of key, and 32 of position, of each.
  Value getKeys() const { return keys; }
  Value getPositions() const { return positions; }

private:
  DeviceLauncher &launcher;
  AxisSizes sizes;
  int64_t lines, count;
  int64_t keyBits = 0; ///< All others of a word's key are 0.
  Value keys, positions;
  Value nextKeys, nextPositions; ///< Destination of merges and moves.

  void sortByMerging();
  void sortByRadix();
  /// After keys and positions were written to the next ones.
  void advance();
};

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_ROUTINES_SORTWORDS_H
