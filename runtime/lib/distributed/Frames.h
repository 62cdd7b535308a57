// The data on the control plane's connections: frames of a kind, a number and fields. After the OS; before
// ControlServer and ControlClient.
#ifndef PYCOMPILER_RUNTIME_LIB_FRAMES_H
#define PYCOMPILER_RUNTIME_LIB_FRAMES_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pcrt {

enum class FrameKind : uint8_t {
  // From a process. Hello {secret, host}; its number is the rank, and the field after it the pid.
  Hello = 1,
  Set,    // {key, value}
  Get,    // {key, milliseconds}
  Gather, // {name, members, own bytes, milliseconds}
  Alive,  // {}
  Failed, // {cause, place}: this process ends with an error
  Launch, // {processes, launch, cause, place}: a launch failed here; {..., rank}: because of another process
  Ask,    // {processes, launch, members}: it waits long here, so where are the others?
  Place,  // {to, processes, launch, state, place}: this process is late, and here
  AtEnd,  // {}: this process has reached its end
  Bye,    // {}: and now closes; the answer comes when the others are told
  // From the server.
  Answer,       // {bytes...}: to the request of that number
  Refusal,      // {message}
  PeerFailed,   // {rank, host, pid, cause, place}
  LaunchFailed, // {rank, host, pid, cause, place, processes, launch}
  PeerAtEnd,    // {rank}
  Asked,        // {rank, processes, launch, members}
  PeerLate,     // {rank, host, pid, state, place, processes, launch}
};

/// A frame that is being read or written. Numbers are written as texts: frames are small and rare.
struct Frame {
  FrameKind kind = FrameKind::Alive;
  uint64_t number = 0;
  std::vector<std::string> fields;

  uint64_t integer(size_t i) const { return i < fields.size() ? std::strtoull(fields[i].c_str(), nullptr, 10) : 0; }
  std::string text(size_t i) const { return i < fields.size() ? fields[i] : std::string(); }
  /// The bytes on the wire.
  std::string encoded() const;
};

/// The bytes that have arrived of a connection, cut into frames.
class FrameReader {
public:
  void add(const char *bytes, size_t count) { buffer.append(bytes, count); }
  /// False if no frame is complete yet. `isBroken` is set if the bytes are not a frame.
  bool take(Frame &frame);
  bool isBroken = false;
  /// The maximum bytes of a frame; a small bound until the peer has shown the secret.
  size_t limit = size_t(1) << 30;

private:
  std::string buffer;
};

//===-- Meetings

/// Whether a rank is in a list of numbers with commas.
bool isAmong(unsigned rank, const std::string &members);
/// Whether it is the name of a meeting at the end, to which all come.
bool isOfTheEnd(const std::string &name);
/// The reason why a process at its end does not come to a meeting.
std::string causeOfAbsence(const std::string &name);

//===-- Sockets

/// A listening socket. If the port is 0, the system chooses one.
Result<int> listenOn(const std::string &address, int &port);
/// Connects before the deadline (nowNs), trying again while nothing listens there.
Result<int> connectTo(const std::string &host, int port, int64_t deadline);
/// Sends everything; false if the connection is closed.
bool sendAll(int socket, const std::string &bytes);

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_FRAMES_H
