"""The words of the page of readings; `make_paper_readings.py` puts figures and tables where {{names}} stand."""

PAGE = """# What the paper leaves open

Made by `python docs/make_paper_readings.py` from [data/paper_readings.csv](data/paper_readings.csv), which holds every
trial with its command: {{trials}} trials of 10 epochs of 500 steps, 25 greedy episodes after each, drawn anew for each
trial and epoch as the paper's were (`--episode-seeds anew`).

The paper's tables of best trials fix rules, activation, step size, batch, memory, discount and frame skip of every
task. They do not say how often the target network is copied, how many levels the "hierarchical" NFN has, what stands
behind the second layer of the DNN, whether a time-out is an end, or in which mode a network with dropout and batch norm
explores and values its targets. The preset `paper` answers each in one way ([deviations](deviations.md)); here each
answer is changed by itself.

{{verdict}}

## One change at a time

{{readings}}

Best epochs, means over choosing seeds (20, 21), standard deviation over seeds in brackets. *Distance*: of that mean
from the paper's figure, in the paper's standard deviations (the root mean square of its two agents'; one is 0 in GH),
mean over the tasks that the row has; beside it the distance of `paper` itself over the same tasks. The paper's figure
is the best of 720 trials, these are means of one or two: a distance of 0 is not to be expected, only which reading is
nearest. *RULES* in a command: as many as the preset has rules. *Slope*: of the means over the ten epochs, which the
paper prints too.

Cut off, and in no row: {{cut_off}}. In {{diverged}} of the trials the loss ran away, which a run notices and says
(`notices.txt` in its folder).

## How often the target is copied shows in the slope

{{slopes}}

Means of the three seeds of [results](results.md); `tuned` differs in more than the copies, the table above in them
alone. Where the target is copied often, BP is learned within the first epoch and the slope over all ten is small;
with a copy every 500 updates, once an epoch, it is as steep as the paper's in BP (both agents) and BR (the plain
network). That the paper's networks learned as late as that speaks for rare copies there, whatever others score. It is
not so everywhere: for rules `tuned`, which copies every 100 updates and differs in more, is nearer to the paper's
slopes in BR, PP, HTL, DTC and TC.

## Where the words may come from

ViZDoom's own example of dueling double Q-learning (`examples/python/learning_pytorch.py` in its repository) has the
paper's encoder layer by layer, but for colours, kernel sizes and dropout: four convolutions without bias to 8, 8, 8 and
16 channels with strides 2, 2, 1, 1, each followed by batch norm and ReLU. It also has the paper's exploration (from 1,
multiplied by a constant after each update, not below .1), all combinations of buttons as actions, and epochs of
training steps with test episodes after each. There the target is copied at the end of every epoch, the loss is the
squared error of raw rewards, a time-out is an end, heads are Linear, ReLU, Linear, and no pass is in evaluation mode.
If the paper began there, which we do not know, the first three are as in `paper`; the last two are the readings
`--readout false` and `--always-training true` above.

{{reported}}

## Best and last epoch: what brings them together

From the trials of [results](results.md): all pairs that differ in the lever alone, at equal seeds. Scores are in the
paper's standard deviations as above; medians over the pairs. *Smaller in*: pairs in which the last epoch came closer to
the best.

{{stability}}

{{levers}}

What pays is returns of three steps, in nearly every pair (`tuned` has them, but in HTL), and the mirror (`tuned` has
it, but in BR). Exploration that falls fastest (.999) raises the best epoch and the last, but not their nearness. An
average of the weights helped where the run broke down (BP with one-step returns) and did nothing in PP; a falling
step size, larger batches and more updates bring nothing or do harm. In BR, with the plain network and one seed, no
schedule of returns or discount, nor heads that begin anew, brought best and last together, and rewards on one scale
did harm. [`short`](long.md#the-short-budget) does there what none of them does: its last epoch is its best, with all
five seeds of rules. Larger batches late, shorter returns or another discount in the second half, heads that begin
anew, rewards on one scale and falling noise are there as options (`--late-batch`, `--late-n-step`, `--late-discount`,
`--reset-heads`, `--normalise-rewards`, `--noise-passes`), and but for the rows above untried. [Many games at
once](long.md) end the question: there best and last epoch come close.
"""

