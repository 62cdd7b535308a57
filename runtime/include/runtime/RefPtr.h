// Intrusive reference counting, for every object of the runtime that threads may share.
#ifndef PYCOMPILER_RUNTIME_REFPTR_H
#define PYCOMPILER_RUNTIME_REFPTR_H

#include <atomic>
#include <cstdint>
#include <utility>

namespace pcrt {

/// Base of a counted class. An object starts with one reference, which RefPtr::adopt takes over.
template <typename Derived> class RefCounted {
public:
  void retain() const { refs.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1)
      const_cast<Derived *>(static_cast<const Derived *>(this))->destroy();
  }

  /// The current number of references; other threads may release theirs meanwhile.
  uint32_t references() const { return refs.load(std::memory_order_acquire); }

protected:
  RefCounted() = default;
  RefCounted(const RefCounted &) = delete;
  RefCounted &operator=(const RefCounted &) = delete;
  ~RefCounted() = default;
  void destroy() { delete static_cast<Derived *>(this); }
  /// For an object that a pool reuses.
  void revive() { refs.store(1, std::memory_order_relaxed); }

private:
  mutable std::atomic<uint32_t> refs{1};
};

template <typename T> class RefPtr {
public:
  RefPtr() = default;
  RefPtr(std::nullptr_t) {}
  explicit RefPtr(T *object) : object(object) {
    if (object)
      object->retain();
  }
  RefPtr(const RefPtr &other) : RefPtr(other.object) {}
  RefPtr(RefPtr &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  RefPtr &operator=(RefPtr other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~RefPtr() {
    if (object)
      object->release();
  }
  static RefPtr adopt(T *object) {
    RefPtr pointer;
    pointer.object = object;
    return pointer;
  }

  T *get() const { return object; }
  T *operator->() const { return object; }
  T &operator*() const { return *object; }
  explicit operator bool() const { return object != nullptr; }
  /// Gives the reference to the caller.
  T *take() { return std::exchange(object, nullptr); }

private:
  T *object = nullptr;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_REFPTR_H
