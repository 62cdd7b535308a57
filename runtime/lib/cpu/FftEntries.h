// The passes of one instruction set. Before it: pocketfft's header, in a namespace of its own, and PCRT_FFT_TABLES, the
// name of the tables.
#include "FftPasses.h"

//===--- Copies between the lines in memory and the vectors in which lines are computed side by side --------------===//
//
// Lane j of a vector has an element of line j. pocketfft's own copies move single numbers, and took three quarters of
// the time of 256 lines of 256 numbers.

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

//===--- Passes ---------------------------------------------------------------------------------------------------===//

namespace {

using pocketfft::detail::cmplx;

/// Lines that are computed together: those of a vector, or one alone.
struct Group {
  size_t first, count;
};

template <typename T> Group groupOf(const pcrt::fft::Lines<T> &lines, size_t number) {
  constexpr size_t width = lanes<T>;
  size_t within = lines.perStack, first = number * width, all = lines.stacks * within;
  if (within < width)
    return {first, std::min(width, all - first)};
  size_t perStack = (within + width - 1) / width, place = number % perStack * width;
  return {number / perStack * within + place, std::min(width, within - place)};
}

/// The positions of a group's lines. If a vector has more lanes than the group has lines, the other lanes compute the
/// last line again.
template <typename T, typename Element> struct Places {
  Element *of[lanes<T>];

  Places(Element *data, const pcrt::fft::Lines<T> &lines, typename pcrt::fft::Lines<T>::Side side, Group group) {
    for (size_t j = 0; j < lanes<T>; ++j) {
      size_t line = group.first + std::min(j, group.count - 1);
      of[j] = data + line / lines.perStack * side.stack + line % lines.perStack;
    }
  }
  /// Whether they are side by side.
  bool areAdjacent(Group group) const { return group.count == lanes<T> && of[lanes<T> - 1] == of[0] + lanes<T> - 1; }
};

/// A vector with idle lanes pays if its numbers stay in the cache, or few lanes are idle.
template <typename T> bool sharesVector(size_t length, Group group) {
  constexpr size_t cacheBytes = 1 << 19;
  if (lanes<T> == 1 || group.count == 1)
    return false;
  return 2 * group.count > lanes<T> || length * lanes<T> * sizeof(T) * 2 <= cacheBytes;
}

/// Calls `together(group, vectors)` for groups that share a vector, and `alone(line, numbers)` for each other line. The
/// buffers have room for a transform of `numbers` numbers.
template <typename T, typename Together, typename Alone>
void overGroups(const pcrt::fft::Lines<T> &lines, size_t numbers, size_t low, size_t high, const Together &together,
                const Alone &alone) {
  pocketfft::detail::arr<char> buffer(numbers * lanes<T> * sizeof(T));
  for (size_t number = low; number < high; ++number) {
    Group group = groupOf(lines, number);
    if (sharesVector<T>(lines.length, group))
      together(group, reinterpret_cast<Vector<T> *>(buffer.data()));
    else
      for (size_t i = 0; i < group.count; ++i)
        alone(Group{group.first + i, 1}, reinterpret_cast<T *>(buffer.data()));
  }
}

template <typename T>
void complexLines(const pcrt::fft::Lines<T> &lines, bool forward, const std::complex<T> *in, std::complex<T> *out,
                  size_t low, size_t high) {
  auto plan = pocketfft::detail::get_plan<pocketfft::detail::pocketfft_c<T>>(lines.length);
  const size_t length = lines.length;
  using Parts = const T *;
  auto together = [&](Group group, Vector<T> *numbers) {
    Places<T, const std::complex<T>> from(in, lines, lines.in, group);
    Places<T, std::complex<T>> to(out, lines, lines.out, group);
    // Rows that become columns are loaded in the order of the lanes of adjacent numbers.
    const bool areTurned = lines.in.step == 1 && lines.out.step != 1 && to.areAdjacent(group);
    const bool areAdjacent = areTurned || (from.areAdjacent(group) && to.areAdjacent(group));
    if (areTurned) {
      auto inOrder = from;
      for (size_t j = 0; j < lanes<T>; ++j)
        from.of[j] = inOrder.of[numberOfLane<T>(j)];
    }
    if (lines.in.step == 1) {
      loadRows<T>(reinterpret_cast<const Parts *>(from.of), 2 * length, numbers);
    } else {
      for (size_t k = 0, at = 0; k < length; ++k, at += lines.in.step)
        if (areAdjacent)
          splitParts(reinterpret_cast<const T *>(from.of[0] + at), numbers[2 * k], numbers[2 * k + 1]);
        else
          for (size_t j = 0; j < lanes<T>; ++j) {
            numbers[2 * k][j] = from.of[j][at].real();
            numbers[2 * k + 1][j] = from.of[j][at].imag();
          }
    }
    plan->exec(reinterpret_cast<cmplx<Vector<T>> *>(numbers), lines.scale, forward);
    if (lines.out.step == 1) {
      storeRows<T>(numbers, 2 * length, reinterpret_cast<T *const *>(to.of), group.count);
      return;
    }
    for (size_t k = 0, at = 0; k < length; ++k, at += lines.out.step)
      if (areAdjacent)
        joinParts(numbers[2 * k], numbers[2 * k + 1], reinterpret_cast<T *>(to.of[0] + at));
      else
        for (size_t j = 0; j < group.count; ++j)
          to.of[j][at] = {numbers[2 * k][j], numbers[2 * k + 1][j]};
  };
  auto alone = [&](Group line, T *numbers) {
    const std::complex<T> *from = Places<T, const std::complex<T>>(in, lines, lines.in, line).of[0];
    std::complex<T> *to = Places<T, std::complex<T>>(out, lines, lines.out, line).of[0];
    auto *elements = lines.out.step == 1 ? to : reinterpret_cast<std::complex<T> *>(numbers);
    for (size_t k = 0; k < length; ++k)
      elements[k] = from[k * lines.in.step];
    plan->exec(reinterpret_cast<cmplx<T> *>(elements), lines.scale, forward);
    for (size_t k = 0; k < length && elements != to; ++k)
      to[k * lines.out.step] = elements[k];
  };
  overGroups(lines, 2 * length, low, high, together, alone);
}

// pocketfft's half of the frequencies of a real line of n numbers, r0 r1 i1 r2 i2 ..., are the complex numbers without
// the imaginary parts of the first one and, if n is even, of the last one: all from r1 on lies one place further.

template <typename T>
void linesFromReal(const pcrt::fft::Lines<T> &lines, const T *in, std::complex<T> *out, size_t low, size_t high) {
  auto plan = pocketfft::detail::get_plan<pocketfft::detail::pocketfft_r<T>>(lines.length);
  const size_t length = lines.length;
  auto finish = [&](T *line, T first) {
    line[0] = first;
    line[1] = 0;
    if (length % 2 == 0)
      line[length + 1] = 0;
  };
  auto together = [&](Group group, Vector<T> *numbers) {
    loadRows<T>(Places<T, const T>(in, lines, lines.in, group).of, length, numbers);
    plan->exec(numbers, lines.scale, true);
    Places<T, std::complex<T>> to(out, lines, lines.out, group);
    T *rest[lanes<T>];
    for (size_t j = 0; j < lanes<T>; ++j)
      rest[j] = reinterpret_cast<T *>(to.of[j]) + 2;
    storeRows<T>(numbers + 1, length - 1, rest, group.count);
    for (size_t j = 0; j < group.count; ++j)
      finish(reinterpret_cast<T *>(to.of[j]), numbers[0][j]);
  };
  auto alone = [&](Group line, T *numbers) {
    std::memcpy(numbers, Places<T, const T>(in, lines, lines.in, line).of[0], length * sizeof(T));
    plan->exec(numbers, lines.scale, true);
    auto *to = reinterpret_cast<T *>(Places<T, std::complex<T>>(out, lines, lines.out, line).of[0]);
    std::memcpy(to + 2, numbers + 1, (length - 1) * sizeof(T));
    finish(to, numbers[0]);
  };
  overGroups(lines, length, low, high, together, alone);
}

template <typename T>
void linesToReal(const pcrt::fft::Lines<T> &lines, const std::complex<T> *in, T *out, size_t low, size_t high) {
  auto plan = pocketfft::detail::get_plan<pocketfft::detail::pocketfft_r<T>>(lines.length);
  const size_t length = lines.length;
  auto together = [&](Group group, Vector<T> *numbers) {
    Places<T, const std::complex<T>> from(in, lines, lines.in, group);
    const T *rest[lanes<T>];
    for (size_t j = 0; j < lanes<T>; ++j) {
      rest[j] = reinterpret_cast<const T *>(from.of[j]) + 2;
      numbers[0][j] = from.of[j]->real();
    }
    loadRows<T>(rest, length - 1, numbers + 1);
    plan->exec(numbers, lines.scale, false);
    storeRows<T>(numbers, length, Places<T, T>(out, lines, lines.out, group).of, group.count);
  };
  auto alone = [&](Group line, T *) {
    const std::complex<T> *from = Places<T, const std::complex<T>>(in, lines, lines.in, line).of[0];
    T *to = Places<T, T>(out, lines, lines.out, line).of[0];
    to[0] = from->real();
    std::memcpy(to + 1, reinterpret_cast<const T *>(from) + 2, (length - 1) * sizeof(T));
    plan->exec(to, lines.scale, false);
  };
  overGroups(lines, length, low, high, together, alone);
}

template <typename T>
constexpr pcrt::fft::Passes<T> passesHere = {lanes<T>, complexLines<T>, linesFromReal<T>, linesToReal<T>};

} // namespace

const pcrt::fft::Tables pcrt::fft::PCRT_FFT_TABLES = {passesHere<float>, passesHere<double>};
