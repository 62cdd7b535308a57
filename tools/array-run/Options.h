// The command line of array-run. It includes no other part.
#ifndef ARRAY_RUN_OPTIONS_H
#define ARRAY_RUN_OPTIONS_H

#include <string>
#include <vector>

namespace arrayrun {

enum class Printing { None, Type, Short, Full };

struct Options {
  std::string file, entry, device;
  std::vector<std::string> inputs, expected, outputs, libraries;
  double rtol, atol;
  unsigned participants, repeat;
  bool hasTime;
  /// The sizes of the symbols, for a function with unknown sizes.
  std::vector<int64_t> sizes;
  Printing printing;
};

/// Ends the process if the command line is invalid.
Options parseOptions(int argc, char **argv);

} // namespace arrayrun

#endif // ARRAY_RUN_OPTIONS_H
