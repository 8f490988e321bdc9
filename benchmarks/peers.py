"""What our rule part is measured against; each peer is built from one of our networks, with the same sets and rules.

Letters as everywhere: B batch, D attributes, T terms of an attribute, U rules.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io

import torch
from entmax import entmax15
from torch import Tensor, nn
from torch.nn import functional as F

import neuroplastic as npl


def installed(package: str) -> bool:
    """Whether a peer can be imported."""
    return importlib.util.find_spec(package) is not None


class StraightforwardGumbel(nn.Module):
    """(a) What one would write from the paper: `F.gumbel_softmax(hard=True)` and a one-hot matrix product.

    Logits are (D, T, U): of the layouts (U, D, T), (D, U, T), (T, D, U) and this one, the fastest for PyTorch.
    `hold` is 1 for fresh noise at every pass; otherwise noise is kept and the same lines are written by hand.
    """

    def __init__(self, net: npl.NeuroFuzzyNetwork, hold: int) -> None:
        super().__init__()
        self.tau, self.hold = net.selection.temperature**2, hold
        self.logits = nn.Parameter(net.logits.detach().movedim(0, 1).contiguous())
        self.centers = nn.Parameter(net.centers.detach().clone())
        self.widths = nn.Parameter(net.widths.detach().clone())
        self.layer_norm = nn.LayerNorm(net.rules, dtype=self.logits.dtype)
        self.draw()

    def draw(self) -> None:
        """New Gumbel noise, in the way `F.gumbel_softmax` makes it."""
        self.noise = -torch.empty_like(self.logits).exponential_().log()

    def premises(self) -> Tensor:
        """One-hot choice of a term, (D, T, U), with the gradient of the softmax."""
        if self.hold == 1:
            return F.gumbel_softmax(self.logits, self.tau, hard=True, dim=1)
        soft = torch.softmax((self.logits + self.noise) / self.tau, dim=1)
        index = soft.max(dim=1, keepdim=True)[1]
        hard = torch.zeros_like(self.logits).scatter_(1, index, 1.0)
        return hard - soft.detach() + soft

    def forward(self, x: Tensor) -> Tensor:
        """Firing levels, (B, U)."""
        log_membership = -((x.unsqueeze(-1) - self.centers) ** 2) / (2 * self.widths**2)
        log_firing = log_membership.flatten(1) @ self.premises().flatten(0, 1)
        firing: Tensor = entmax15(self.layer_norm(log_firing), dim=1)
        return firing


def pytsk_antecedent(net: npl.NeuroFuzzyNetwork) -> nn.Module:
    """(b) scikit-pytsk's antecedent in its form for many attributes: mean and softmax; every rule owns its sets."""
    with contextlib.redirect_stdout(io.StringIO()):  # it prints when pandas is missing
        from pytsk.gradient_descent import AntecedentGMF
    chosen = net.premises().t()
    centers, widths = (table.detach().gather(1, chosen) for table in (net.centers, net.widths))
    antecedent: nn.Module = AntecedentGMF(
        net.in_features, net.rules, high_dim=True, init_center=centers.numpy(force=True)
    )
    antecedent.sigma.data.copy_(widths)
    return antecedent


class FuzzyTheoryAntecedent(nn.Module):
    """(c) fuzzy-theory's Gaussian sets in log space, and a t-norm over links that never change; sum and softmax.

    `LINEAR_SUM` is its fastest way at these sizes: one matrix product with the links, where its `Product` and
    `SoftmaxSum` gather a (B, D, U) tensor. Their `forward` cannot end a linear sum, `apply_mask` can.
    """

    def __init__(self, net: npl.NeuroFuzzyNetwork) -> None:
        super().__init__()
        from fuzzy.relations.linkage import BinaryLinks, GroupedLinks
        from fuzzy.relations.n_ary import NAryMaskMethods
        from fuzzy.relations.t_norm import SoftmaxSum
        from fuzzy.sets import FuzzySetGroup, LogGaussian

        cpu = torch.device("cpu")
        centers, widths = (table.detach().numpy(force=True) for table in (net.centers, net.widths))
        links = F.one_hot(net.premises().t(), net.max_terms).movedim(-1, 1).contiguous().numpy()
        self.sets = FuzzySetGroup(modules_list=[LogGaussian(centers, widths, device=cpu)])
        self.relation = SoftmaxSum(
            grouped_links=GroupedLinks(modules_list=[BinaryLinks(links, cpu)]),
            device=cpu,
            method=NAryMaskMethods.LINEAR_SUM,
        )

    def forward(self, x: Tensor) -> Tensor:
        """Firing levels, (B, U)."""
        return torch.softmax(self.relation.apply_mask(self.sets(x)), dim=1)
