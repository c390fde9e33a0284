// What a batch says on stderr while it runs.
#pragma once

#include <cstdint>
#include <string_view>

#include "batch_options.h"
#include "batch_tally.h"

namespace cordon::app {

// A bar that is drawn over itself on a terminal; with --progress elsewhere, a line now and then.
// Else nothing. Where results are shown on the same terminal a bar would be in their way.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(const BatchOptions& options);

  // How often draw() is to be called; 0: never.
  [[nodiscard]] Duration period() const;
  void draw(const Progress& progress, const Tally& tally);
  // Takes the bar away, for what is said next.
  void clear();

 private:
  enum class Kind : std::uint8_t { none, bar, lines };
  Kind kind_ = Kind::none;
  bool drawn_ = false;
};

}  // namespace cordon::app
