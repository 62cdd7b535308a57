// Exchanges between the participants of one program. Each participant runs it on its own device. At a collective, the
// members of a group exchange values by the implementation for their kind of device (CollectiveWork). After Status and
// ThreadPool; launches carry a participant (Stream), and compiled code calls the routine `collective` of its table.
#ifndef PYCOMPILER_RUNTIME_COLLECTIVE_H
#define PYCOMPILER_RUNTIME_COLLECTIVE_H

#include "runtime/Futex.h"
#include "runtime/Status.h"
#include "runtime/Transport.h"

#include <memory>
#include <mutex>
#include <vector>

namespace pcrt {

class Device;
class Rendezvous;
class Exchange;
class StartedCollectives;
class UnfinishedWork;
struct Contribution;

/// A participant of a run, which its launch carries.
struct Participant {
  Rendezvous *run;
  unsigned number;
};

/// Tokens for the end of a run's work on the devices, if that is later than the end in the hosts' threads.
struct DeviceEnds {
  /// For the stream that runs the participant, to complete.
  RefPtr<Token> own;
  /// Done when the tokens of all participants are, with the failure of the first one that failed. Null if the
  /// participant has exchanged nothing, and depends on itself alone.
  RefPtr<Token> all;
};

/// One run of a program by several participants. Each holds a reference until its own run ends (endParticipant).
///
/// No wait is endless: if a member cannot reach a group any more, the group fails, with the member's failure. If all
/// participants wait for each other, every group fails.
///
/// A run over several processes has a rendezvous in each, for the participants there. The members of a group in one
/// process meet first. Then the last one exchanges messages with the other processes.
class Rendezvous : public RefCounted<Rendezvous> {
public:
  /// `devices` are those of the participants; without them all are in the host's memory. With `shared`, some of the
  /// participants are in other processes.
  explicit Rendezvous(unsigned count, std::vector<Device *> devices = {}, RefPtr<SharedLaunch> shared = nullptr);

  unsigned size() const { return count; }
  /// Whether the other participants are all in other processes.
  bool isAloneHere() const { return shared && countHere == 1; }
  /// For the launch of a participant, which takes a reference with it.
  Participant *join(unsigned number);

  /// The collective of `params` (runtime/Abi.h), from the input to the output: waits for the other members of the
  /// participant's group. If it fails with the error of another participant, collectiveFailure returns that, too.
  Status exchange(unsigned number, const PcrtTensor &input, const PcrtTensor &output, const int64_t *params);
  /// Begins it: a collective with members in other processes continues in a separate thread, in the order of the
  /// participant's collectives, as `unfinished` work. Others are done on return.
  Status start(unsigned number, const PcrtTensor &input, const PcrtTensor &output, const int64_t *params,
               UnfinishedWork *&unfinished);
  /// Waits for the one that was started with this output.
  Status waitForStarted(unsigned number, const void *output);
  /// After the participant's last collective.
  DeviceEnds deviceEnds(unsigned number);

private:
  friend class RefCounted<Rendezvous>;
  friend class Exchange;
  friend RefPtr<Error> collectiveFailure(void *participant);
  friend void endParticipant(void *participant, Error *error);
  ~Rendezvous();

  /// The reason why a participant's collective failed: another one's failure, or a message.
  struct Failure {
    RefPtr<Error> cause;
    std::string message;
  };
  /// All under `lock`, except for the exchange itself once all members have arrived.
  struct State {
    Participant self;
    bool hasEnded = false, hasMet = false;
    RefPtr<Error> error;
    RefPtr<Error> cause;
    RefPtr<Token> onDevice;
    std::vector<Exchange *> groups;
    /// Of the participant's own thread, without the lock.
    std::unique_ptr<StartedCollectives> started;
  };

  Status exchangeNow(unsigned number, const PcrtTensor &input, const PcrtTensor &output, const int64_t *params);
  Exchange *groupOf(unsigned number, const int64_t *params);
  Status fail(unsigned number, const Failure &failure);
  /// Whether a member cannot arrive, with the reason.
  bool isMissing(const Exchange &group, Failure &why) const;
  void failWaiting(Exchange &group, const Failure &why);
  void failIfStuck();
  void end(unsigned number, Error *error);
  Status result(Exchange &group, unsigned number, size_t place, const Contribution &own);

  const unsigned count;
  const RefPtr<SharedLaunch> shared;
  /// The number of participants in this process.
  unsigned countHere;
  std::vector<Device *> devices;
  std::mutex lock;
  std::vector<State> states;
  std::vector<std::unique_ptr<Exchange>> exchanges;
  /// Numbers of participants that wait for others, and that have ended.
  unsigned waiting = 0, ended = 0;
};

/// After a failed run: the error of another participant that made a collective fail; null if the run failed by itself.
/// `participant` may be null.
RefPtr<Error> collectiveFailure(void *participant);
/// Ends the run of a participant, with this error or (null) without: every wait for it fails. Takes back the reference
/// of `join`. `participant` may be null.
void endParticipant(void *participant, Error *error);

/// A token that is done, without an error, when all of these are; null if they are already.
RefPtr<Token> whenAllDone(const std::vector<Token *> &tokens);
/// A token that is done when all of these are, with the failure of the first one that failed, or else of the launch,
/// which lives until then.
RefPtr<Token> joined(const std::vector<Token *> &tokens, RefPtr<SharedLaunch> launch = nullptr);

} // namespace pcrt

#endif // PYCOMPILER_RUNTIME_COLLECTIVE_H
