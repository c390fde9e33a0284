#include "pool_busy.h"

#include "concat.h"
#include "policy/values.h"

namespace cordon::app::pool {
namespace {

constexpr const char* kAdvice =
    ": try again later, start the pool with a larger --size, or use --pool auto";

std::string time_text(Duration time) {
  return policy::duration_text(std::chrono::ceil<std::chrono::milliseconds>(time));
}

}  // namespace

std::string why_busy(const Slots::Answer& answer, std::uint64_t places, Duration patience) {
  const std::string state =
      concat("it is busy (", std::to_string(answer.others.running), " of ", std::to_string(places),
             " places are taken, ", std::to_string(answer.others.waiting), " wait)");
  switch (answer.got) {
    case Slots::Got::full:
      return concat(state, ", and no more may wait", kAdvice);
    case Slots::Got::hopeless:
      return concat(state, ", and as long as programs ran of late there would be no place before ",
                    time_text(answer.expected), ", while this run waits for ", time_text(patience),
                    kAdvice);
    case Slots::Got::late:
      return concat(state, ", and there was no place within the ", time_text(patience),
                    " that this run waits", kAdvice);
    default:
      return concat(state, ", and has no descriptors left to let anybody wait", kAdvice);
  }
}

std::string why_no_conversation(std::uint64_t connections) {
  return concat("it has ", std::to_string(connections), " connections, as many as it may", kAdvice);
}

}  // namespace cordon::app::pool
