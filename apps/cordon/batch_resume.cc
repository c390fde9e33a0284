#include "batch_resume.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "batch_request.h"
#include "concat.h"

namespace cordon::app {
namespace {

namespace json = boost::json;

// Two streams of kMostCapture, each byte of which may have become six, and an outcome.
constexpr std::size_t kLongestResult = std::size_t{1024} * 1024 * 1024;

std::unexpected<Error> wrong(const BatchInput& results, std::uint64_t line, std::string_view what) {
  return base::fail(ErrorCode::invalid_argument, "resume",
                    concat(base::printable(results.name()), ":", std::to_string(line), ": ", what,
                           ": name another file with --results, or remove this one and begin "
                           "again without --resume"));
}

const json::value* find(const json::value& value, std::string_view pointer) {
  boost::system::error_code error;
  return value.find_pointer(pointer, error);
}

bool says(const json::value& result, std::string_view pointer, std::string_view text) {
  const json::value* const value = find(result, pointer);
  return value != nullptr && value->is_string() && value->get_string() == text;
}

// False: it is no result.
bool count(const json::value& result, Tally& tally) {
  if (find(result, "/error/message") != nullptr) {
    tally.add_error();
    return true;
  }
  const json::value* const verdict = find(result, "/outcome/verdict");
  if (verdict == nullptr || !verdict->is_string()) return false;
  const json::value* const code = find(result, "/outcome/exit_code");
  std::optional<int> exit_code;
  if (code != nullptr && code->is_int64()) exit_code = static_cast<int>(code->get_int64());
  tally.add(verdict->get_string(), exit_code);
  return true;
}

bool is_line(const json::value& result, std::uint64_t number) {
  const json::value* const line = find(result, "/line");
  return line != nullptr && line->is_int64() && std::cmp_equal(line->get_int64(), number);
}

}  // namespace

Result<Resumed> scan_results(BatchInput& results, LineReader& requests, std::string_view options,
                             Tally& tally) {
  Resumed resumed;
  LineReader reader(results, kLongestResult);
  while (true) {
    auto line = reader.next();
    if (!line) return std::unexpected(std::move(line).error());
    if (!*line) return resumed;
    if (!(*line)->whole) {
      resumed.torn = true;
      return resumed;
    }
    boost::system::error_code error;
    const json::value result = json::parse((*line)->text, error);
    if (error) return wrong(results, (*line)->number, "this is no result");

    auto request = requests.next();
    if (!request) return std::unexpected(std::move(request).error());
    if (!*request) {
      return wrong(results, (*line)->number, "there are more results than requests");
    }
    if (!is_line(result, (*request)->number) ||
        !says(result, "/request", request_digest(**request, options))) {
      return wrong(results, (*line)->number,
                   concat("this is not the result of line ", std::to_string((*request)->number),
                          " of the input, or was made with other options"));
    }
    if (!count(result, tally)) return wrong(results, (*line)->number, "this is no result");
    ++resumed.done;
    resumed.bytes = reader.offset();
  }
}

}  // namespace cordon::app
