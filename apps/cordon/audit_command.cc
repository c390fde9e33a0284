#include "audit_command.h"

#include <array>
#include <string_view>
#include <utility>

#include "audit_verbs.h"
#include "base/suggest.h"
#include "concat.h"
#include "message.h"

namespace cordon::app {
namespace {

constexpr std::string_view kText = R"(Usage: cordon audit show [DIR] [OPTIONS]
       cordon audit verify [DIR] [--key FILE]

Reads the audit log in DIR, which 'cordon run --audit DIR' writes. Without DIR:
$XDG_STATE_HOME/cordon/audit, or if that is not set /var/log/cordon/audit for
root and ~/.local/state/cordon/audit for others.

show prints records, oldest first:
  --run ID            those of one run; the beginning of its id is enough
  --verdict NAME      those of runs that ended so: exited, timeout, memory …
  --program GLOB      those of programs whose names match
  --since TIME        from then on: 2026-01-31, 2026-01-31T12:00:00Z, or 2h ago
  --until TIME        before then
  --operation NAME    plan, start, signal, limit, denial, exit, cleanup,
                      refused, call, sandbox, repaired or rotated
  --limit N           only the last N
  --json              the records as they are, one JSON object a line
  --follow            then wait for more, until Ctrl-C

verify checks that nothing was changed, removed, added or put in another order:
  --key FILE          the key that the records are sealed with

  --help              print this

Exit status:
    0    shown; or verified, and nothing is wrong
    1    no such run; or something is wrong with the log
  125    wrong usage, or the log could not be read

Examples:
  cordon run --audit ~/audit -- true
  cordon audit show ~/audit --verdict timeout --since 24h
  cordon audit verify ~/audit
)";

constexpr std::array<std::string_view, 2> kVerbs = {"show", "verify"};

int unknown(std::string_view verb) {
  const std::string_view near = base::nearest(verb, kVerbs);
  const std::string what = concat("audit has no '", verb, "'");
  if (near.empty()) return usage_error(what, kAuditHelp);
  return usage_error(concat(what, " (did you mean '", near, "'?)"), kAuditHelp);
}

}  // namespace

std::string audit_help() { return std::string(kText); }

int audit_command(std::vector<std::string> arguments) {
  if (arguments.empty()) return usage_error("audit needs a verb: show or verify", kAuditHelp);
  const std::string verb = std::move(arguments.front());
  arguments.erase(arguments.begin());
  if (verb == "show") return audit_show(std::move(arguments));
  if (verb == "verify") return audit_verify(std::move(arguments));
  if (verb == "--help") return print(audit_help());
  return unknown(verb);
}

}  // namespace cordon::app
