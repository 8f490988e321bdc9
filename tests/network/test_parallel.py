"""Replicas of a data-parallel network stay equal, though each sees other inputs and sets are born."""

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

import neuroplastic as npl


def replica(rank: int, world: int, folder: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
    torch.manual_seed(rank)  # replicas start from different seeds: DDP must make them equal
    net = npl.NeuroFuzzyNetwork(
        4,
        1,
        5,
        neurogenesis=npl.Neurogenesis(delay=2),
        sets=npl.Sets(start="data", widest=0.5),
        renewal=npl.Renewal(every=2, least=0.9),
    )
    model = nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(7):
        x = torch.rand(8, 4) * (1 + 3 * rank)
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    renewals = torch.tensor([[r.step, r.rule] for r in net.renewals])
    births = torch.tensor([[b.step, b.attribute, b.term, b.center, b.width] for b in net.births])
    torch.save(
        {"parameters": list(net.parameters()), "births": births, "mask": net.term_mask, "renewals": renewals},
        f"{folder}/{rank}",
    )
    dist.destroy_process_group()


def test_data_parallel_replicas_bear_the_same_sets_and_renew_the_same_rules(tmp_path):
    mp.spawn(replica, args=(2, str(tmp_path)), nprocs=2)
    first, second = (torch.load(tmp_path / str(rank), weights_only=True) for rank in (0, 1))
    assert len(first["births"])
    assert len(first["renewals"])
    assert torch.equal(first["renewals"], second["renewals"])
    torch.testing.assert_close(first["births"], second["births"], rtol=0, atol=0)
    assert torch.equal(first["mask"], second["mask"])
    for ours, theirs in zip(first["parameters"], second["parameters"], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
