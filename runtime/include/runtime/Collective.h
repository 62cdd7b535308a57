// Where the participants of one program meet: each runs it on a device of its own, and at a collective the members of
// a group exchange what they have, as devices of their kind do (CollectiveWork). After Status and ThreadPool; launches
// carry a participant (Stream), compiled code comes here by the routine `collective` of its table.
#ifndef PYCOMPILER_RUNTIME_COLLECTIVE_H
#define PYCOMPILER_RUNTIME_COLLECTIVE_H

#include "runtime/Futex.h"
#include "runtime/Status.h"
#include "runtime/Token.h"

#include <memory>
#include <mutex>
#include <vector>

namespace pcrt {

class Device;
class Rendezvous;
class Exchange;

/// Who of a run: what a launch of it carries.
struct Participant {
  Rendezvous *run;
  unsigned number;
};

/// When the work of a run has ended on the devices, where that is later than in the hosts' threads.
struct DeviceEnds {
  /// For who runs the participant to complete.
  RefPtr<Token> own;
  /// Done when those of all participants are, with the failure of the first of them that failed; null where the
  /// participant has met nobody, and depends on itself alone.
  RefPtr<Token> all;
};

/// One run of a program by several participants. Each holds a reference until its own run ends (endParticipant).
///
/// Nobody waits for ever: a group that a member can't come to any more fails, with what that member failed with, and
/// so does every group when all participants wait for each other.
class Rendezvous : public RefCounted<Rendezvous> {
public:
  /// `devices` are those that the participants run on; without them all are in the host's memory.
  explicit Rendezvous(unsigned count, std::vector<Device *> devices = {});

  unsigned size() const { return count; }
  /// For the launch of a participant, which takes a reference with it.
  Participant *join(unsigned number);

  /// The collective that `params` describe (runtime/Abi.h), of the input to the output: waits for the other members of
  /// the participant's group. What it fails with, when that is the error of another participant, collectiveFailure
  /// tells too.
  Status exchange(unsigned number, const PcrtTensor &input, const PcrtTensor &output, const int64_t *params);
  /// After the participant's last collective.
  DeviceEnds deviceEnds(unsigned number);

private:
  friend class RefCounted<Rendezvous>;
  friend class Exchange;
  friend RefPtr<Error> collectiveFailure(void *participant);
  friend void endParticipant(void *participant, Error *error);
  ~Rendezvous();

  /// Why a participant's collective failed: what another one failed with, or a message.
  struct Failure {
    RefPtr<Error> cause;
    std::string message;
  };
  /// All under `lock`, but for what an exchange does once all of its members have come.
  struct State {
    Participant self;
    bool hasEnded = false, hasMet = false;
    RefPtr<Error> error;
    RefPtr<Error> cause;
    RefPtr<Token> onDevice;
    std::vector<Exchange *> groups;
  };

  Exchange *groupOf(unsigned number, const int64_t *params);
  Status fail(unsigned number, const Failure &failure);
  /// What keeps a member from coming; false when nothing does.
  bool isMissing(const Exchange &group, Failure &why) const;
  void failWaiting(Exchange &group, const Failure &why);
  void failIfStuck();
  void end(unsigned number, Error *error);

  const unsigned count;
  std::vector<Device *> devices;
  std::mutex lock;
  std::vector<State> states;
  std::vector<std::unique_ptr<Exchange>> exchanges;
  /// Participants that wait for others to come, and those that have ended.
  unsigned waiting = 0, ended = 0;
};

/// After a run that failed: the error of another participant that made a collective of it fail; null when it failed
/// by itself. `participant` may be null.
RefPtr<Error> collectiveFailure(void *participant);
/// The run of a participant has ended, with this error or (null) without: whoever waits for it fails. Takes back the
/// reference of `join`. `participant` may be null.
void endParticipant(void *participant, Error *error);

/// A token that is done, without an error, when all of these are; null when they are already.
RefPtr<Token> whenAllDone(const std::vector<Token *> &tokens);
/// A token that is done when all of these are, with the failure of the first one that failed.
RefPtr<Token> joined(const std::vector<Token *> &tokens);

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_COLLECTIVE_H
