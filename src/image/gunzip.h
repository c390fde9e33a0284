// What gzip has packed, as a stream. The only file that knows zlib is its source.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "cordon/error.h"

namespace cordon::image {

class Gunzip {
 public:
  using Sink = std::function<Result<void>(std::string_view)>;
  explicit Gunzip(Sink sink);
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  // Errors: invalid_argument (damaged), those of the sink. Nothing can be fed after one.
  [[nodiscard]] Result<void> feed(std::string_view bytes);
  // Whether the last member has come to its end.
  [[nodiscard]] bool complete() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cordon::image
