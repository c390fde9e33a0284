#include "audit_query.h"

#include <array>
#include <utility>

#include "audit/record.h"
#include "audit/time_text.h"
#include "audit_arguments.h"
#include "base/suggest.h"
#include "concat.h"
#include "cordon/outcome.h"
#include "cordon/request.h"
#include "option_values.h"

namespace cordon::app {
namespace {

Result<std::string> parse_moment(const std::string& value, WallTime now) {
  if (const auto time = audit::parse_time(value)) return audit::time_text(*time);
  if (const auto ago = parse_duration(value)) {
    if (*ago <= now.time_since_epoch()) return audit::time_text(now - *ago);
  }
  return bad_value(value,
                   "is neither a time (2026-01-31, 2026-01-31T12:00:00Z) nor a duration "
                   "before now (2h)");
}

Result<std::string> parse_verdict(const std::string& value) {
  std::vector<std::string_view> known;
  for (auto verdict = Verdict::exited;;
       verdict = static_cast<Verdict>(static_cast<int>(verdict) + 1)) {
    known.push_back(to_string(verdict));
    if (known.back() == value) return value;
    if (verdict == Verdict::failed_to_start) break;
  }
  const std::string_view near = base::nearest(value, known);
  return bad_value(value, near.empty() ? std::string("is no verdict")
                                       : concat("is no verdict (did you mean ", near, "?)"));
}

Result<std::string> parse_operation(const std::string& value) {
  if (audit::operation_named(value)) return value;
  return bad_value(value, "is no operation; see --help");
}

Result<std::string> parse_run_id(const std::string& value) {
  if (!value.empty() && value.find_first_not_of("0123456789abcdef") == std::string::npos) {
    return value;
  }
  return bad_value(value, "is no id of a run: those have digits and a to f");
}

constexpr auto kOptions = std::to_array<OptionSpec>({
    {"--run", "ID", ""},
    {"--verdict", "NAME", ""},
    {"--program", "GLOB", ""},
    {"--since", "TIME", ""},
    {"--until", "TIME", ""},
    {"--operation", "NAME", ""},
    {"--limit", "N", ""},
    {"--json", "", ""},
    {"--follow", "", ""},
    {"--help", "", ""},
});

Result<void> apply(AuditQuery& query, std::string_view name, const std::string& value,
                   WallTime now) {
  if (name == "--run") return store(query.filter.run, parse_run_id(value));
  if (name == "--verdict") return store(query.filter.verdict, parse_verdict(value));
  if (name == "--since") return store(query.filter.since, parse_moment(value, now));
  if (name == "--until") return store(query.filter.until, parse_moment(value, now));
  if (name == "--operation") return store(query.filter.operation, parse_operation(value));
  if (name == "--limit") {
    if (auto stored = store(query.limit, parse_count(value)); !stored) return stored;
    if (query.limit == 0) return bad_value(value, "would show nothing");
    return {};
  }
  if (name == "--program") {
    if (value.empty()) return bad_value(value, "matches no program");
    query.filter.program = value;
  }
  query.json = query.json || name == "--json";
  query.follow = query.follow || name == "--follow";
  query.help = query.help || name == "--help";
  return {};
}

}  // namespace

Result<AuditQuery> parse_audit_query(std::vector<std::string> arguments, WallTime now) {
  auto given = parse_audit_arguments(kOptions, std::move(arguments));
  if (!given) return std::unexpected(std::move(given).error());
  AuditQuery query;
  query.directory = std::move(given->directory);
  for (const auto& [option, value] : given->options) {
    const std::string_view name = kOptions[option].name;
    if (auto applied = apply(query, name, value, now); !applied) {
      Error error = std::move(applied).error();
      error.message = concat(name, ": ", error.message);
      return std::unexpected(std::move(error));
    }
  }
  return query;
}

}  // namespace cordon::app
