"""The straightforward PyTorch version: dense (B, D, T) memberships, one-hot premises, autograd.

It is what one would write from the paper without thinking of speed, and the reference for gradients.
"""

import math

import torch
import torch.nn.functional as F

from tests import reference


def straight_through(logits, noise, mask, estimator, temperature):
    """Eq. 10: one-hot choice over dimension 0 forward; backward the softmax (STGE) or the logits (STE).

    `logits` and `noise` are (T, D, U), `mask` (D, T) says which terms may be chosen.
    """
    may_choose = mask.T.unsqueeze(-1)
    scores = (logits + noise).masked_fill(~may_choose, -torch.inf)
    hard = F.one_hot(scores.argmax(0), len(logits)).movedim(-1, 0).to(logits.dtype)
    soft = logits if estimator == "ste" else F.softmax(scores / temperature**2, dim=0)
    return soft + (hard - soft).detach()


def log_memberships(x, centers, widths):
    """Eq. 2, as (B, D, T)."""
    return -((x.unsqueeze(-1) - centers) ** 2) / (2 * widths**2)


def constrained_mask(x, centers, widths, mask, theta):
    """Existing terms whose scalar cardinality is not below the theta-th percentile of their attribute."""
    cardinality = log_memberships(x, centers, widths).exp().sum(0)
    threshold = torch.nanquantile(cardinality.masked_fill(~mask, torch.nan), theta / 100, dim=1, keepdim=True)
    return mask & (cardinality >= threshold)


def log_firing(
    x, centers, widths, logits, noise, mask, estimator, temperature, reduce="sum", gain=1.0, power=math.inf
):
    """Eqs. 6 and 12, and the forms with a gain, of dense log-memberships times one-hot premises."""
    premises = straight_through(logits, noise, mask, estimator, temperature)
    log_mu = log_memberships(x, centers, widths).masked_fill(~mask, 0.0)
    chosen = torch.einsum("bdt,tdu->bdu", log_mu, premises)
    if reduce == "worst":
        return -gain * torch.linalg.vector_norm(chosen, ord=power, dim=1)
    scale = {"sum": 1.0, "mean": 1.0 / x.shape[1], "scaled": gain / x.shape[1] ** 0.5}[reduce]
    return chosen.sum(1) * scale


def layer_norm(w, kappa, beta, eps=1e-5):
    """Eqs. 13 to 15."""
    return F.layer_norm(w, w.shape[-1:], kappa, beta, eps)


def certain(w, raw, form):
    """Both forms of certainty."""
    return w + F.logsigmoid(raw) if form == "log" else w * torch.tanh(raw)


class Entmax(torch.autograd.Function):
    """alpha-entmax whose value is the oracle's and whose gradient is the closed form of its Jacobian.

    With s_u = p_u^(2 - alpha) on the support and 0 elsewhere, J = diag(s) - s s^T / sum(s).
    """

    @staticmethod
    def forward(ctx, w, alpha):
        p = torch.tensor(reference.entmax(w.detach().numpy(), alpha), dtype=w.dtype)
        ctx.slope = torch.where(p > 0, p.clamp_min(1e-300) ** (2 - alpha), 0.0)
        return p

    @staticmethod
    def backward(ctx, upstream):
        s = ctx.slope
        mean = (s * upstream).sum(-1, keepdim=True) / s.sum(-1, keepdim=True)
        return s * (upstream - mean), None


def affine_output(firing, x, weight, bias):
    """sum_u f_u (W_u x + b_u)."""
    return torch.einsum("bu,buo->bo", firing, torch.einsum("uod,bd->buo", weight, x) + bias)


def mamdani_output(firing, conclusion, output_centers, output_widths, defuzzifier):
    """Height or centre of area; `conclusion` is the (V, O, U) one-hot choice of an output set."""
    if defuzzifier == "height":
        return torch.einsum("bu,vou,ov->bo", firing, conclusion, output_centers)
    moment = torch.einsum("bu,vou,ov->bo", firing, conclusion, output_widths * output_centers)
    return moment / torch.einsum("bu,vou,ov->bo", firing, conclusion, output_widths)
