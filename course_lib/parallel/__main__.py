"""Both rules on real ranks: `torchrun --standalone --nproc_per_node 2 -m course_lib.parallel`."""

from __future__ import annotations

import os
import sys

import torch
import torch.distributed as dist

from course_lib.parallel.demo import distance, loss_of, one_step, toy_model

DOCUMENTS = [[1, 2, 3, 1, 2, 4], [1, 4], [3, 3, 4], [2, 4]]


def main() -> int:
    if "RANK" not in os.environ:
        print("start it with: torchrun --standalone --nproc_per_node 2 -m course_lib.parallel")
        return 2
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    if ranks > len(DOCUMENTS):
        if rank == 0:
            print(f"{ranks} ranks for {len(DOCUMENTS)} documents: take at most {len(DOCUMENTS)}.")
        dist.destroy_process_group()
        return 2
    model = toy_model()
    whole = loss_of(model, DOCUMENTS)
    whole.mean.backward()
    for rule in ("global_mean", "mean_of_means"):
        loss, gradient = one_step(rank, ranks, DOCUMENTS, rule=rule)
        off = distance(gradient, model.weight.grad)
        if rank == 0:
            print(f"{rule:<14} loss {loss:.6f}, gradient {off:.2%} from one process")
    if rank == 0:
        print(f"one process    loss {float(whole.mean.detach()):.6f}")
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
