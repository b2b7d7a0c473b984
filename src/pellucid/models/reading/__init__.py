"""Reading and changing any fitted model, whatever machine it is of.

``attribution`` has Shapley values and Sobol shares, ``comparison`` two models side by side, ``drift`` new
rows beside those of the training, ``fairness`` measures by group, on what ``answers`` gets from a model;
``by_hand`` has changes of terms that a person makes.
"""
