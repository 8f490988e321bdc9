"""The words of the page of the preset `long`; `make_long.py` puts figures and tables where {{names}} stand."""

PAGE = """# DOOM in minutes: the preset `long`

Made by `python docs/make_long.py` from [data/long.csv](data/long.csv), which holds every trial with its command; the
earlier ones of DTC and GH are in [data/pixels.csv](data/pixels.csv) and [data/parallel_q.csv](data/parallel_q.csv).

Two budgets are stated everywhere. `paper`, `tuned`, `short` and `taught`: 5,000 training steps, as in the paper ([all
of it](results.md); [on new episodes](#the-short-budget)). `long`: at most ten minutes on one H200
with 16 cores, by [many games at once](many_games.md); the same command runs on any machine, only longer:

```
neuroplastic train HTL --preset long --agent nfn --seed 0 --device cuda
neuroplastic evaluate HTL-nfn-long-seed0 --episodes 100 --seed 9001
```

{{overview}}

Scores of agents are means over seeds of the best epoch's network (best by the 5 to 60 episodes of training's own) on
100 further episodes that no choice was made on (`--seed 9001`); in brackets the standard deviation over seeds. Settings
were chosen on other seeds (`long` on 10 and 11, `short` on 10 to 14 and in {{short_both_ways_tasks}} on 30 to 32,
`taught` on 10 and 12), then run once on the seeds that are reported, 2 to 30 runs at once on one machine. But these
seeds had been seen: `short` in HTL, TC and GH, and `long` in PP, HTL, DTC and GH, had been scored on them with earlier
settings (the rows `earlier` of [data/short.csv](data/short.csv) and [data/long.csv](data/long.csv)), found wanting, and
were chosen anew; that the plain network of {{short_both_ways_tasks}} in `short` does without something that the rules
have was seen on reported seeds, and is [in its favour](#the-short-budget). [More of `short` and
`taught`](#the-short-budget), and of the presets `paper` and `tuned`. With `long` those of PP, HTL, DTC and GH, and
seeds 3 and 4 of the others, were scored on the GPU, 10 or 16 games at once, which is `evaluate` but for rounding. In GH
the rules of seed 4 and the plain networks of seeds 0 to 2 were cut off after 16,384 of the preset's 32,768 decisions,
and the plain network of seed 4 was trained on a CPU. Scripted play: [a few lines a scenario](students.md) over named
attributes, 25 episodes (PP: 100), a decision every 4 tics. The paper's figures are the best of 720 trials, each on its
own random episodes.

**In {{taught_tasks}} `long` is taught, too**: while it trains, the game says what the scripted player would do, which
knows where things are (in PP a marksman that computes where a rocket and the monster meet, .78 by itself); 70 % of what
is explored (PP: 90) is that, and the loss also asks the advised action to be worth more than the others by a margin
(`--taught`), with a weight that falls to nothing over the run. The agent itself sees pixels, in training and in
evaluation, where nobody advises it. So these figures are not of rewards alone, as the paper's are; what the same
learner has without is [below](#other-settings-on-seeds-below-10): HTL 24.8 (NFN) and 25.4 (DNN), DTC 17.1 (NFN,
explored as the script would), GH 2081 (NFN) and 2028 (DNN), means of three seeds, and in PP hardly more than nothing.

So {{reached}} Best and last epoch come close; with `tuned` they do not ([BR 36.2 and -14.1](results.md)).

## Rules and plain networks at equal budget

{{compared}}

Both have the same encoder with 64 features, decisions, and exploration. *Level*: Welch's test on seeds does not tell
them apart at 5 %; with five seeds only large differences would be told. *Holm*: p corrected for as many tests as the
table has. The NFN's 64 rules conclude constants, but in
PP formulas (affine THEN parts), which learned faster there.

[1] Sample Factory 2.0, `edbeeching/doom_defend_the_line_3333` on Hugging Face, self-reported, 37.0 +- 3.0, with its
own reward. [2] the same, `doom_defend_the_center_2222`, 25.0 +- 0. [3] Ha and Schmidhuber, World Models (2018):
1092 +- 556 over 100 episodes.

## Learning curves

![Score over decisions for the seven tasks](long_curves.png)

## Agents in the box

`neuroplastic box` lists them, `neuroplastic box HTL` shows a card, `neuroplastic play HTL` the agent, `neuroplastic
train --from HTL` goes on from it. Each was made by `neuroplastic box RUN --out src/neuroplastic/box/NAME --seed 9002
--chosen WORDS` from a run below; the score is that of its card, on 100 episodes that it was not chosen by. What is
damaged is refused. Weights are stored in the precision they were trained in, those of some plain networks in half of it
(`--half`; the card is of what is stored, and BP-dnn and BR-dnn score the same to the digit), and so are PP's. `-dnn` is
the plain network beside it, `-student` its [student](students.md).{{missing_agents}}

{{cards}}

*Carry* is the share of decisions that change when the IF parts know nothing of the state, *fit* the share in which
the leading rule describes it ([what that means](how_to/diagnosis.md)). With 64 premises a rule never fits, so
nobody can read these rules. The [students](students.md), few rules over named attributes, can be read; their cards
have episodes of seed 9001.

## Reported trials

{{reported}}

## How the settings were found

Hold the line and Defend the center are played better by who decides more often: in 4 tics one turns by more than a
far monster is wide. Scripted players tell so before anything is trained ([data](data/scripted_skip.csv), made by
`python docs/scripted_skip.py`; other episodes, and mostly fewer, than those of the first table): {{by_skip}}

{{lessons}}

Take cover gained from deciding every 12 tics instead of 4 and from balanced rules. Hold the line gained from a
discount of .97 instead of .99 on seed 10, at a decision every 4 tics, and came out lower on the seeds that were
reported then, with more decisions. Two rows with the paper's picture have one epoch: they were cut off. Of two or
more rows of one task and seed below, the commands say what differs; scores of rows with `--from` continue the agent
named there.

{{choice}}

## Other settings on seeds below 10

By what the preset was before, or runs that were cut off (no score on new episodes), and of PP by what was tried and not
taken; their episodes are those of seed 9001. The plain networks of DTC without `--preset long` had 512 features and
episodes of seed 7.

{{earlier}}

## The short budget

{{short_aims}}

The first two rows, of rewards alone, flatter: three seeds, and the best of ten epochs on 25 fixed episodes. Even so
`tuned` reaches the aim in {{short_best_epochs}} alone. The other rows are means over seeds of the best epoch's network
(by training's own episodes) on 100 episodes of seed 9001 that no choice was made on, as the aim is. The third is of
rewards alone, too: settings that [a study](doom_studies.md) found for `tuned`, with seeds that it did not see. So is
the fourth, `tuned` itself, in GH alone, on a CPU, with seeds 3 to 7, on which nothing was chosen.

**`short` learns of rewards alone**: 64 rules that conclude constants, as in `long`, where `tuned` has affine THEN
parts that do most of the work; Huber's loss; a slowly moving average of the network is the target, and acts.
{{short_short_so}} A run takes two to eight minutes on one core of a CPU. But for PP best and last epoch come close
(training's own episodes, means over seeds): {{short_short_ends}}. {{short_rewards_alone}}

**Where things are.** In {{short_places_tasks}} `short` has the encoder `places`. The encoder `pictures` makes features
of all that its last planes show, by a linear layer of 331,776 weights; 5,000 pictures are few for so many. `places` has
32 planes (64 in GH), and of each it keeps the column and the row where it responds, and how much that stands out:
16,640 parameters in all (GH: 17,728), and features that can be pointed at. `neuroplastic explain RUN --picture why.png`
rings these places. What it is worth, with the step sizes, batches and exploration that were chosen with it, on seeds 0
to 4 and 100 new episodes:

{{short_by_encoder}}

{{short_carrying}}

![The places that an agent looks at: the medikit ahead, and the number that tells its health](places.png)

That is the agent of GH with seed 0 (`neuroplastic explain RUN --decision 60 --picture places.png`): of the things that
stand out most, which are numbered, one is at the medikit ahead, four are at the number that tells its health, and one
is further right; others are hardly found, and lie about the middle. In BP, DTC and PP rules over places learned little
(rows of seed 11 below).

**Both ways.** These worlds look and pay alike in a mirror, and `short` has half of the replayed transitions seen in
one. So a picture and its mirror image should be worth the same; in networks of `short` they are not, and rules that act
by the mean over both sides play better in {{short_both_sides_better}} (table). In {{short_both_ways_tasks}} the rules
of `short` therefore learn from each transition both ways (`--mirror-agreement 1`): what follows a step is worth the
mean of both sides, and how far both sides' values are apart, of all actions, also those that nobody took, is part of
the loss. Updates take twice the computing. The agent acts by what it sees, as before. On seeds that are not reported,
100 episodes of seed 9003 (TC: 150):

{{short_both_ways}}

Each row is one run, and its last network; that of the first column is played by a command, the others were played by
code that was not kept. In GH rules gained on each of three seeds by learning both ways, and have it. The plain network
lost on one of two, and on four of the seeds that are reported it had {{short_plain_both_ways}} (rows `earlier` of
[data/short.csv](data/short.csv)): it goes without, as it scored higher before, which is in its favour. On the reported
seeds the rules came to more on average than before, but no more than chance may bring: {{short_both_ways_gains}}, seed
by seed. In HTL, TC, DTC and PP these runs do not tell. *Average*: of the weights over about 1,000 updates, five times
as many as in the target that acts; it gained most in GH where the last weights were bad. In HTL a decision every 4, 6
or 12 tics was worse than every 8, with discount and returns to match, one run each. In PP every 8 tics had .07 to .27,
every 4, which the preset has, .02 and .03, and every 12 .02: too few runs to change it. An agent that acts by both
sides is the next thing to try, where the rules of both can be shown.

What `short` has beside the common recipe was found on seeds 10 to 14, mostly with one run each and 60 episodes of seed
9003 (200 in TC; rows below), so much of it may be chance: a slower step of conclusions, with that of premises as
before, in BP, HTL and DTC; a decision every 12 tics in TC and GH, every 8 in HTL; returns of ten steps in PP and GH,
where rewards come late; in PP constants, which had .34 there (affine THEN parts, with which `long` does well, -.08);
and with places a faster step of the encoder and less exploration. Two updates a step, shifted pictures, pictures of
motion, and with pictures less exploration brought nothing that these runs could tell; longer returns in TC, none in
HTL, a step size that falls to a tenth in BR did harm (seeds 0 and 1 of BR had begun with the latter, and were stopped
after two epochs when seed 10 had shown it). But for BP and BR, all have less on new seeds than on those they were
chosen on, PP half of it.

Some was tried in code that was not kept, and on seeds 15 and 20 to 22 networks of one run were played at other times
or in other ways, so no command makes these rows again ([data](data/short_levers.csv); options
are beside what `short` was then, with pictures; from seed 15 on, beside what it is now, in GH one way):
transitions drawn by their last error, to the power of .6 and with weights against the bias (prioritised replay);
rewards less what a life without end would bring (centred); places by responses that are not brought to one scale, and
other convolutions before them. Prioritised replay gained in GH with pictures on one seed, and nothing with places;
centred rewards gained in GH with places about as much as less exploration does:

{{short_levers}}

{{short_short_compared}}

**More seeds in TC.** Means of five seeds are uncertain where a seed's score varies by tens. In TC alone, seeds 5 to 9
of both agents were run once with the same settings, after those above were known and the same settings had scored
higher on seeds 15 to 17 (rows below). So they were not planned beforehand: they tell how uncertain the five are, and do
not replace them in any table or aim. First the added ones, then all ten, with which rules are past the aim of 430 and
the plain network is no longer ahead:

{{short_further}}

Further settings of rules were tried on seeds 15 to 18 (15 runs beside five of `short` as it is, rows below; two more
were stopped before their end to save time): 128 rules, slower conclusions, larger batches late, and a step size that
falls to a tenth in TC and GH, rules compared by their worst premise and five sets instead of three in TC. Most had one
seed. In TC nothing gained. In GH slower conclusions or the falling step size gained on the one seed that they had
alone, and both together lost on the next, so nothing is settled, and `short` stays as it was. Best and last epoch:
larger batches late drew them apart; the falling step size did so in TC, and in GH the last epoch was the best in two
runs of three.

**What else was tried, on seeds 15 to 17.** Averages: the weights that act follow the network slowly already, and in
HTL that is worth two points (21.3 against 19.0); their mean over the last 1,000 or 3,000 steps gained nothing beyond
chance in HTL, TC, GH and PP, one run each. Deciding more often when playing than when learning gained nothing in five
tasks. Random actions that are held for four decisions (`--exploration-hold 4`) find half again as many kills in DTC
when all actions are random, and had 6.7 there where the same run without had 5.6. Half as many channels in the
encoder (`--channels 16,32,32`, with places `--hidden-channels 16`) make a run shorter by a third and lost nothing
that one or two runs could tell in BR, HTL and GH; [studies in our space](doom_studies.md) have them. Batches of 16
were worse in BR and HTL on training's own episodes.

**And on seeds 20 to 22**, by the mean of five looks at each run (after 3,000 to 4,800 updates, 60 episodes each; last
rows of the table above), which is steadier than its best epoch. In GH random actions that are held for four decisions
had 1,980 where the same seed without had 1,596, and on two further seeds 1,618 and 1,820 where it had 2,044 and 1,995.
So one seed of GH says nothing: with the same settings seeds lie up to 450 apart, more than anything that was tried
there has changed, and a mean of five seeds is uncertain by 50 to 100. In HTL a decision every 4 tics, with random
actions held for two and returns of five steps, learns as much as every 8 (19.6 and 18.2; 18.8 and 18.7); with actions
held for four, with longer returns, or going on at 4 tics from what was learned at 8, less. In TC held actions with
returns of five, which the best trials [in our space](doom_studies.md) share, had 396, and without 438. The strengths
of `places` run from 0 to about 8, beyond the sets that rules begin with (-2 to 2); brought to their middle they let
more rules lead at first, and changed nothing in the end (TC 429 and 438, GH 1,622 and 1,596, 2,072 and 2,044). So
nothing was changed.

**Two updates a step over places, seeds 23 and 24** (60 episodes of seed 9003; rows below): GH 1,719 and 1,688 where the
same seeds with one had 1,965 and 2,042, TC 398 and 366 (453 and 433), HTL 18.9 and 18.3 (17.5 and 20.2). So learning
more often from each transition does harm in GH and TC, and tells nothing in HTL.

**In `taught` a script advises, in all seven tasks.** It has the paper's 5,000 steps of one game, and replay learning,
but while it trains the game says what a script would do that knows where things are: 80 % of what is explored is that,
the advice upon each observation is remembered with it, and the loss of replayed transitions also asks the advised
action to be worth more than the others by a margin, with a weight that falls to nothing over the run ([the
loss](many_games.md)). The agent sees pixels alone, and nobody advises it in evaluation. So these are not figures of
rewards alone, as the paper's and those of `paper` and `tuned` are, and must not be set beside those as if they were.
The scripts are those of [scripted play](students.md), but in PP the marksman, in BP and BR one that pulls the trigger
while it still walks, and in TC one that never stands still; what each scores by itself stands
[above](#how-the-settings-were-found). In this way {{short_taught}}. Most come near their script, PP does not. What that
shows is that rules over pixels learn in 5,000 steps to do as they are told, not that they find out by themselves.

```
neuroplastic train TC --preset taught --agent nfn --seed 0 --device cuda
neuroplastic evaluate TC-nfn-taught-seed0 --episodes 100 --seed 9001
```

{{short_compared}}

Both have the same encoder with 64 features, steps and advice; the rules are those of `long`. Best and last epoch on
training's own episodes (rules, means over seeds): {{short_ends}}.

How `taught` was found, on seeds 10 and 12, which are not reported ([all trials](data/short.csv); scores of new episodes
are of seed 9003): twice as many updates, or affine THEN parts, brought nothing that these few episodes could tell, and
PP has affine ones because `long` does. The rows of BR on seed 10 are by an earlier script, which shot as soon as the
monster was ahead: whoever stands and holds the trigger from the first tic never fires, which one picture does not show,
so one in seven episodes was lost. Now the script steps aside first; a short run on a CPU (seed 12) lost none. TC had a
short run there, too, with a fifth of the updates and half of the batch.

{{short_choice}}

Reported, up to 24 runs at once on one machine, most of them scored on the GPU with 10 or 16 games at once, which is
`evaluate` but for rounding; those of `short` in {{short_places_tasks}} on a CPU, two at once
(`python docs/short_trials.py RUNS --out rows.jsonl`, `python docs/short_budget.py rows.jsonl`):

{{short_reported}}

Added later in TC, on a CPU as well:

{{short_further_runs}}

**Studies.** The like of the paper's best of 720, with the number of trials beside each figure and the winners on new
seeds, has [a page of its own](doom_studies.md). Four of 60 trials, BP and GH with both agents, are of a cheap protocol
of 600 steps ([what they found](how_to/studies.md#a-study-that-was-made)).

**What the paper leaves open** (levels of heads, read-out, target copies, picture, time-outs) is compared
[on a page of its own](paper_readings.md) with one or two seeds a task: no reading is clearly nearer than the preset
`paper`, and the slopes over epochs tell how often the target was copied.
"""

