// The passes of one instruction set. Before it: pocketfft's header, in a namespace of its own, and PCRT_FFT_TABLES, the
// name of the tables.
#include "FftPasses.h"

#include "FftCopies.h"

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
