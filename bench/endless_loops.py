"""As many endless loops beside a program as make a host busy."""
import contextlib
import subprocess


@contextlib.contextmanager
def endless_loops(count):
    """None with a count of 0; they end with the block, whatever happens in it."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
