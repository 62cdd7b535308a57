// Looking up compiled calls.
#include "call/CallCache.h"

#include <algorithm>

using namespace pcrt::python;

size_t CallCache::limit = 2048;

CallEntry::~CallEntry() {
  for (Word word : words)
    if (!word.isHeader())
      Py_DECREF(word.object());
}

PyObject *CallCache::find(const Word *words, size_t count, uint64_t hash) {
  if (slots.empty())
    return nullptr;
  size_t mask = slots.size() - 1;
  for (size_t slot = hash & mask; slots[slot]; slot = (slot + 1) & mask) {
    CallEntry *entry = ordered[slots[slot] - 1].get();
    if (entry->hash != hash || entry->words.size() != count)
      continue;
    if (std::memcmp(entry->words.data(), words, count * sizeof(Word)) == 0) {
      entry->lastUse = ++clock;
      return entry->call.get();
    }
    std::shared_ptr<CallEntry> alive = ordered[slots[slot] - 1];
    unsigned before = changes;
    int equal = equalWords(alive->words.data(), words, count);
    if (equal < 0)
      return nullptr;
    if (changes != before)
      return find(words, count, hash);
    if (equal) {
      alive->lastUse = ++clock;
      return alive->call.get();
    }
  }
  return nullptr;
}

bool CallCache::insert(const Word *words, size_t count, uint64_t hash, PyRef key, PyRef call, bool isHashable) {
  std::vector<Word> own(words, words + count);
  std::vector<PyRef> copies;
  if (!isHashable && !snapshotWords(own.data(), count, copies))
    return false;
  auto entry = std::make_shared<CallEntry>();
  entry->hash = hash;
  entry->words = std::move(own);
  for (Word word : entry->words)
    if (!word.isHeader())
      Py_INCREF(word.object());
  entry->key = std::move(key);
  entry->call = std::move(call);
  entry->lastUse = ++clock;
  // They are destroyed at the end, when the cache is consistent again: their destruction may run Python code.
  std::vector<std::shared_ptr<CallEntry>> dying;
  while (!ordered.empty() && ordered.size() >= limit)
    dying.push_back(takeOldest());
  ordered.push_back(std::move(entry));
  rebuild(slots.size() >= 2 * ordered.size() ? slots.size() : std::max<size_t>(8, 2 * slots.size()));
  ++changes;
  return true;
}

std::shared_ptr<CallEntry> CallCache::takeOldest() {
  auto oldest = std::min_element(ordered.begin(), ordered.end(),
                                 [](const auto &a, const auto &b) { return a->lastUse < b->lastUse; });
  std::shared_ptr<CallEntry> taken = std::move(*oldest);
  ordered.erase(oldest);
  return taken;
}

void CallCache::rebuild(size_t slotCount) {
  slots.assign(slotCount, 0);
  for (size_t i = 0; i < ordered.size(); ++i) {
    size_t slot = ordered[i]->hash & (slotCount - 1);
    while (slots[slot])
      slot = (slot + 1) & (slotCount - 1);
    slots[slot] = static_cast<uint32_t>(i + 1);
  }
}

void CallCache::clear() {
  // The entries are destroyed after the cache is empty: their destruction may run Python code.
  auto dying = std::move(ordered);
  ordered.clear();
  slots.clear();
  ++changes;
}
