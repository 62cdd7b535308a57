// Events: each is a token of the runtime. No thread waits for one unless the caller does.
#include "pjrt/Functions.h"
#include "pjrt/Objects.h"

using namespace pcrt;
using namespace pcrt::pjrt;

PJRT_Event *pcrt::pjrt::eventOf(RefPtr<Token> token) {
  auto *event = new PJRT_Event();
  // A token that is done without an error has nothing more to say.
  if (token && !(token->isDone() && !token->error()))
    event->token = std::move(token);
  return event;
}

/// Of a done event.
static PJRT_Error *errorOf(const Token *token, int setCode) {
  const Error *error = token ? token->error() : nullptr;
  if (!error)
    return nullptr;
  return setCode ? failure(static_cast<PJRT_Error_Code>(setCode), error->message) : failure(*error);
}
static PJRT_Error *errorOf(const PJRT_Event &event) { return errorOf(event.token.get(), event.setCode.load()); }

PJRT_Error *pcrt::pjrt::Event_Destroy(PJRT_Event_Destroy_Args *args) {
  delete args->event;
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Event_IsReady(PJRT_Event_IsReady_Args *args) {
  args->is_ready = !args->event->token || args->event->token->isDone();
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Event_Error(PJRT_Event_Error_Args *args) {
  if (args->event->token && !args->event->token->isDone())
    return failure(PJRT_Error_Code_FAILED_PRECONDITION, "PJRT_Event_Error: the event is not ready");
  return errorOf(*args->event);
}

PJRT_Error *pcrt::pjrt::Event_Await(PJRT_Event_Await_Args *args) {
  if (args->event->token)
    args->event->token->wait();
  return errorOf(*args->event);
}

namespace {
/// A caller's function for the end of a token. It outlives the event, which may be destroyed before.
struct OnReady final : Continuation {
  OnReady(RefPtr<Token> token, PJRT_Event_OnReadyCallback callback, void *argument)
      : token(std::move(token)), callback(callback), argument(argument) {
    run = [](Continuation *self) { static_cast<OnReady *>(self)->end(); };
  }
  void end() {
    PJRT_Error *error = errorOf(token.get(), setCode);
    auto *function = callback;
    void *given = argument;
    delete this;
    function(error, given);
  }
  RefPtr<Token> token;
  PJRT_Event_OnReadyCallback callback;
  void *argument;
  int setCode = 0;
};
} // namespace

PJRT_Error *pcrt::pjrt::Event_OnReady(PJRT_Event_OnReady_Args *args) {
  PJRT_Event &event = *args->event;
  if (!event.token || event.token->isDone()) {
    args->callback(errorOf(event), args->user_arg);
    return nullptr;
  }
  // `this` may end in another thread before `then` returns.
  RefPtr<Token> token = event.token;
  auto *continuation = new OnReady(token, args->callback, args->user_arg);
  if (!token->then(continuation)) {
    delete continuation;
    args->callback(errorOf(event), args->user_arg);
  }
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Event_Create(PJRT_Event_Create_Args *args) {
  args->event = new PJRT_Event();
  args->event->token = RefPtr<Token>::adopt(new Token());
  return nullptr;
}

PJRT_Error *pcrt::pjrt::Event_Set(PJRT_Event_Set_Args *args) {
  PJRT_Event &event = *args->event;
  if (!event.token || event.token->isDone())
    return failure(PJRT_Error_Code_FAILED_PRECONDITION, "PJRT_Event_Set: the event is ready already");
  RefPtr<Error> error;
  if (args->error_code) {
    event.setCode.store(args->error_code);
    error = RefPtr<Error>::adopt(
        new Error(Code::Unknown, std::string(args->error_message, args->error_message_size), "", ""));
  }
  event.token->complete(std::move(error));
  return nullptr;
}
