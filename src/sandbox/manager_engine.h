// An Engine over a Manager of the caller's: sandboxes of scripted programs, for the tests of code
// that uses sandboxes. Only a memory::Manager (or something around one) will do: with others, each
// process would be a sandbox of its own, or none.
//
// Simulated: that everything inside ends with the main program, and what a request may ask for.
// An image remembers whose it is and how far the main program's script has come. Restored on the
// same manager it goes on from there, alone; on another one it begins anew. Functions in a script
// are not copied: what they remember is as it was left.
#pragma once

#include <memory>

#include "cordon/manager.h"
#include "supervise/container.h"

namespace cordon::sandbox {

// `manager` must outlive the engine and its containers.
[[nodiscard]] std::unique_ptr<supervise::Engine> make_manager_engine(Manager& manager);

}  // namespace cordon::sandbox
