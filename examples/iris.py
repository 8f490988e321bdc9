"""Trains a neuro-fuzzy network on the iris flowers and prints what it learned: accuracy, births, rules.

Run: `make table-demo`, or `python examples/iris.py`. Takes seconds.
"""

import torch
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from torch.nn import functional as F
from tqdm import tqdm

import neuroplastic as npl

EPOCHS = 60
RULES = 6


def main() -> None:
    """Train, then print accuracy, births and rules."""
    torch.manual_seed(0)
    flowers = load_iris()
    x = torch.tensor(flowers.data, dtype=torch.float32)
    y = torch.tensor(flowers.target)
    train, test = train_test_split(range(len(x)), test_size=0.3, stratify=y, random_state=0)

    # Two sets per attribute in the middle of the training data; inputs that they do not cover bring more.
    lower, upper = torch.quantile(x[train], torch.tensor([0.25, 0.75]), dim=0)
    net = npl.NeuroFuzzyNetwork(
        in_features=4,
        out_features=3,
        rules=RULES,
        terms=2,
        max_terms=5,
        neurogenesis=npl.Neurogenesis(epsilon=0.3, delay=3),
        input_range=(lower.tolist(), upper.tolist()),
    )
    sets_before = int(net.term_mask.sum())
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    batches = torch.utils.data.DataLoader(train, batch_size=16, shuffle=True)
    with tqdm(range(EPOCHS), desc="training", unit="epoch") as epochs:
        for _ in epochs:
            for batch in batches:
                loss = F.cross_entropy(net(x[batch]), y[batch])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            epochs.set_postfix(loss=f"{loss.item():.3f}", born=len(net.births))

    net.eval()
    with torch.no_grad():
        accuracy = (net(x[test]).argmax(dim=1) == y[test]).float().mean()
        active = (net.firing(x[test]) > 0).sum(dim=1).float().mean()
    print(f"\naccuracy on {len(test)} flowers not trained on: {accuracy:.1%}")
    print(f"fuzzy sets: {sets_before} at the start, {len(net.births)} born, {int(net.term_mask.sum())} now")
    for birth in net.births:
        name = flowers.feature_names[birth.attribute]
        print(
            f"  batch {birth.step:3}: {name} ~ {birth.center:.2f} (width {birth.width:.2f}, {birth.count} asked)"
        )
    print(f"rules firing per flower: {active:.1f} of {RULES}")
    names = [name.removesuffix(" (cm)") for name in flowers.feature_names]
    print(npl.rule_base(net, feature_names=names, output_names=flowers.target_names, classes=True))


if __name__ == "__main__":
    main()
