#include "secrets/source.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"

namespace cordon::secrets {
namespace {

using Kind = Source::Kind;

std::unexpected<Error> bad(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "secret", std::move(message));
}

Result<Source> parse_descriptor(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc{} || end != text.end() || number < 0) {
    return bad("fd: is not followed by the number of a descriptor: write one like fd:3");
  }
  return Source{.kind = Kind::descriptor, .descriptor = number};
}

Result<std::vector<std::string>> parse_words(std::string_view text) {
  std::vector<std::string> words;
  constexpr std::string_view kBlanks = " \t";
  while (true) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

Result<std::vector<std::string>> parse_array(std::string_view text) {
  boost::system::error_code error;
  const auto value = boost::json::parse(boost::json::string_view(text.data(), text.size()), error);
  const auto* const array = error ? nullptr : value.if_array();
  if (array == nullptr) return bad("command: begins with [ and is not a JSON array of strings");
  std::vector<std::string> words;
  for (const auto& element : *array) {
    const auto* const word = element.if_string();
    if (word == nullptr) return bad("command: has an element that is not a string");
    words.emplace_back(word->data(), word->size());
  }
  return words;
}

Result<Source> parse_command(std::string_view text) {
  auto argv = text.starts_with('[') ? parse_array(text) : parse_words(text);
  if (!argv) return std::unexpected(std::move(argv.error()));
  if (argv->empty() || argv->front().empty()) return bad("command: names no program");
  return Source{.kind = Kind::command, .argv = std::move(*argv)};
}

}  // namespace

Result<Source> parse_source(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (colon != std::string_view::npos) {
    if (kind == "file") {
      if (rest.empty()) return bad("file: names no file");
      return Source{.kind = Kind::file, .place = std::string(rest)};
    }
    if (kind == "env") {
      if (rest.empty() || rest.find('=') != std::string_view::npos) {
        return bad("env: names no variable");
      }
      return Source{.kind = Kind::variable, .place = std::string(rest)};
    }
    if (kind == "fd") return parse_descriptor(rest);
    if (kind == "command") return parse_command(rest);
  }
  return bad(
      "names no source: write file:PATH, env:NAME, fd:N or command:PROGRAM, never the value "
      "itself");
}

std::string describe(const Source& source) {
  switch (source.kind) {
    case Kind::file:
      return "file:" + base::printable(source.place);
    case Kind::variable:
      return "env:" + base::printable(source.place);
    case Kind::descriptor:
      return "fd:" + std::to_string(source.descriptor);
    case Kind::command:
      return "command:" + base::printable(source.argv.empty() ? "" : source.argv.front());
  }
  return "unknown";
}

Result<Secret::Delivery> parse_delivery(std::string_view text) {
  for (const auto delivery :
       {Secret::Delivery::env, Secret::Delivery::fd, Secret::Delivery::file}) {
    if (text == to_string(delivery)) return delivery;
  }
  return bad("is delivered in no known way: there are as=env, as=fd and as=file");
}

}  // namespace cordon::secrets
