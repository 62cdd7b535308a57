// The options, as declarations for LLVM's command-line library.
#include "Options.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"
#include <cmath>

using namespace arrayrun;
namespace cl = llvm::cl;

static constexpr const char *overview = R"(array-run: compiles a function of an IR file, and runs it

An array is NAME.npy, a literal ([[1, 2.5], [nan, -inf]], true, 1-2j), fill:VALUE, or random:uniform[,low=,high=] or
random:normal[,mean=,std=] with seed=N. NUMBER=ARRAY is for the argument, or result, of that number.

Exit status: 0; 1 where something is wrong; 2 where a result differs from --expect.)";

Options arrayrun::parseOptions(int argc, char **argv) {
  static cl::OptionCategory category("array-run options");
  static cl::opt<std::string> file(cl::Positional, cl::desc("<file.mlir, or - for stdin>"), cl::init("-"),
                                   cl::cat(category));
  static cl::opt<std::string> entry("entry", cl::desc("The function to run"), cl::value_desc("name"), cl::init("main"),
                                    cl::cat(category));
  static cl::list<std::string> inputs("input", cl::desc("The next argument"), cl::value_desc("array"),
                                      cl::cat(category));
  static cl::list<std::string> expected("expect", cl::desc("The expected next result"), cl::value_desc("array"),
                                        cl::cat(category));
  static cl::list<std::string> outputs(
      "output", cl::desc("Writes the next result to NAME.npy; or all results, to NAME.0.npy, NAME.1.npy, ..."),
      cl::value_desc("name"), cl::cat(category));
  static cl::opt<double> rtol("rtol", cl::desc("Relative tolerance of --expect, of floats (1e-5)"), cl::init(1e-5),
                              cl::cat(category));
  static cl::opt<double> atol("atol", cl::desc("Absolute tolerance of --expect, of floats (1e-8)"), cl::init(1e-8),
                              cl::cat(category));
  static cl::opt<unsigned> repeat("repeat", cl::desc("Number of runs for --time (10)"), cl::value_desc("count"),
                                  cl::init(10), cl::cat(category));
  static cl::list<int64_t> sizes("sizes",
                                 cl::desc("The size of each symbol of a function whose types have `?`, in their order"),
                                 cl::value_desc("numbers"), cl::CommaSeparated, cl::cat(category));
  static cl::opt<bool> time("time", cl::desc("Prints the median and the minimum time of a run, and the compile time"),
                            cl::cat(category));
  static cl::opt<std::string> device("device", cl::desc("The device: cpu, gpu or gpu:NUMBER"), cl::value_desc("device"),
                                     cl::init("cpu"), cl::cat(category));
  static cl::list<std::string> libraries(
      "gpu-libraries", cl::desc("NVIDIA's libraries that code for a GPU may call: cublaslt,cufft,..."),
      cl::value_desc("names"), cl::CommaSeparated, cl::cat(category));
  static cl::opt<unsigned> participants(
      "participants",
      cl::desc("Participants that run the function together, for collectives, with the same arguments (1)"),
      cl::value_desc("count"), cl::init(1), cl::cat(category));
  static cl::opt<Printing> printing(
      "print", cl::desc("The printed part of results (short, unless there is --expect, --output or --time):"),
      cl::values(clEnumValN(Printing::None, "none", "nothing"), clEnumValN(Printing::Type, "type", "types"),
                 clEnumValN(Printing::Short, "short", "values, of large arrays the first and the last"),
                 clEnumValN(Printing::Full, "full", "all values")),
      cl::init(Printing::Short), cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, overview);

  auto refuse = [](const char *what) {
    llvm::WithColor::error(llvm::errs(), "array-run") << what << '\n';
    std::exit(1);
  };
  if (repeat == 0 || participants == 0)
    refuse("--repeat and --participants are at least 1");
  if (!(rtol >= 0) || !(atol >= 0))
    refuse("--rtol and --atol are not negative");
  if (repeat.getNumOccurrences() && !time)
    refuse("--repeat is for --time");
  bool isQuiet = !printing.getNumOccurrences() && (!expected.empty() || !outputs.empty() || time);
  return {file, entry, device,       inputs, expected, outputs, libraries,
          rtol, atol,  participants, repeat, time,     sizes,   isQuiet ? Printing::None : printing.getValue()};
}
