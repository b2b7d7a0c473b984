"""Fitting an additive model: which terms, with which variances and coefficients.

In the order of a fit:

1. ``state``: the problem (rows, targets, loss), and where a fit of it stands.
2. ``structure``: the order of a fit, and the budget of work that its columns follow from; it calls all that
   follows.
3. ``hierarchy``: the prior. Which variance a term has, given the evidence of all terms of its kind.
4. ``penalised_fit``: coefficients of one set of columns, by Newton steps on moments of ``design``, with the
   prior updated at each of them; then ``newton`` goes to the minimum of the penalised loss.
5. ``held_out``: predictions of rows without themselves; ``loss_numbers`` estimates numbers of a loss beside
   them.

``pace`` says how far a fit is, and when its time is up.
"""
