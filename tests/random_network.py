"""Networks with random parameters, and what the oracle says of them."""

import math
from dataclasses import dataclass

import numpy as np
import torch

import neuroplastic as npl
from tests import reference


@dataclass(frozen=True)
class Setup:
    """One configuration: builds the network under test and computes every step of it with the oracle."""

    D: int = 4
    outputs: int = 2
    U: int = 6
    terms: int = 3
    max_terms: int = 4
    estimator: str = "stge"
    temperature: float = 0.7
    noise_hold: int = 64
    constraint: float = 0.0
    reduce: str = "sum"
    alpha: float | str = 1.5
    layer_norm: bool = True
    certainty: str | None = None
    gain: float = 1.0
    power: float = 8.0
    balance: float = 0.0
    fitting: float = 0.0
    consequent: object = "affine"

    def network(self, seed=0, dtype=torch.float64, neurogenesis=None, mask=None):
        """A network whose every set, logit and consequent is random; `mask` None leaves some terms out."""
        torch.manual_seed(seed)
        rng = np.random.default_rng(seed)
        net = npl.NeuroFuzzyNetwork(
            self.D,
            self.outputs,
            self.U,
            terms=self.terms,
            max_terms=self.max_terms,
            selection=npl.Selection(
                estimator=self.estimator,
                temperature=self.temperature,
                noise_hold=self.noise_hold,
                constraint=self.constraint,
            ),
            firing=npl.Firing(
                reduce=self.reduce,
                alpha=self.alpha,
                layer_norm=self.layer_norm,
                certainty=self.certainty,
                gain=self.gain,
                power=self.power,
                balance=self.balance,
                fitting=self.fitting,
            ),
            consequent=self.consequent,
            neurogenesis=neurogenesis,
            dtype=dtype,
        )
        shape = (self.D, self.max_terms)
        if mask is None:
            mask = random_mask(rng, shape)
        place(net, rng.normal(size=shape), rng.uniform(0.4, 2.0, size=shape), mask)
        with torch.no_grad():
            net.centers[~net.term_mask] = 1e3  # what a missing term holds must not matter
        for name in ("logits", "kappa", "beta", "certainty", "weight", "bias", "projection"):
            fill(getattr(net, name, None), rng)
        for name in ("output_centers", "conclusion_logits", "log_gain"):
            fill(getattr(net, name, None), rng)
        return net

    def oracle(self, net, x):
        """Every step for `x` in float64: terms, log_firing, firing, output; with the noise now in force."""
        x = array(x)
        mask, stochastic = array(net.term_mask), net.training and self.estimator == "stge"
        log_mu = reference.log_memberships(x, array(net.centers), array(net.widths))
        theta = self.constraint if stochastic else 0.0
        allowed = reference.constrained_mask(log_mu, mask, theta)
        terms = reference.selected_terms(array(net.logits) + array(net.noise()), allowed)
        log_firing = reference.log_firing(log_mu, terms, self.reduce, *self.compared(net))
        firing = self.normalised(net, log_firing)
        steps = {"terms": terms, "log_firing": log_firing, "firing": firing}
        return steps | {"output": self.decided(net, x, firing)}

    def compared(self, net):
        """Gain and power in force: in evaluation premises are compared by the minimum itself."""
        gain = 1.0 if net.gain is None else float(net.gain.detach())
        return gain, float(self.power) if net.training else math.inf

    def normalised(self, net, w):
        """Steps 4 to 6: layer norm, then certainty, then entmax."""
        if self.layer_norm:
            w = reference.layer_norm(w, array(net.kappa), array(net.beta))
        if self.certainty is not None:
            w = reference.certain(w, array(net.certainty), self.certainty)
        return reference.entmax(w, alpha_of(net))

    def decided(self, net, x, firing):
        """Steps 7 and 8 for the four kinds of consequent."""
        kind = self.consequent if isinstance(self.consequent, str) else type(self.consequent).__name__.lower()
        if kind == "mamdani":
            centers, widths = array(net.output_centers), array(net.output_widths)
            scores = array(net.conclusion_logits) + array(net.conclusion_noise())
            conclusions = reference.selected_terms(scores, np.ones_like(centers, dtype=bool))
            if getattr(self.consequent, "defuzzifier", "height") == "height":
                return reference.mamdani_height(firing, conclusions, centers)
            return reference.mamdani_area(firing, conclusions, centers, widths)
        if kind == "constant":
            decisions = reference.constant_decisions(x, array(net.bias))
        elif kind in ("lowrank", "low_rank"):
            parts = array(net.projection), array(net.weight), array(net.bias)
            decisions = reference.low_rank_decisions(x, *parts)
        else:
            decisions = reference.affine_decisions(x, array(net.weight), array(net.bias))
        return reference.firing_weighted_sum(firing, decisions)


def array(tensor):
    """A tensor as a NumPy array, floating ones in float64."""
    tensor = tensor.detach().cpu()
    return tensor.double().numpy() if tensor.is_floating_point() else tensor.numpy()


def alpha_of(net):
    """The alpha in force, fixed or learned, as a float."""
    return float(net.alpha.detach()) if torch.is_tensor(net.alpha) else float(net.alpha)


def random_mask(rng, shape):
    """Some terms exist and some do not; every attribute has at least one, not always the first."""
    mask = rng.random(shape) < 0.6
    mask[np.arange(shape[0]), rng.integers(shape[1], size=shape[0])] = True
    return mask


def place(net, centers, widths, mask):
    """Place the sets of a network from NumPy arrays."""
    dtype = net.centers.dtype
    net.place_sets(torch.tensor(centers, dtype=dtype), torch.tensor(widths, dtype=dtype), torch.tensor(mask))


def fill(parameter, rng):
    """Fill a parameter with standard normal values in place; None is left alone."""
    if parameter is not None:
        with torch.no_grad():
            parameter.copy_(torch.tensor(rng.normal(size=tuple(parameter.shape))))


def parameter_behind(net, tensor):
    """Name and value of the one parameter a derived tensor (widths, alpha) is computed from."""
    named = dict(net.named_parameters())
    grads = torch.autograd.grad(tensor.sum(), list(named.values()), allow_unused=True)
    found = [name for name, grad in zip(named, grads, strict=True) if grad is not None]
    assert len(found) == 1, f"expected one parameter behind the tensor, found {found}"
    return found[0], named[found[0]]
