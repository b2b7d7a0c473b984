"""Reading and changing any fitted model, whatever machine it is of.

``attribution`` has Shapley values and Sobol shares, ``comparison`` two models side by side, drift and groups,
``by_hand`` changes of terms that a person makes.
"""
