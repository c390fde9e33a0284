// A mount namespace in which the v2 hierarchy of a hybrid host is not mounted: crun runs only where
// all controllers are in one kind. Nothing of the host is changed.
#pragma once

namespace cordon::bench {

class LegacySpace {
 public:
  LegacySpace();
  ~LegacySpace();
  LegacySpace(const LegacySpace&) = delete;
  LegacySpace& operator=(const LegacySpace&) = delete;

  // False: there is nothing to unmount, or it is not permitted.
  [[nodiscard]] bool usable() const { return space_ >= 0; }
  // What this single-threaded process starts from now on, it starts there, or at home again. The
  // working directory is kept.
  void enter() const { go(space_); }
  void leave() const { go(home_); }

 private:
  void go(int space) const;
  int home_ = -1;
  int space_ = -1;
};

}  // namespace cordon::bench
