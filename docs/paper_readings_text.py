"""The words of the page of readings; `make_paper_readings.py` puts figures and tables where {{names}} stand."""

PAGE = """# What the paper leaves open

Made by `python docs/make_paper_readings.py` from [data/paper_readings.csv](data/paper_readings.csv), which holds every
trial with its command: {{trials}} trials of 10 epochs of 500 steps, 25 greedy episodes after each, drawn anew for each
trial and epoch as the paper's were (`--episode-seeds anew`); {{cut_off}} were cut off before their tenth epoch and
stand in no table.

The paper's [tables of best trials](results.md) fix rules, activation, step size, batch, memory, discount and frame
skip of every task. They do not say how often the target network is copied, how many levels the "hierarchical" NFN has,
what stands behind the second layer of the DNN, whether a time-out is an end, or in which mode a network with dropout
and batch norm explores and values its targets. The preset `paper` answers each in one way
([deviations](deviations.md)); here each answer is changed by itself.

{{readings}}

Best epochs, means over choosing seeds (20, 21), standard deviation over seeds in brackets. *Distance*: of that mean
from the paper's figure, in the paper's standard deviations (the root mean square of its two agents'; one is 0 in GH),
mean over the tasks that the row has; beside it the distance of `paper` itself over the same tasks. The paper's
figure is the best of 720 trials, these are means of one or two: a distance of 0 is not to be expected, only which
reading is nearest.
"""
