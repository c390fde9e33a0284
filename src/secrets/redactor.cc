#include "secrets/redactor.h"

#include <algorithm>

namespace cordon::secrets {
namespace {

std::uint8_t byte(char c) { return static_cast<std::uint8_t>(c); }

}  // namespace

Redactor::Redactor(std::shared_ptr<const SecretPatterns> patterns)
    : patterns_(std::move(patterns)), matched_(patterns_->all().size(), 0) {}

std::string Redactor::add(std::string_view bytes) {
  const std::size_t from = held_.size();
  held_ += bytes;
  search(from);
  std::size_t longest = 0;
  for (const std::uint32_t index : active_) {
    longest = std::max<std::size_t>(longest, matched_[index]);
  }
  return let_go(held_.size() - longest);
}

std::string Redactor::finish() {
  std::string rest = let_go(held_.size());
  std::ranges::fill(matched_, 0);
  active_.clear();
  return rest;
}

void Redactor::search(std::size_t from) {
  for (std::size_t at = from; at < held_.size(); ++at) {
    if (active_.empty()) {
      at = skip(at);
      if (at == held_.size()) return;
    }
    step(at);
  }
}

// The next place where a pattern may begin. Most of the time is spent here.
std::size_t Redactor::skip(std::size_t from) const {
  const SecretPatterns& patterns = *patterns_;
  const char* const text = held_.data();
  const std::size_t last = held_.size() - 1;
  std::size_t at = from;
  while (at < last && !patterns.may_begin(byte(text[at]), byte(text[at + 1]))) ++at;
  if (at == last && patterns.beginning_with(byte(text[at])).empty()) return held_.size();
  return at;
}

void Redactor::step(std::size_t at) {
  const char c = held_[at];
  const std::vector<Pattern>& patterns = patterns_->all();
  // Only those that were not active: the others have looked at this byte as a beginning, too.
  std::size_t kept = 0;
  const std::size_t before = active_.size();
  for (const std::uint32_t index : patterns_->beginning_with(byte(c))) {
    if (matched_[index] != 0) continue;
    matched_[index] = 1;
    active_.push_back(index);
  }
  const std::size_t begun = active_.size();
  for (std::size_t i = 0; i < begun; ++i) {
    const std::uint32_t index = active_[i];
    std::uint32_t& matched = matched_[index];
    if (i < before) {
      const Pattern& pattern = patterns[index];
      while (matched > 0 && pattern.bytes[matched] != c) matched = pattern.fallback[matched];
      if (pattern.bytes[matched] == c) ++matched;
      if (matched == pattern.bytes.size()) {
        found(at + 1 - matched, at + 1, pattern.secret);
        matched = pattern.fallback[matched];
      }
    }
    if (matched > 0) active_[kept++] = index;
  }
  active_.resize(kept);
}

void Redactor::found(std::size_t begin, std::size_t end, std::uint32_t secret) {
  Cover cover{.begin = begin, .end = end, .first_end = end, .secret = secret, .marked = false};
  while (!covers_.empty() && covers_.back().end > cover.begin) {
    const Cover& other = covers_.back();
    // Of two that begin and end together, the secret that was named first.
    const bool named_after_other =
        other.marked || other.begin < cover.begin ||
        (other.begin == cover.begin &&
         (other.first_end > cover.first_end ||
          (other.first_end == cover.first_end && other.secret < cover.secret)));
    if (named_after_other) {
      cover.first_end = other.first_end;
      cover.secret = other.secret;
      cover.marked = other.marked;
    }
    cover.begin = std::min(cover.begin, other.begin);
    cover.end = std::max(cover.end, other.end);
    covers_.pop_back();
  }
  covers_.push_back(cover);
}

std::string Redactor::let_go(std::size_t until) {
  std::string out;
  std::size_t at = 0;
  std::size_t done = 0;
  for (Cover& cover : covers_) {
    if (cover.begin >= until) break;
    out.append(held_, at, cover.begin - at);
    if (!cover.marked) out += patterns_->markers()[cover.secret];
    cover.marked = true;
    at = std::min(cover.end, until);
    if (cover.end > until) break;
    ++done;
  }
  out.append(held_, at, until - at);
  covers_.erase(covers_.begin(), covers_.begin() + static_cast<std::ptrdiff_t>(done));
  held_.erase(0, until);
  for (Cover& cover : covers_) {
    cover.begin -= std::min(cover.begin, until);
    cover.end -= until;
    cover.first_end -= std::min(cover.first_end, until);
  }
  return out;
}

}  // namespace cordon::secrets
