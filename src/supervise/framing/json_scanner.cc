#include "supervise/framing/json_scanner.h"

namespace cordon::supervise {
namespace {

constexpr int kMaxExponentDigits = 9;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Neither the end of a string, nor an escape, nor a control character, nor part of a longer
// character.
bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

}  // namespace

void JsonScanner::reset() {
  nesting_.clear();
  state_ = State::value;
  in_key_ = false;
  low_half_ = false;
}

bool JsonScanner::complete() const {
  if (!nesting_.empty()) return false;
  return state_ == State::zero || state_ == State::integer || state_ == State::fraction ||
         state_ == State::exponent_digits || state_ == State::scalar_end;
}

JsonScanner::Step JsonScanner::scan(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (state_ == State::string) {
      while (at < text.size() && is_plain(text[at])) ++at;
      if (at == text.size()) break;
    }
    switch (take(text[at])) {
      case Took::byte:
        break;
      case Took::last_byte:
        return {.consumed = at + 1, .status = Status::done};
      case Took::nothing:
        return {.consumed = at, .status = Status::done};
      case Took::refused:
        return {.consumed = at, .status = Status::error};
    }
  }
  return {.consumed = text.size(), .status = Status::more};
}

JsonScanner::Took JsonScanner::take(char c) {
  switch (state_) {
    case State::value:
    case State::first_element:
    case State::first_key:
    case State::key:
    case State::colon:
    case State::after:
      return take_structure(c);
    case State::string:
    case State::utf8:
    case State::escape:
    case State::hex:
    case State::low_surrogate:
      return take_string(c);
    case State::literal:
      if (c != *literal_) return Took::refused;
      if (*++literal_ != '\0') return Took::byte;
      return nesting_.empty() ? go(State::scalar_end) : go(State::after);
    case State::minus:
    case State::zero:
    case State::integer:
    case State::point:
    case State::fraction:
    case State::exponent:
    case State::exponent_sign:
    case State::exponent_digits:
      return take_number(c);
    case State::scalar_end:
      return end_scalar(c);
  }
  return Took::refused;
}

JsonScanner::Took JsonScanner::take_structure(char c) {
  if (is_json_space(c)) return Took::byte;
  switch (state_) {
    case State::first_element:
      return c == ']' ? close() : begin_value(c);
    case State::first_key:
      if (c == '}') return close();
      [[fallthrough]];
    case State::key:
      if (c != '"') return Took::refused;
      in_key_ = true;
      return go(State::string);
    case State::colon:
      return c == ':' ? go(State::value) : Took::refused;
    case State::after:
      if (c == ',') return go(nesting_.back() ? State::key : State::value);
      return c == (nesting_.back() ? '}' : ']') ? close() : Took::refused;
    default:
      return begin_value(c);
  }
}

JsonScanner::Took JsonScanner::begin_value(char c) {
  switch (c) {
    case '{':
      return open(/*object=*/true);
    case '[':
      return open(/*object=*/false);
    case '"':
      in_key_ = false;
      return go(State::string);
    case 't':
      return begin_literal("rue");
    case 'f':
      return begin_literal("alse");
    case 'n':
      return begin_literal("ull");
    case '-':
      return go(State::minus);
    case '0':
      return go(State::zero);
    default:
      return is_digit(c) ? go(State::integer) : Took::refused;
  }
}

JsonScanner::Took JsonScanner::begin_literal(const char* rest) {
  literal_ = rest;
  return go(State::literal);
}

JsonScanner::Took JsonScanner::open(bool object) {
  if (nesting_.size() == max_depth_) return Took::refused;
  nesting_.push_back(object);
  return go(object ? State::first_key : State::first_element);
}

JsonScanner::Took JsonScanner::close() {
  nesting_.pop_back();
  return end_value();
}

JsonScanner::Took JsonScanner::end_value() {
  return nesting_.empty() ? Took::last_byte : go(State::after);
}

// `c` follows a number or literal.
JsonScanner::Took JsonScanner::end_scalar(char c) {
  if (!nesting_.empty()) {
    state_ = State::after;
    return take_structure(c);
  }
  const bool ends = is_json_space(c) || c == '{' || c == '[' || c == '"';
  return ends ? Took::nothing : Took::refused;
}

JsonScanner::Took JsonScanner::take_number(char c) {
  const bool digit = is_digit(c);
  const bool exponent = c == 'e' || c == 'E';
  switch (state_) {
    case State::minus:
      if (!digit) return Took::refused;
      return go(c == '0' ? State::zero : State::integer);
    case State::integer:
      if (digit) return Took::byte;
      [[fallthrough]];
    case State::zero:
      if (c == '.') return go(State::point);
      if (exponent) break;
      return end_scalar(c);
    case State::point:
      return digit ? go(State::fraction) : Took::refused;
    case State::fraction:
      if (digit) return Took::byte;
      if (exponent) break;
      return end_scalar(c);
    case State::exponent:
      if (c == '+' || c == '-') return go(State::exponent_sign);
      [[fallthrough]];
    case State::exponent_sign:
      return digit ? take_exponent_digit(c) : Took::refused;
    default:
      return digit ? take_exponent_digit(c) : end_scalar(c);
  }
  exponent_size_ = 0;
  return go(State::exponent);
}

JsonScanner::Took JsonScanner::take_exponent_digit(char c) {
  if (c != '0' || exponent_size_ > 0) ++exponent_size_;
  return exponent_size_ > kMaxExponentDigits ? Took::refused : go(State::exponent_digits);
}

}  // namespace cordon::supervise
