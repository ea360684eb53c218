"""A package of the forms in which a device answer meets a purpose; each module holds one form.

A comment ``gate:`` says what the analyzer must find on its line, or on the next line if it stands alone: layer,
effect for sm_120, then parts divided by bars (``admit`` with capabilities, ``instead``, ``gets``, ``says``). Lines
without one hold no gate.
"""