LESSONS = """\
Learned from nothing at a decision every 2 tics, rules had 23.9 and 24.6 (balanced) in HTL after 180,000 decisions, and
24.8 on reported seeds after 300,000. In DTC they had 7.9 and 7.4; with most of what is explored done as the script
would (`--advised true --exploration-advised 0.6`, in training only) 17.9, and 13.2 to 20.7 on reported seeds. Going on
at 2 tics from an agent that was trained at 4 gave 26.2 in HTL and 18.5 in DTC. Then the script's actions became part
of the loss (`--taught`): after 115,000 decisions HTL had 31.3 to 32.6 and DTC 21.9 to 22.5, on seeds 10 and 11, as much
as the script itself or more, and whatever the weight (1 or 3), its share of the run (.5 or 1) and, in DTC, the mirror.
These are scores of 50 or 60 episodes of seed 9003.
Twenty runs of 115,000 decisions on seeds 0 to 4 were cut off after two to four of four epochs, and their networks
lost before their 100 episodes were over; they stand [below](#other-settings-on-seeds-below-10) with what training's own
episodes gave. They were at their height after the first epoch, so the preset was cut to 33,000 decisions, for time and
not by score, and run once.

Gather health (GH) from rewards alone had 2071 to 2100 (rules) and 1883 to 2100 (plain networks) after 180,000
decisions. Taught by its script, after 33,000 decisions, rules had 2100 in all of 60 episodes on seed 10, with the
mirror and without.

Target tracking (PP): {{pp}}"""


