"""Calls MPI_Barrier (CALL) from what Python has to call things from. In the same line it notes which frames Python itself
knows of; with its last call it writes them to seen.RANK.json, and ends. python_test.py puts the call and what it needs here."""
HEAD
import asyncio
import ctypes
import functools
import json
import os
import signal
import sys
import threading

SEEN = {}


def log():
    frame, stack = sys._getframe(1), []
    while frame is not None and len(stack) < 16:
        code = frame.f_code
        stack.append((code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name)))
        frame = frame.f_back
    key = json.dumps(stack)
    SEEN[key] = SEEN.get(key, 0) + 1
    return True


def function(*_): log(); CALL


class Solver:
    log(); CALL
    def step(self): log(); CALL
    @classmethod
    def of_class(cls): log(); CALL
    def __add__(self, other): log(); CALL
    def __getattr__(self, name): log(); CALL
    def __iter__(self): log(); CALL; return iter(())
    def __lt__(self, other): log(); CALL
    def __enter__(self): log(); CALL
    def __exit__(self, *_): log(); CALL
    def __del__(self): log(); CALL


def outer():
    def inner(): log(); CALL
    return inner


def generator():
    log(); CALL
    yield 1
    log(); CALL
    yield 2


def decorator(wrapped):
    @functools.wraps(wrapped)
    def wrapper(*arguments): log(); CALL; return wrapped(*arguments)
    return wrapper


@decorator
def decorated(): log(); CALL


def recursive(n):
    if n == 0:
        log(); CALL
    else:
        recursive(n - 1)


async def coroutine():
    log(); CALL
    await asyncio.sleep(0)
    log(); CALL


async def gathered(): await asyncio.gather(coroutine())


def größe(): log(); CALL


log(); CALL
for _ in range(3): function()
function(); function()
solver = Solver()
solver.step(); solver.of_class(); solver + solver; solver.missing; list(solver); sorted([solver, solver])
with solver: log(); CALL
outer()()
(lambda: (log(), CALL))()
for _ in generator(): log(); CALL
[(log(), CALL) for _ in range(2)]
list((log(), CALL) for _ in range(2))
list(map(function, range(3)))
sorted([3, 1, 2], key=lambda x: (log(), CALL) and 0)
decorated()
functools.partial(function)()
for depth in (1, 2, 5, 20): recursive(depth)
thread = threading.Thread(target=function)
thread.start(); thread.join()
asyncio.run(gathered())
try:
    raise ValueError
except ValueError:
    log(); CALL
finally:
    log(); CALL
Solver()
größe()
sys.settrace(lambda *_: None); function(); recursive(3); sys.settrace(None)
signal.signal(signal.SIGUSR1, function)
os.kill(os.getpid(), signal.SIGUSR1)
for _ in range(100): pass
two = (ctypes.c_int * 2)(1, 2)
ctypes.CDLL(None).qsort(two, 2, 4, ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: (log(), CALL) and 0))

del solver
# Code objects that come and go, and have each other's memory. The lines and names differ, or nothing but the file's name.
for i in range(40):
    exec(compile("\n" * (i % 7) + "def f():\n  log(); CALL\nf(); log(); CALL", f"<generated {i % 3}>", "exec"), dict(globals()))
for i in range(40): eval(compile("(log(), CALL)", f"<expression {i}>", "eval"))
renamed = compile("log(); CALL", "renamed.py", "exec")
for i in range(1, 20): exec(renamed.replace(co_filename=f"re{i % 5}", co_firstlineno=10 * i, co_name=f"a:b\\{i % 2}\nc"))
long = "\n".join(f"x{i} = {i}" for i in range(3000))
exec(compile(f"{long}\nlog(); CALL\n{long}\nlog(); CALL\n", "long\nñ.py", "exec"))

with open(f"seen.{RANK}.json", "w") as file: json.dump(SEEN, file)
END
