// The cache of a jitted function: from the words of a call (structure, avals, static values, configuration) to its
// compiled call. Used by JitFunction alone.
#ifndef PYCOMPILER_RUNTIME_PYTHON_CALLCACHE_H
#define PYCOMPILER_RUNTIME_PYTHON_CALLCACHE_H

#include "types/TreeWords.h"

#include <memory>

namespace pcrt::python {

struct CallEntry {
  uint64_t hash;
  std::vector<Word> words; // their objects are owned
  PyRef key;               // CallKey
  PyRef call;              // CompiledCall, or a callable
  uint64_t lastUse = 0;    // the cache's clock at the last use
  ~CallEntry();
};

class CallCache {
public:
  /// The call for the words, borrowed. Null without an exception if there is none, with one if a comparison failed.
  PyObject *find(const Word *words, size_t count, uint64_t hash);
  /// Stores a call. Unless `isHashable`, data without a hash is copied: false with an exception set if that failed.
  bool insert(const Word *words, size_t count, uint64_t hash, PyRef key, PyRef call, bool isHashable);
  void clear();
  /// The maximum number of entries of each cache; the least recently used entry is removed first.
  static size_t limit;
  /// In the order of insertion.
  const std::vector<std::shared_ptr<CallEntry>> &entries() const { return ordered; }

private:
  void rebuild(size_t slotCount);
  std::shared_ptr<CallEntry> takeOldest();

  std::vector<std::shared_ptr<CallEntry>> ordered;
  /// Open addressing, a power of two long: an entry of `ordered` plus one, or 0.
  std::vector<uint32_t> slots;
  /// A comparison runs Python code, which may change the cache: then the search restarts.
  unsigned changes = 0;
  uint64_t clock = 0;
};

} // namespace pcrt::python

#endif // PYCOMPILER_RUNTIME_PYTHON_CALLCACHE_H
