#include "audit_rows.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "concat.h"
#include "marks.h"

namespace cordon::app {
namespace {

constexpr std::size_t kRunDigits = 12;   // enough to name a run with
constexpr std::size_t kTimeDigits = 23;  // down to milliseconds

std::string columns(std::string_view sequence, std::string_view time, std::string_view run,
                    std::string_view operation, std::string_view verdict, std::string_view rest) {
  return fmt::format("{:>8}  {:<24}  {:<12}  {:<9}  {:<15}  {}", sequence, time, run, operation,
                     verdict, rest);
}

}  // namespace

std::string audit_header(bool colours) {
  return bold(columns("RECORD", "TIME", "RUN", "OPERATION", "VERDICT", "PROGRAM: DETAIL"),
              colours) +
         '\n';
}

std::string audit_row(const audit::Seen& record) {
  std::string time = base::printable(record.time.substr(0, kTimeDigits));
  if (record.time.size() > kTimeDigits) time += 'Z';
  std::string rest = base::printable(record.program);
  if (!record.detail.empty()) {
    rest += concat(rest.empty() ? "" : ": ", base::printable(record.detail));
  }
  return columns(std::to_string(record.sequence), time,
                 base::printable(record.run.substr(0, kRunDigits)),
                 base::printable(record.operation), base::printable(record.verdict), rest) +
         '\n';
}

}  // namespace cordon::app
