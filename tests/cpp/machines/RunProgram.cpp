// Runs compiled programs that a file brings, and writes their results to another file: how tests compare the code for
// other machines, in their emulators, with NumPy (tests/python/primitives/test_other_machines.py writes and reads the
// files).
//
//     RunProgram INPUT OUTPUT
//
// Numbers are int64, and texts and memory begin with their bytes. INPUT: the object, its entry, the bytes of its arena,
// the number of arguments, each argument, the number of results, the bytes of each result. OUTPUT: 0 and each result,
// or 1 and the message of a failure.
#include "runtime/BufferPool.h"
#include "runtime/Devices.h"
#include "runtime/Executable.h"
#include "runtime/Lapack.h"

#include <cstring>
#include <fstream>
#include <iterator>

using namespace pcrt;

namespace {

class Reader {
public:
  explicit Reader(const char *path) {
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  int64_t number() {
    int64_t value = 0;
    std::memcpy(&value, take(sizeof(value)), sizeof(value));
    return value;
  }
  std::string text() {
    auto size = static_cast<size_t>(number());
    return {take(size), size};
  }

private:
  const char *take(size_t size) {
    if (size > bytes.size() - at) {
      std::fprintf(stderr, "RunProgram: the input ends at byte %zu\n", bytes.size());
      std::exit(2);
    }
    at += size;
    return bytes.data() + at - size;
  }

  std::string bytes;
  size_t at = 0;
};

void write(std::ofstream &file, int64_t value) { file.write(reinterpret_cast<const char *>(&value), sizeof(value)); }

void write(std::ofstream &file, const void *data, size_t size) {
  write(file, static_cast<int64_t>(size));
  file.write(static_cast<const char *>(data), static_cast<std::streamsize>(size));
}

/// The value, or the end of the program.
template <typename T> T orEnd(Result<T> made) {
  if (made.isOk())
    return made.take();
  std::fprintf(stderr, "RunProgram: %s\n", made.status().message().c_str());
  std::exit(2);
}

RefPtr<Buffer> allocate(size_t size) { return orEnd(Devices::cpu().memory().allocate(size)); }

Status runProgram(Reader &input, std::vector<RefPtr<Buffer>> &results) {
  std::string object = input.text(), entry = input.text();
  RefPtr<Executable> program =
      orEnd(Executable::load(object, entry, static_cast<uint64_t>(input.number()), "program", 0));
  std::vector<RefPtr<Buffer>> arguments;
  std::vector<const void *> from;
  std::vector<void *> into;
  for (int64_t i = 0, count = input.number(); i < count; ++i) {
    std::string data = input.text();
    arguments.push_back(allocate(data.size()));
    std::memcpy(arguments.back()->data(), data.data(), data.size());
    from.push_back(arguments.back()->data());
  }
  for (int64_t i = 0, count = input.number(); i < count; ++i) {
    results.push_back(allocate(static_cast<size_t>(input.number())));
    into.push_back(results.back()->data());
  }
  return program->run({Devices::cpu(), *program}, from.data(), into.data());
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: RunProgram INPUT OUTPUT\n");
    return 2;
  }
  Reader input(argv[1]);
  std::vector<RefPtr<Buffer>> results;
  Status lapack = lapack::fillFromSystem(), status = runProgram(input, results);
  std::ofstream output(argv[2], std::ios::binary);
  write(output, status.isOk() ? 0 : 1);
  if (!status.isOk()) {
    std::string message = status.message() + (lapack.isOk() ? "" : "; " + lapack.message());
    write(output, message.data(), message.size());
  } else {
    for (const RefPtr<Buffer> &result : results)
      write(output, result->data(), result->size());
  }
  output.close();
  return output.good() ? 0 : 2;
}
