#include "cordon/outcome.h"

namespace cordon {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::exited:
      return "exited";
    case Verdict::signaled:
      return "signaled";
    case Verdict::timeout:
      return "timeout";
    case Verdict::cpu_time:
      return "cpu_time";
    case Verdict::memory:
      return "memory";
    case Verdict::processes:
      return "processes";
    case Verdict::file_size:
      return "file_size";
    case Verdict::output:
      return "output";
    case Verdict::denied:
      return "denied";
    case Verdict::cancelled:
      return "cancelled";
    case Verdict::failed_to_start:
      return "failed_to_start";
  }
  return "unknown";
}

std::string_view to_string(Denial::Kind kind) {
  switch (kind) {
    case Denial::Kind::path:
      return "path";
    case Denial::Kind::system_call:
      return "system_call";
    case Denial::Kind::connect:
      return "connect";
    case Denial::Kind::exec:
      return "exec";
  }
  return "unknown";
}

std::string_view to_string(Termination::Type type) {
  switch (type) {
    case Termination::Type::exit:
      return "exit";
    case Termination::Type::signal:
      return "signal";
    case Termination::Type::timeout:
      return "timeout";
  }
  return "unknown";
}

std::string_view to_string(Launch launch) {
  switch (launch) {
    case Launch::cold:
      return "cold";
    case Launch::warm:
      return "warm";
    case Launch::reused:
      return "reused";
  }
  return "unknown";
}

std::string describe(const Guarantee& guarantee) {
  const std::string note = guarantee.note.empty() ? "" : ": " + guarantee.note;
  switch (guarantee.level) {
    case Guarantee::Level::enforced:
      return "enforced by " + guarantee.by + note;
    case Guarantee::Level::partial:
      return "partly enforced by " + guarantee.by + note;
    case Guarantee::Level::none:
      return "not enforced" + note;
  }
  return "not enforced";
}

}  // namespace cordon
