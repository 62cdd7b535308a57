// Messages of the language server protocol: a header, `Content-Length: <bytes>`, an empty line, and JSON. Messages of
// the editor go to the server unchanged. Other output of the server (--help) goes to stdout unchanged.
#include "HoverDocs.h"
#include "OperationDocs.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mlir::array {
namespace {

/// The operation in a hover text of the server: `"array.add"`, with nothing or a symbol's name after it, then a blank
/// line. Empty for other texts.
llvm::StringRef operationOf(llvm::StringRef hover) {
  if (!hover.consume_front("\""))
    return "";
  return hover.take_until([](char c) { return c == '"' || c == '\n'; });
}

/// Adds the documentation to a message that answers a hover request. Returns whether the message is one.
bool addDocs(llvm::json::Value &message) {
  llvm::json::Object *root = message.getAsObject();
  llvm::json::Object *result = root ? root->getObject("result") : nullptr;
  llvm::json::Object *contents = result ? result->getObject("contents") : nullptr;
  std::optional<llvm::StringRef> text = contents ? contents->getString("value") : std::nullopt;
  std::string docs = text ? operationDocs(operationOf(*text)) : "";
  if (docs.empty())
    return false;
  auto [name, generic] = text->split("\n\n");
  (*contents)["value"] = (name + "\n\n" + docs + "\n" + generic).str();
  return true;
}

std::string withDocs(std::string body) {
  llvm::Expected<llvm::json::Value> message = llvm::json::parse(body);
  if (!message) {
    llvm::consumeError(message.takeError());
    return body;
  }
  if (!addDocs(*message))
    return body;
  bool isPretty = llvm::StringRef(body).contains('\n');
  return isPretty ? llvm::formatv("{0:2}", *message).str() : llvm::formatv("{0}", *message).str();
}

/// One line, with its end; empty at the end of the stream.
std::string readLine(FILE *stream) {
  std::string line;
  for (int c = std::getc(stream); c != EOF; c = std::getc(stream)) {
    line += static_cast<char>(c);
    if (c == '\n')
      break;
  }
  return line;
}

void write(llvm::StringRef bytes) {
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  std::fflush(stdout);
}

void relayToEditor(FILE *server) {
  for (std::string line = readLine(server); !line.empty(); line = readLine(server)) {
    llvm::StringRef rest = line;
    size_t length;
    if (!rest.consume_front("Content-Length: ") || rest.trim().getAsInteger(10, length)) {
      write(line);
      continue;
    }
    readLine(server);
    std::string body(length, '\0');
    body.resize(std::fread(body.data(), 1, length, server));
    body = withDocs(std::move(body));
    write("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
}

void relayToServer(int server) {
  char bytes[1 << 16];
  ssize_t count;
  while ((count = ::read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
    for (ssize_t done = 0, part; done < count; done += part)
      if ((part = ::write(server, bytes + done, count - done)) <= 0)
        return;
  ::close(server);
}

int fail(const char *what) {
  std::perror(what);
  return EXIT_FAILURE;
}

} // namespace

int runWithHoverDocs(llvm::function_ref<int()> server) {
  int requests[2], answers[2];
  if (pipe(requests) != 0 || pipe(answers) != 0)
    return fail("array-lsp-server: no pipe to the server");
  pid_t child = fork();
  if (child < 0)
    return fail("array-lsp-server: no process for the server");
  if (child == 0) {
    dup2(requests[0], STDIN_FILENO);
    dup2(answers[1], STDOUT_FILENO);
    for (int end : {requests[0], requests[1], answers[0], answers[1]})
      close(end);
    return server();
  }
  close(requests[0]);
  close(answers[1]);
  // The reads notice if the editor or the server has ended.
  std::signal(SIGPIPE, SIG_IGN);
  // The thread waits for the editor as long as the server runs.
  std::thread(relayToServer, requests[1]).detach();
  relayToEditor(fdopen(answers[0], "r"));
  int status;
  if (waitpid(child, &status, 0) != child)
    return fail("array-lsp-server: the server can't be waited for");
  if (!WIFSIGNALED(status))
    return WEXITSTATUS(status);
  std::fprintf(stderr, "array-lsp-server: the server ended by signal %d\n", WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

} // namespace mlir::array
