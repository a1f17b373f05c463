# The runtime's sources, relative to stubs/ (guard, keeper and progress_hook are listed there).
set(NPLUS1_STUBS_RUNTIME_SOURCES
)
