#include "denial_text.h"

#include <string_view>

#include "base/printable.h"
#include "concat.h"

namespace cordon::app {
namespace {

std::string verb(const Denial& denial) {
  switch (denial.kind) {
    case Denial::Kind::system_call:
      return "system call ";
    case Denial::Kind::connect:
      return denial.access == "send" ? "send to " : "connect to ";
    case Denial::Kind::exec:
    case Denial::Kind::path:
      break;
  }
  return denial.access + " ";
}

std::string line(const Denial& denial, const AllowText& allow) {
  std::string text = concat("  ", verb(denial), base::printable(denial.what));
  if (denial.count > 1) text += concat(" (", std::to_string(denial.count), " times)");
  std::string option = allow ? allow(denial) : std::string();
  if (option.empty()) option = denial.allow;
  if (!option.empty()) text += concat(": allow by ", base::printable(option));
  if (option.empty() && denial.reason.empty()) text += ": nothing allows it";
  if (!denial.reason.empty()) {
    text += concat(option.empty() ? ": " : "; ", base::printable(denial.reason));
  }
  return text + "\n";
}

}  // namespace

std::string denial_text(std::span<const Denial> denials, std::uint64_t omitted,
                        const AllowText& allow) {
  if (denials.empty() && omitted == 0) return "cordon: nothing was seen to be refused\n";
  std::string text = "cordon: refused:\n";
  for (const Denial& denial : denials) text += line(denial, allow);
  if (omitted > 0) text += concat("  and other things, ", std::to_string(omitted), " times\n");
  return text;
}

}  // namespace cordon::app
