// The nursery: a process of a long-lived sandbox that makes the other ones in it.
//
// It stands where a program would: in the namespaces, behind the root, the ids, the Landlock domain
// and a system call filter, with no capability. What it clones has all of that from it, takes the
// rest from itself (the script says what), and waits for its letter. So nobody has to come into the
// sandbox from outside.
//
// Programs inside can end it, and nothing else: it cannot be traced or read (it is not dumpable,
// and was so only while nothing ran inside), keeps nothing of one script for the next, and hears
// only the supervisor.
#pragma once

namespace cordon::linux_backend::spawner {

// Takes its scripts from kLetterFd. Each first process is a child of the supervisor, and carries
// out the section of the program. Ends when the supervisor is done.
[[noreturn]] void run_nursery();

}  // namespace cordon::linux_backend::spawner
