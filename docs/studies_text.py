"""The words of docs/doom_studies.md; `make_studies.py` puts figures into the braces."""

PAGE = """\
# Studies of the seven tasks

Made by `python docs/make_studies.py` from [data/doom_studies.db](data/doom_studies.db), which holds all {{trials}}
trials (`neuroplastic study status --storage sqlite:///docs/data/doom_studies.db`), and
[data/doom_winners.csv](data/doom_winners.csv).

The paper's figures are the best of 720 trials, each judged on 25 random episodes of its own. That is a lucky figure:
the greatest of many noisy means. Here are our own best trials, with the number that they are the best of, and then the
true figure: the same settings learned anew with five seeds that the search did not see, each on 100 new episodes.

```
neuroplastic study run --task BP --agent dnn --trials 40 --preset tuned --episode-seeds anew --games 5 --device cuda
neuroplastic study run --task BP --agent nfn --trials 40 --preset tuned --episode-seeds anew --games 5 --device cuda
neuroplastic study run --task BP --agent nfn --trials 40 --preset short --space short --episode-seeds anew --games 5 \\
    --epochs 10 --steps-per-epoch 500 --episodes 25 --prune --channels 16,32,32    # and --agent dnn
neuroplastic study run --task BP --agent nfn --trials 40 --preset taught --space ours --episode-seeds anew --games 5 \\
    --epochs 10 --steps-per-epoch 500 --episodes 25 --device cuda
neuroplastic study confirm BP-nfn --device cuda    # seeds 1000 to 1004, then 100 new episodes each
```

A trial is as long as the paper's: 10 epochs of 500 steps, 25 greedy episodes after each, drawn anew for each trial
and epoch. The settings are drawn from the paper's [search space](how_to/studies.md#what-is-searched); what it leaves
open comes from the preset `tuned`. The neuro-fuzzy agent takes frame skip, batch, memory and discount from the best
trial of the plain one that was known when its study began. Nobody teaches these agents, nor those of
[`short`](long.md#the-short-budget), our recipe in as many steps, which stands beside them: no study, but the greatest
of the means of five epochs of five seeds, on the 20 (with places 60) fixed episodes that its training judges by.

**In our space** (`--space short`) batch, returns, exploration, step sizes and more are searched in ranges around the
values of `short`, of rewards alone, too. Its searches begin at `short` itself (in GH at what it was for rules, which
now learn [both ways](long.md#the-short-budget): `--mirror-agreement 0` goes on with it) and go by the mean alone, and
trials whose greatest mean lags end after two to five of ten epochs ([how](how_to/studies.md#cheaper-protocols)); the
row of trials says how many. Encoders have half of the preset's channels (in HTL, TC and GH `--hidden-channels 16
--things 32`), with which a run takes two thirds of the time on a CPU. What that costs had been tried on single runs
([seeds 15 and 16](data/short.csv)): nothing in BR and HTL, some of the score in TC, GH and PP, more in DTC. Of the
neuro-fuzzy agent's trials those of BP and PP are of a CPU, the others of a GPU; of the plain network's all of PP, all
but two of BP, and 4 to 13 of 40 in BR, DTC and TC are of a GPU, the rest of a CPU.

What came of it is a warning: on new seeds the winners are nowhere clearly better than [`short`
itself](long.md#the-short-budget) with the whole encoder, of neither agent in any task. Welch's test on seeds has the
neuro-fuzzy agent's below it in PP and HTL (p .01 and .02; with Holm's correction for seven tests, not), does not tell
them apart in BP, DTC, TC (434 and 422) and GH, nor in BR (p .06), where their spread is large: four of five seeds are
far below. It has the plain network's below in HTL (p .03; with the correction not), perhaps in TC (429 and 495, p .05),
and tells them apart nowhere else. Of 40 runs, one a trial, the best was lucky rather than better. In BR the
neuro-fuzzy winner's settings lie near an end of the space (both step sizes high, random actions
that become rare slowly); it begins to hit late, and with two of five new seeds not once in 5,000 steps ([each
epoch](data/doom_winners.csv), rows `BR,nfn-short`). In DTC half of the encoder may be too little. So confirm a winner
with further seeds before you use it.

Last comes a search with the preset `taught`, in which a script advises in training (`--space ours`; its trials so far
were drawn by all three objectives). Because of [this advice](long.md#the-short-budget), do not compare it with the
rows above as if it were of rewards alone. It was begun on a GPU, and is not finished.

{{overview}}

*Best trial* is chosen by [the paper's rule](how_to/studies.md#what-is-searched), which prefers a small SD where means
are too similar; so the greatest mean can be above it. *Aims* are figures that we set out to reach before `short`,
`taught` and these studies were made: for the best of a study about the better one of the paper's two, for a mean of
new seeds what seemed within reach.{{reached}}

{{lucky}}

{{missing}}

## What the best of more trials would be

The paper has 720 trials a task and agent, these studies have 40. What more trials bring can be told from fewer: the
greatest mean of n trials, on average over all choices of n of the 40, is known exactly, and every doubling adds about
as much as the one before. Here it is for the paper's space, and for 720, four doublings further, if it goes on so: as
in the last doubling, or as in the last two on average (in GH up to 2100, where an episode ends).

{{more_trials}}

{{beside_the_paper}} Where
our best of 40 is below the paper's best of 720, the number of trials accounts for all of the distance or for a good
part of it, least in HTL, where it is a quarter to a third of the NFN's. Such figures are made by luck as much as by
skill: settings and episodes are drawn anew and the luckiest are kept, and on new seeds and episodes their settings do
far less, as the rows above show. All this is extrapolated from few trials: each best of 40 is one draw, trials that a
search makes late are not drawn like its first, and near a bound (BP, GH) growth slows down.

{{winners}}## Settings of the best trials

Numbers of trials count those, too, that were stopped, or whose worker died, and were made again.

{{settings}}
"""

WINNERS_COMPARED = """\
## Winners of both agents, {{heading}}

{{compared}}

*Level*: Welch's test on seeds does not tell them apart at 5 %; *Holm*: p corrected for as many tests.

"""
