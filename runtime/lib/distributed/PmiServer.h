// The start of an MPICH without its launcher: process 0 answers PMI-1, the protocol by which MPICH's processes find
// each other (https://wiki.mpich.org, "PMI-1"). After the OS; Processes starts it.
#ifndef PYCOMPILER_RUNTIME_LIB_PMISERVER_H
#define PYCOMPILER_RUNTIME_LIB_PMISERVER_H

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace pcrt {

class PmiServer {
public:
  /// `mapping` tells which processes are on one machine, in the form of PMI_process_mapping.
  PmiServer(int listener, unsigned size, std::string mapping);
  ~PmiServer();
  PmiServer(const PmiServer &) = delete;

private:
  struct Connection {
    int socket;
    std::string buffer;
    bool isAtBarrier, isClosed;
  };

  void serve();
  void handle(Connection &connection, const std::string &line);

  const int listener;
  const unsigned size;
  const std::string space;
  std::vector<Connection> connections;
  std::map<std::string, std::string> values;
  std::atomic<bool> isStopped{false};
  std::thread thread;
};

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_LIB_PMISERVER_H
