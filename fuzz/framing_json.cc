// JSON mode: valid frames parse, invalid ones do not, and no byte is lost, whatever the blocks.
// Boost.JSON, which the framer does not use, is the judge.
#include <algorithm>
#include <boost/json/parse.hpp>

#include "framing_case.h"
#include "supervise/framing/json_scanner.h"

using namespace cordon;

namespace {

bool parses(std::string_view text, std::size_t max_depth) {
  boost::json::parse_options options;
  options.max_depth = max_depth;
  boost::system::error_code error;
  boost::json::parse(text, error, {}, options);
  return !error;
}

// Boost.JSON takes some exponents of ten digits; we take none.
bool has_huge_exponent(std::string_view text) {
  for (std::size_t at = text.find_first_of("eE"); at != std::string_view::npos;
       at = text.find_first_of("eE", at + 1)) {
    std::size_t digits = at + 1;
    if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
    const std::size_t end = std::min(text.find_first_not_of("0123456789", digits), text.size());
    if (end - digits >= 10) return true;
  }
  return false;
}

std::string without_space(std::string_view text) {
  std::string rest(text);
  std::erase_if(rest, supervise::is_json_space);
  return rest;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = fuzz::read_case(OutputMode::json, data, size);
  const std::size_t max_frame = std::max(input.framing.max_frame, 1U);
  const std::size_t max_depth = input.framing.max_depth;
  const auto frames = fuzz::frames_of(input);
  std::string joined;
  bool within_garbage = false;
  for (const auto& frame : frames) {
    fuzz::check(!frame.data.empty(), "no frame is empty");
    fuzz::check(frame.data.size() <= max_frame, "no frame is longer than max_frame");
    fuzz::check(!frame.partial || (frame.invalid && frame.data.size() == max_frame),
                "only garbage comes in parts, of max_frame bytes");
    if (!frame.invalid) {
      fuzz::check(!within_garbage, "garbage ends in garbage");
      fuzz::check(parses(frame.data, max_depth), "a valid frame parses");
      fuzz::check(!supervise::is_json_space(frame.data.front()) &&
                      !supervise::is_json_space(frame.data.back()),
                  "a value has no space around it");
    } else if (!frame.partial && !within_garbage) {
      fuzz::check(!parses(frame.data, max_depth) || has_huge_exponent(frame.data),
                  "an invalid frame does not parse");
    }
    joined += frame.data;
    within_garbage = frame.partial;
  }
  fuzz::check(!within_garbage, "the last part is final");
  fuzz::check(without_space(joined) == without_space(input.text), "no byte is lost");

  if (input.text.size() <= max_frame && parses(input.text, max_depth) &&
      !has_huge_exponent(input.text)) {
    fuzz::check(frames.size() == 1 && !frames[0].invalid, "what parses is one valid frame");
  }
  fuzz::check_memory(input, max_frame);
  return 0;
}
