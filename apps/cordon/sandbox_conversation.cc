#include "sandbox_conversation.h"

#include <optional>
#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "cordon/version.h"
#include "sandbox_attached.h"
#include "sandbox_image.h"

namespace cordon::app::sandbox {
namespace {

constexpr const char* kStage = "sandbox";
// A client has its first words ready: only one that is not one of ours lets us wait.
constexpr Duration kHello = std::chrono::seconds(2);
constexpr Duration kPatience = std::chrono::seconds(10);

Error wrong(std::string message) {
  return {ErrorCode::invalid_argument, kStage, 0, std::move(message)};
}

class Conversation {
 public:
  Conversation(Channel channel, Shared& shared) : channel_(std::move(channel)), shared_(shared) {}

  void talk() {
    auto peer = service::surroundings_of_peer(channel_.fd(), "sandbox");
    if (!peer) return refuse(peer.error());
    if (auto ok = service::check_permitted(*peer, shared_.own); !ok) return refuse(ok.error());
    auto hello = channel_.receive(kHello);
    if (!hello) return refuse_bad(hello.error());
    const auto said =
        hello->kind == Kind::hello ? from_bytes<Hello>(hello->bytes) : std::optional<Hello>();
    if (!said) return refuse(wrong("a connection does not begin with this"));
    if (said->version != version()) {
      return refuse(wrong(concat("the sandbox was made by cordon ", version(), ", and this is ",
                                 said->version, ": use that one, or create the sandbox again")));
    }
    auto ask = channel_.receive(kHello);
    if (!ask) return refuse_bad(ask.error());
    answer(*std::move(ask));
  }

 private:
  void answer(Message ask) {
    switch (ask.kind) {
      case Kind::exec:
        return execute(std::move(ask));
      case Kind::connect:
      case Kind::logs:
        return attach(ask);
      case Kind::list:
        (void)channel_.send(Kind::listed, Listed{.rows = shared_.programs.rows()}, kPatience);
        return;
      case Kind::stop:
        return stop(ask);
      case Kind::checkpoint:
        return checkpoint(ask);
      case Kind::remove:
        return remove();
      default:
        return refuse(wrong("nothing can be asked like this"));
    }
  }

  void refuse(Error error) { (void)channel_.send(Kind::refused, std::move(error), kPatience); }
  void refuse_bad(const Error& error) {
    if (error.code == ErrorCode::closed) return;  // nobody hears it
    refuse(error);
  }

  void execute(Message ask) {
    auto asked = from_bytes<Exec>(ask.bytes);
    if (!asked || ask.descriptors.size() > 1 || !asked->request.pins.empty()) {
      return refuse(wrong("this is no request to execute something"));
    }
    const int in = ask.descriptors.empty() ? -1 : ask.descriptors.front().get();
    const std::string record = asked->record;
    const bool waits = asked->waits;
    auto kept = shared_.programs.execute(*std::move(asked), in);
    ask.descriptors.clear();  // the program has it
    if (!kept) return refuse(kept.error());
    if (attend(channel_, **kept, Attention::attached, shared_.end_now) && waits) return;
    (*kept)->leave([ended = shared_.ended, number = (*kept)->about().number,
                    record](const Outcome& outcome) { ended(number, record, outcome); });
  }

  void attach(const Message& ask) {
    const auto asked = from_bytes<Connect>(ask.bytes);
    if (!asked) return refuse(wrong("this is no request to attach"));
    auto kept = shared_.programs.find(asked->process);
    if (!kept) return refuse(kept.error());
    if (ask.kind == Kind::connect) {
      (void)attend(channel_, **kept, Attention::attached, shared_.end_now);
      return;
    }
    (void)attend(channel_, **kept, asked->follow ? Attention::follows : Attention::looks,
                 shared_.end_now);
  }

  void stop(const Message& ask) {
    const auto asked = from_bytes<Stop>(ask.bytes);
    if (!asked) return refuse(wrong("this is no request to stop"));
    if (auto recorded = shared_.about_to("stop"); !recorded) return refuse(recorded.error());
    if (auto stopped = shared_.sandbox.stop(asked->grace); !stopped) {
      return refuse(stopped.error());
    }
    finish();
  }

  void checkpoint(const Message& ask) {
    const auto asked = from_bytes<Checkpoint>(ask.bytes);
    if (!asked) return refuse(wrong("this is no request for a checkpoint"));
    if (auto recorded = shared_.about_to("checkpoint"); !recorded) return refuse(recorded.error());
    const auto written = shared_.sandbox.checkpoint(
        asked->image,
        {.leave_running = asked->leave_running, .progress = [this](std::uint64_t bytes) {
           (void)channel_.send(Kind::progress, Progress{.bytes = bytes}, Duration{0});
         }});
    if (!written) return refuse(written.error());
    const auto kept = write_image_request(asked->image, shared_.image);
    shared_.changed(asked->image);
    if (!kept) return refuse_and_finish(kept.error(), !asked->leave_running);
    if (asked->leave_running) {
      (void)channel_.send(Kind::done, Nothing{}, kPatience);
      return;
    }
    finish();
  }

  void remove() {
    (void)shared_.about_to("remove");  // what cannot be recorded must be possible to get rid of
    if (auto removed = shared_.sandbox.remove(); !removed) return refuse(removed.error());
    finish();
  }

  void refuse_and_finish(Error error, bool ends) {
    refuse(std::move(error));
    if (ends) shared_.finish(std::move(channel_));
  }

  void finish() {
    shared_.changed("");
    (void)channel_.send(Kind::done, Nothing{}, kPatience);
    shared_.finish(std::move(channel_));
  }

  Channel channel_;
  Shared& shared_;
};

}  // namespace

void converse(Channel channel, Shared& shared) { Conversation(std::move(channel), shared).talk(); }

}  // namespace cordon::app::sandbox