VERDICT = """**No other reading is clearly nearer to the paper, so the preset `paper` stays as it was.** By question;
each figure is of one or two trials, where three seeds of `paper` spread (plain network, rules) by 2 and 3 in BP, 20
and 51 in BR, .1 and .2 in PP, 2.6 and 1.0 in HTL, 1.7 and 1.1 in DTC, 68 and 61 in TC, 880 and 700 in GH
([results](results.md)), so that most differences below may be chance:

- *Target copies*: every 500 updates, at the end of each epoch. A copy at every update breaks the NFN in BP
  ({{NFN base BP}} to {{NFN target_1 BP}}) and the plain network in BR ({{DNN base BR}} to {{DNN target_1 BR}}); that
  has less in HTL ({{DNN base HTL}} to {{DNN target_1 HTL}}), TC and DTC, too, and gains in BP ({{DNN base BP}} to
  {{DNN target_1 BP}}) and hardly in PP. More often than every 500 updates, and in BP learning is over so soon
  that the paper's slope is out of reach ([below](#how-often-the-target-is-copied-shows-in-the-slope)).
- *Levels of the NFN*: one. With two levels BP is better, and its last epoch as good as its best ({{NFN base BP}} to
  {{NFN levels BP}}); in PP nothing is learned either way, and elsewhere they are lower, in BR and GH by less than
  seeds spread: BR {{NFN base BR}} to {{NFN levels BR}}, HTL {{NFN base HTL}} to {{NFN levels HTL}}, DTC
  {{NFN base DTC}} to {{NFN levels DTC}}, TC {{NFN base TC}} to {{NFN levels TC}}, GH {{NFN base GH}} to
  {{NFN levels GH}}; {{NFN levels far}} of the paper's standard deviations away in the mean, instead of
  {{NFN base far}}. "Hierarchical" plainly means this, but these trials do not bear it out.
- *Read-out of the DNN*: as `paper` has it. The literal reading, an activation behind the output too, is out: Hardtanh
  keeps BP's values within 1, and the score at -214 after six epochs. Two linear layers with nothing behind them
  (`--readout false`) came nearer than `paper` in BP ({{DNN base BP}} to {{DNN two_linear BP}}), TC ({{DNN base TC}} to
  {{DNN two_linear TC}}) and PP ({{DNN base PP}} to {{DNN two_linear PP}}), and less near in BR ({{DNN base BR}} to
  {{DNN two_linear BR}}) and HTL ({{DNN base HTL}} to {{DNN two_linear HTL}}); in DTC seed 20 came far nearer (11.9,
  where `paper` has 4.4 on the GPU and 5.9 on the CPU) and seed 21 did not ({{two_linear_so}}). Over these tasks they
  are {{DNN two_linear far}} of the paper's standard deviations away, `paper` {{DNN base far}}.
- *Time-outs*: as ends. In PP, HTL and TC the plain network met none in training, and its run is the same to the last
  digit; in BR it had {{DNN no_end BR}} instead of {{DNN base BR}}, and a last epoch far below; the NFN had
  {{NFN no_end BP}} in BP, with a slope further from the paper's.
- The *picture*, and *dropout and batch statistics* in all passes: one trial each, in BP, which decides nothing. The NFN
  had {{NFN fast BP}} with the fast picture (the paper names the other), more than `paper`, with a slope further from
  the paper's; the DNN had {{DNN training BP}} in training mode throughout, and a slope that is nearer.
- Not run for want of time on the machine, and so not known: these two elsewhere, the DNN in GH, a third seed, affine
  THEN parts on both levels, room for more sets, Huber's loss. Each has a name in `docs/paper_readings_trials.py`, with
  its options.

**No reading explains the paper's NFN.** In BR, PP and HTL the preset `paper` learns next to nothing with rules, where
the paper has 37.2, .36 and 25.4, and no answer that was tried mends it, neither zeros as the start of THEN parts (BR
{{NFN zeros BR}}, HTL {{NFN zeros HTL}}) nor more target copies (HTL {{NFN target_100 HTL}}). What does is in `tuned`
and [`short`](long.md#the-short-budget): other returns, scales of rewards, exploration, an encoder without dropout.

The plain network stays furthest from the paper in DTC: its 17.9 and 16.6 are of a decision every 8 tics, at which a
script that is told where the monsters are scores 8.9 ([results](results.md))."""

REPORTED = """## On other seeds

As no reading won, none was run on the seeds that are reported but for what the machine had begun with:

{{table}}

`paper` itself is on [the page of results](results.md), seeds 0 to 2, with fixed episodes."""
