#include "batch_results.h"

#include <utility>

#include "base/json_text.h"
#include "concat.h"
#include "run_json.h"

namespace cordon::app {
namespace {

std::string beginning(const ResultHead& head) {
  return concat(R"({"line":)", std::to_string(head.line), R"(,"id":)",
                head.id ? base::json_text(*head.id) : "null", R"(,"request":")", head.digest,
                "\",");
}

}  // namespace

std::string result_line(const ResultHead& head, const Outcome& outcome) {
  return concat(beginning(head), R"("outcome":)", to_json(outcome), ",", streams_json(outcome),
                "}\n");
}

std::string result_line(const ResultHead& head, const Error& error) {
  return concat(beginning(head), R"("error":{"code":)", base::json_text(to_string(error.code)),
                R"(,"stage":)", base::json_text_or_null(error.stage), R"(,"os_error":)",
                error.os_error == 0 ? "null" : std::to_string(error.os_error), R"(,"message":)",
                base::json_text(error.message), "}}\n");
}

void ResultOrder::put(std::uint64_t index, std::string text) {
  bytes_ += text.size();
  held_.emplace(index, std::move(text));
}

std::string ResultOrder::take() {
  std::string all;
  while (!held_.empty() && held_.begin()->first == next_) {
    all += held_.begin()->second;
    held_.erase(held_.begin());
    ++next_;
  }
  bytes_ -= all.size();
  return all;
}

}  // namespace cordon::app
