#include "audit/filter.h"

#include <fnmatch.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace cordon::audit {
namespace {

std::string text(const boost::json::object& object, std::string_view name) {
  const boost::json::value* const value = object.if_contains(name);
  const boost::json::string* const found = value == nullptr ? nullptr : value->if_string();
  return found == nullptr ? std::string() : std::string(*found);
}

std::int64_t number(const boost::json::object& object, std::string_view name) {
  const boost::json::value* const value = object.if_contains(name);
  const std::int64_t* const found = value == nullptr ? nullptr : value->if_int64();
  return found == nullptr ? 0 : *found;
}

}  // namespace

std::optional<Seen> read_record(std::string_view line) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(line, error);
  const boost::json::object* const object = error ? nullptr : value.if_object();
  if (object == nullptr) return std::nullopt;
  const std::int64_t sequence = number(*object, "sequence");
  if (sequence <= 0) return std::nullopt;
  Seen record{.sequence = static_cast<std::uint64_t>(sequence),
              .time = text(*object, "time"),
              .operation = text(*object, "operation"),
              .run = text(*object, "run"),
              .uid = number(*object, "uid"),
              .pid = number(*object, "pid"),
              .program = text(*object, "program"),
              .detail = text(*object, "detail")};
  const boost::json::value* const outcome = object->if_contains("outcome");
  if (outcome != nullptr && outcome->is_object()) {
    record.verdict = text(outcome->get_object(), "verdict");
  }
  return record;
}

bool glob_matches(const std::string& glob, const std::string& text) {
  return ::fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

bool Filter::any() const {
  return !(run.empty() && verdict.empty() && program.empty() && since.empty() && until.empty() &&
           operation.empty());
}

bool Filter::matches(const Seen& record) const {
  return record.run.starts_with(run) && (verdict.empty() || record.verdict == verdict) &&
         (program.empty() || glob_matches(program, record.program)) &&
         (since.empty() || record.time >= since) && (until.empty() || record.time < until) &&
         (operation.empty() || record.operation == operation);
}

}  // namespace cordon::audit
