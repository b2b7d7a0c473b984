"""Models of sites that cannot share rows, joined.

``merge`` checks what it is given; how models of a kind are joined is theirs to say.
"""
