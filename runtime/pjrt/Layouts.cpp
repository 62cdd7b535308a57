// Layouts: arrays are dense, in the order of dimensions of their types; it is row-major unless a program or a caller
// asks for another.
#include "pjrt/Layouts.h"

#include "pjrt/Objects.h"

using namespace pcrt;
using namespace pcrt::pjrt;

std::string pcrt::pjrt::layoutOf(const ArrayType &type) {
  std::string text = "{";
  for (size_t i = type.dims.size(); i-- > 0;)
    text += std::to_string(type.order.empty() ? static_cast<int64_t>(i) : type.order[i]) + (i ? "," : "");
  return text + "}";
}

namespace {

struct Layout {
  std::string text;
};

struct DestroyArgs {
  size_t struct_size;
  PJRT_Extension_Base *extension_start;
  Layout *layout;
};
struct SerializeArgs {
  size_t struct_size;
  PJRT_Extension_Base *extension_start;
  Layout *layout;
  const char *bytes;
  size_t size;
  std::string *kept;
  void (*deleter)(std::string *);
};
struct DefaultArgs {
  size_t struct_size;
  PJRT_Extension_Base *extension_start;
  /// A client, or a topology.
  void *place;
  PJRT_Buffer_Type type;
  const int64_t *dims;
  size_t rank;
  Layout *layout;
};
struct BufferArgs {
  size_t struct_size;
  PJRT_Extension_Base *extension_start;
  PJRT_Buffer *buffer;
  Layout *layout;
};
struct ExecutableArgs {
  size_t struct_size;
  PJRT_Extension_Base *extension_start;
  PJRT_Executable *executable;
  size_t count;
  Layout **layouts;
};

PJRT_Error *destroy(DestroyArgs *args) {
  delete args->layout;
  return nullptr;
}

PJRT_Error *serialize(SerializeArgs *args) {
  args->kept = new std::string(args->layout->text);
  args->bytes = args->kept->data();
  args->size = args->kept->size();
  args->deleter = [](std::string *kept) { delete kept; };
  return nullptr;
}

PJRT_Error *defaultLayout(DefaultArgs *args) {
  ArrayType type;
  type.dims.resize(args->rank);
  args->layout = new Layout{layoutOf(type)};
  return nullptr;
}

PJRT_Error *layoutOfBuffer(BufferArgs *args) {
  args->layout = new Layout{layoutOf(args->buffer->type)};
  return nullptr;
}

/// The caller destroys each layout, and copies the list before its next call in this thread.
PJRT_Error *layoutsOf(const std::vector<ArrayType> &types, ExecutableArgs *args) {
  static thread_local std::vector<Layout *> list;
  list.clear();
  for (const ArrayType &type : types)
    list.push_back(new Layout{layoutOf(type)});
  args->count = list.size();
  args->layouts = list.data();
  return nullptr;
}

PJRT_Error *outputLayouts(ExecutableArgs *args) { return layoutsOf(args->executable->facts->program.results, args); }
PJRT_Error *parameterLayouts(ExecutableArgs *args) {
  return layoutsOf(args->executable->facts->program.parameters, args);
}

struct Extension {
  PJRT_Extension_Base base;
  PJRT_Error *(*destroy)(DestroyArgs *);
  PJRT_Error *(*serialize)(SerializeArgs *);
  PJRT_Error *(*clientDefault)(DefaultArgs *);
  PJRT_Error *(*ofBuffer)(BufferArgs *);
  PJRT_Error *(*topologyDefault)(DefaultArgs *);
  PJRT_Error *(*outputs)(ExecutableArgs *);
  PJRT_Error *(*parameters)(ExecutableArgs *);
};

} // namespace

PJRT_Extension_Base *pcrt::pjrt::layoutsExtension() {
  static Extension extension = {{sizeof(Extension), PJRT_Extension_Type_Layouts, nullptr},
                                destroy,
                                serialize,
                                defaultLayout,
                                layoutOfBuffer,
                                defaultLayout,
                                outputLayouts,
                                parameterLayouts};
  return &extension.base;
}
