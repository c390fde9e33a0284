// A command that is linked statically loads no code at run time: shared libraries would have to be
// of the very C library that it was linked with. SQLite could, for extensions that nobody uses
// here; it finds these in place of dlopen() and its kin (--wrap, cmake/CordonTargets.cmake).
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
void* __wrap_dlopen(const char* file, int mode) noexcept;
void* __wrap_dlsym(void* handle, const char* name) noexcept;
int __wrap_dlclose(void* handle) noexcept;
char* __wrap_dlerror() noexcept;

void* __wrap_dlopen(const char* /*file*/, int /*mode*/) noexcept { return nullptr; }
void* __wrap_dlsym(void* /*handle*/, const char* /*name*/) noexcept { return nullptr; }
int __wrap_dlclose(void* /*handle*/) noexcept { return -1; }
char* __wrap_dlerror() noexcept {
  static char message[] = "this program loads no code";
  return message;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}
