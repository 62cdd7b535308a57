// Python's headers, and those of C++ that most files of the extension module include. CMake precompiles them; each file
// includes its own, too.
#ifndef PYCOMPILER_RUNTIME_PYTHON_PRECOMPILED_H
#define PYCOMPILER_RUNTIME_PYTHON_PRECOMPILED_H

#define PY_SSIZE_T_CLEAN // as support/PyRef.h, before Python's header
#include <Python.h>
#include <structmember.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#endif // PYCOMPILER_RUNTIME_PYTHON_PRECOMPILED_H
