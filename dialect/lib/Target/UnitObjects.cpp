// The objects of units: the cache of compiled ones, and the threads that compile the others.
#include "Units.h"
#include "array/Target/Stop.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Threading.h"
#include <atomic>
#include <list>
#include <thread>

namespace mlir::array {

namespace {

/// Objects by the contents of their units; the front was used last.
class ObjectCache {
public:
  static ObjectCache &instance() {
    static auto *cache = new ObjectCache(); // threads may use it while the process ends
    return *cache;
  }

  std::shared_ptr<const std::vector<char>> find(StringRef key) {
    std::lock_guard<std::mutex> guard(lock);
    auto found = places.find(key);
    if (found == places.end())
      return nullptr;
    entries.splice(entries.begin(), entries, found->second);
    return found->second->object;
  }

  void keep(const std::string &key, const std::shared_ptr<const std::vector<char>> &object) {
    std::lock_guard<std::mutex> guard(lock);
    if (places.contains(key))
      return;
    entries.push_front({key, object});
    places[key] = entries.begin();
    bytes += object->size();
    while (bytes > maxBytes) {
      bytes -= entries.back().object->size();
      places.erase(entries.back().key);
      entries.pop_back();
    }
  }

  void clear() {
    std::lock_guard<std::mutex> guard(lock);
    entries.clear();
    places.clear();
    bytes = 0;
  }

private:
  static constexpr size_t maxBytes = size_t(64) << 20;
  struct Entry {
    std::string key;
    std::shared_ptr<const std::vector<char>> object;
  };
  std::mutex lock;
  std::list<Entry> entries;
  llvm::StringMap<std::list<Entry>::iterator> places;
  size_t bytes = 0;
};

} // namespace

void findKnownObjects(llvm::MutableArrayRef<Unit> units) {
  for (Unit &unit : units)
    if (unit.root)
      unit.object = ObjectCache::instance().find(unit.key);
}

void keepObjects(llvm::ArrayRef<Unit> units) {
  for (const Unit &unit : units)
    if (unit.root)
      ObjectCache::instance().keep(unit.key, unit.object);
}

void forgetObjects() { ObjectCache::instance().clear(); }

void forEachMissing(llvm::MutableArrayRef<Unit> units, llvm::function_ref<void(Unit &, unsigned)> work) {
  llvm::SmallVector<Unit *> missing;
  for (Unit &unit : units)
    if (!unit.object)
      missing.push_back(&unit);
  std::atomic<size_t> next = 0;
  const std::atomic<bool> *stop = getStopFlag();
  auto run = [&](unsigned worker) {
    for (size_t i = next++; i < missing.size() && !isStopped(stop); i = next++)
      work(*missing[i], worker);
  };
  unsigned cores = llvm::hardware_concurrency().compute_thread_count();
  std::vector<std::thread> threads;
  for (unsigned worker = 1; worker < std::min<size_t>(cores, missing.size()); ++worker)
    threads.emplace_back(run, worker);
  run(0);
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace mlir::array
