"""Replicas of a data-parallel network stay equal, though each sees other inputs and sets are born."""

from contextlib import suppress

import pytest
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
    for _ in range(3):  # the wrapped module called directly, before and after the wrapper
        net(torch.rand(8, 4) * (1 + 3 * rank))
    born_directly = len(net.births)
    for _ in range(7):
        x = torch.rand(8, 4) * (1 + 3 * rank)
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net(torch.rand(8, 4) * (1 + 9 * rank))
    renewals = torch.tensor([[r.step, r.rule] for r in net.renewals])
    births = torch.tensor([[b.step, b.attribute, b.term, b.center, b.width] for b in net.births])
    torch.save(
        {
            "parameters": list(net.parameters()),
            "births": births,
            "born directly": born_directly,
            "mask": net.term_mask,
            "statistics": list(net.statistics.moments()),
            "renewals": renewals,
        },
        f"{folder}/{rank}",
    )
    with suppress(ImportError):  # an older torch has none
        from torch.distributed.fsdp import fully_shard

        sharded = fully_shard(nn.Sequential(npl.NeuroFuzzyNetwork(4, 1, 5)))
        with pytest.raises(npl.ConfigError, match="cannot be sharded"):
            sharded(torch.rand(8, 4))
        fixed = fully_shard(npl.NeuroFuzzyNetwork(4, 1, 5, neurogenesis=None))
        fixed(torch.rand(8, 4)).sum().backward()
    dist.destroy_process_group()


def test_data_parallel_replicas_bear_the_same_sets_and_renew_the_same_rules(tmp_path):
    mp.spawn(replica, args=(2, str(tmp_path)), nprocs=2)
    first, second = (torch.load(tmp_path / str(rank), weights_only=True) for rank in (0, 1))
    assert len(first["births"]) > first["born directly"] > 0
    assert len(first["renewals"])
    assert torch.equal(first["renewals"], second["renewals"])
    torch.testing.assert_close(first["births"], second["births"], rtol=0, atol=0)
    assert torch.equal(first["mask"], second["mask"])
    assert all(map(torch.equal, first["statistics"], second["statistics"]))
    assert any(moment.any() for moment in first["statistics"])
    for ours, theirs in zip(first["parameters"], second["parameters"], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
