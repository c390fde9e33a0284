#include "message.h"
#include "sandbox_verbs.h"

namespace cordon::app::sandbox {

int cp_verb(std::vector<std::string> /*arguments*/) {
  complain("cp: not yet");
  return kOwnFailure;
}

}  // namespace cordon::app::sandbox