PP = """\
the agent has one rocket, half of all random actions fire it, and a shot has to lead the monster, so hardly any random
shot hits; where values are bootstrapped, waiting looks better than any shot, and greedy play never shoots (-0.3).
Pictures that show motion (`--planes motion`) and shots that are drawn seldom (`--exploration-weights`) had .03 to .06
at 180,000 to 225,000 decisions, plain networks .03; exploration as a script would that scored .41 had -.18 to .04. That
script did not know that a rocket leaves 8 tics after the trigger, and shot at monsters about to turn back; as it is now
it scores .60. Taught by it, after 123,000 decisions, plain networks had .32 and .43 (seeds 10 and 11), rules .39 twice
on seed 10 (the preset then, and a smaller step of the conclusions) and, with affine THEN parts, .48, on 100 episodes of
seed 9003. So the monster can be seen in 84 x 84 pixels. Rules that were not balanced, or had rewards times ten, or 128
features beside that, never or hardly shot (-.30 to -.03). Training's own 30 episodes had .38 to .67 in the best of four
epochs, which flatters. All these were taught by the script, and learned four times from each rollout. A marksman that
knows how the monster walks (`neuroplastic.doom.advising`) scores .78; taught by it, and learning twelve times from each
rollout, plain networks had .71 on seed 10 after 123,000 decisions, rules .63, with a smaller step of the conclusions
.53, and with affine THEN parts .64. On seed 11, cut off after three of four epochs, constants had .34 and .30. Affine
THEN parts were ahead in every epoch (.51 / .64 / .78 / .77 against .18 / .41 / .67 / .69), so PP's rules have them. The
preset was then cut to 98,000 decisions, for time, and run once."""
