// Copies between the lines in memory and the vectors in which lines are computed side by side: lane j of a vector has
// an element of line j. Part of the passes of one instruction set, like FftEntries.h, which includes this file.
//
// pocketfft's own copies move single numbers, and took three quarters of the time of 256 lines of 256 numbers.

namespace {

template <typename T> using Vector = pocketfft::detail::vtype_t<T>;
template <typename T> constexpr size_t lanes = pocketfft::detail::VLEN<T>::val;

template <typename T> Vector<T> load(const T *from) {
  Vector<T> loaded;
  std::memcpy(&loaded, from, sizeof(loaded));
  return loaded;
}

template <typename T> void store(T *to, Vector<T> stored) { std::memcpy(to, &stored, sizeof(stored)); }

#define PCRT_MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/// Rows become columns. The shuffles are those that instructions do.
template <typename T> void transpose(Vector<T> (&rows)[lanes<T>]) {
  auto both = [&](size_t i, size_t j, Vector<T> first, Vector<T> second) { rows[i] = first, rows[j] = second; };
  if constexpr (lanes<T> == 1) {
    return;
  } else if constexpr (lanes<T> == 2) {
    both(0, 1, PCRT_MIX(rows[0], rows[1], 0, 2), PCRT_MIX(rows[0], rows[1], 1, 3));
  } else if constexpr (lanes<T> == 4 && sizeof(T) == 8) {
    for (size_t i : {0, 2})
      both(i, i + 1, PCRT_MIX(rows[i], rows[i + 1], 0, 4, 2, 6), PCRT_MIX(rows[i], rows[i + 1], 1, 5, 3, 7));
    for (size_t i : {0, 1})
      both(i, i + 2, PCRT_MIX(rows[i], rows[i + 2], 0, 1, 4, 5), PCRT_MIX(rows[i], rows[i + 2], 2, 3, 6, 7));
  } else if constexpr (lanes<T> == 4) {
    for (size_t i : {0, 2})
      both(i, i + 1, PCRT_MIX(rows[i], rows[i + 1], 0, 4, 1, 5), PCRT_MIX(rows[i], rows[i + 1], 2, 6, 3, 7));
    Vector<T> first = rows[1];
    both(0, 1, PCRT_MIX(rows[0], rows[2], 0, 1, 4, 5), PCRT_MIX(rows[0], rows[2], 2, 3, 6, 7));
    both(2, 3, PCRT_MIX(first, rows[3], 0, 1, 4, 5), PCRT_MIX(first, rows[3], 2, 3, 6, 7));
  } else {
    static_assert(lanes<T> == 8 && sizeof(T) == 4);
    Vector<T> pairs[8], fours[8];
    for (size_t i = 0; i < 8; i += 2) {
      pairs[i] = PCRT_MIX(rows[i], rows[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
      pairs[i + 1] = PCRT_MIX(rows[i], rows[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (size_t i = 0; i < 8; i += 4)
      for (size_t j = 0; j < 2; ++j) {
        fours[i + 2 * j] = PCRT_MIX(pairs[i + j], pairs[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        fours[i + 2 * j + 1] = PCRT_MIX(pairs[i + j], pairs[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
      }
    for (size_t i = 0; i < 4; ++i)
      both(i, i + 4, PCRT_MIX(fours[i], fours[i + 4], 0, 1, 2, 3, 8, 9, 10, 11),
           PCRT_MIX(fours[i], fours[i + 4], 4, 5, 6, 7, 12, 13, 14, 15));
  }
}

/// The number of the consecutive ones that a lane has after splitParts.
template <typename T> constexpr size_t numberOfLane(size_t lane) {
  constexpr size_t ofFour[] = {0, 2, 1, 3}, ofEight[] = {0, 1, 4, 5, 2, 3, 6, 7};
  return lanes<T> == 8 ? ofEight[lane % 8] : lanes<T> == 4 && sizeof(T) == 8 ? ofFour[lane % 4] : lane;
}

/// Real and imaginary parts of consecutive complex numbers, and back. Of more than two lanes, the lanes are not in the
/// order of the numbers.
template <typename T> void splitParts(const T *from, Vector<T> &real, Vector<T> &imaginary) {
  Vector<T> low = load(from), high = load(from + lanes<T>);
  if constexpr (lanes<T> == 1)
    real = low, imaginary = high;
  else if constexpr (lanes<T> == 2)
    real = PCRT_MIX(low, high, 0, 2), imaginary = PCRT_MIX(low, high, 1, 3);
  else if constexpr (lanes<T> == 4 && sizeof(T) == 8)
    real = PCRT_MIX(low, high, 0, 4, 2, 6), imaginary = PCRT_MIX(low, high, 1, 5, 3, 7);
  else if constexpr (lanes<T> == 4)
    real = PCRT_MIX(low, high, 0, 2, 4, 6), imaginary = PCRT_MIX(low, high, 1, 3, 5, 7);
  else
    real = PCRT_MIX(low, high, 0, 2, 8, 10, 4, 6, 12, 14), imaginary = PCRT_MIX(low, high, 1, 3, 9, 11, 5, 7, 13, 15);
}

template <typename T> void joinParts(Vector<T> real, Vector<T> imaginary, T *to) {
  Vector<T> low = real, high = imaginary;
  if constexpr (lanes<T> == 2)
    low = PCRT_MIX(real, imaginary, 0, 2), high = PCRT_MIX(real, imaginary, 1, 3);
  else if constexpr (lanes<T> == 4 && sizeof(T) == 8)
    low = PCRT_MIX(real, imaginary, 0, 4, 2, 6), high = PCRT_MIX(real, imaginary, 1, 5, 3, 7);
  else if constexpr (lanes<T> == 4)
    low = PCRT_MIX(real, imaginary, 0, 4, 1, 5), high = PCRT_MIX(real, imaginary, 2, 6, 3, 7);
  else
    low = PCRT_MIX(real, imaginary, 0, 8, 1, 9, 4, 12, 5, 13),
    high = PCRT_MIX(real, imaginary, 2, 10, 3, 11, 6, 14, 7, 15);
  store(to, low), store(to + lanes<T>, high);
}

#undef PCRT_MIX

/// `count` numbers of each line, adjacent in memory.
template <typename T> void loadRows(const T *const *lines, size_t count, Vector<T> *to) {
  size_t k = 0;
  for (; k + lanes<T> <= count; k += lanes<T>) {
    Vector<T> rows[lanes<T>];
    for (size_t j = 0; j < lanes<T>; ++j)
      rows[j] = load(lines[j] + k);
    transpose<T>(rows);
    for (size_t j = 0; j < lanes<T>; ++j)
      to[k + j] = rows[j];
  }
  for (; k < count; ++k)
    for (size_t j = 0; j < lanes<T>; ++j)
      to[k][j] = lines[j][k];
}

/// To the first `used` lines, a cache line at a time.
template <typename T> void storeRows(const Vector<T> *from, size_t count, T *const *lines, size_t used) {
  constexpr size_t cacheLine = 64, blocks = cacheLine / sizeof(Vector<T>);
  size_t k = 0;
  for (; k + blocks * lanes<T> <= count; k += blocks * lanes<T>) {
    Vector<T> rows[blocks][lanes<T>];
    for (size_t b = 0; b < blocks; ++b) {
      for (size_t j = 0; j < lanes<T>; ++j)
        rows[b][j] = from[k + b * lanes<T> + j];
      transpose<T>(rows[b]);
    }
    for (size_t j = 0; j < used; ++j)
      for (size_t b = 0; b < blocks; ++b)
        store(lines[j] + k + b * lanes<T>, rows[b][j]);
  }
  for (; k < count; ++k)
    for (size_t j = 0; j < used; ++j)
      lines[j][k] = from[k][j];
}

} // namespace
