// One or several runs of a program. Includes Program.
#ifndef ARRAY_RUN_RUN_H
#define ARRAY_RUN_RUN_H

#include "Program.h"

namespace arrayrun {

/// The results of one run, for each participant.
using Results = std::vector<std::vector<Array>>;

struct Timing {
  double medianNs = 0, leastNs = 0;
};

/// A program with its arguments in the memory of the devices.
class Runner {
public:
  static llvm::Expected<Runner> make(const Program &program, const Target &target, const std::vector<Array> &inputs);

  /// Runs the program and reads the results.
  llvm::Expected<Results> run();
  /// Runs it once, then `count` times with measurements.
  llvm::Expected<Timing> measure(unsigned count);

private:
  /// The arrays of a participant. The results are new for each run.
  struct Part {
    pcrt::Device *device;
    std::vector<pcrt::RefPtr<pcrt::Buffer>> arguments, results;
  };

  explicit Runner(const Program &program) : program(&program) {}
  llvm::Error allocateResults();
  llvm::Error launch();

  const Program *program;
  std::vector<Part> parts;
};

} // namespace arrayrun

#endif // ARRAY_RUN_RUN_H
