import torch

import neuroplastic as npl


def test_gradients_flow_in_evaluation_after_a_pass_in_inference_mode():
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(3, 2, rules=4).eval()
    x = torch.rand(5, 3)
    with torch.inference_mode():
        first = net(x)
    inputs = x.clone().requires_grad_()
    values = net(inputs)
    values.sum().backward()
    assert torch.allclose(values.detach(), first, atol=1e-6)
    assert inputs.grad is not None
    assert inputs.grad.abs().sum() > 0
