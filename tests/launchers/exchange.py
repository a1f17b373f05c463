"""What a launcher's line may start in Python, by mpi4py: objects, arrays of bytes, a window. Printed is what depends on nobody's
speed."""
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
left, right = (rank - 1) % ranks, (rank + 1) % ranks
everybody = world.allgather({"rank": rank})
got = world.sendrecv(("from", rank), dest=right, source=left)
mine, had = array("d", [rank] * 100), array("d", [-1] * 100)
world.Sendrecv([mine, MPI.DOUBLE], dest=right, recvbuf=[had, MPI.DOUBLE], source=left)
window = MPI.Win.Allocate(8 * 100, 8, comm=world)
window.Fence()
window.Put([mine, MPI.DOUBLE], right)
window.Fence()
there = memoryview(window).cast("B").cast("d")[99]
right_all = [e["rank"] for e in everybody] == list(range(ranks)) and got == ("from", left) and had[99] == left == there
window.Free()
print(f"rank {rank} of {ranks}: {'right' if right_all else 'wrong'}")
