"""Capabilities in the argument of a decorator."""

import functools

import torch


def supported(numbers):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            major, minor = torch.cuda.get_device_capability()
            if major * 10 + minor not in numbers:
                raise ValueError(f"{function.__name__} does not support {major}.{minor}")
            return function(*args, **kwargs)

        return wrapper

    return decorate


@supported([90, 100, 103])  # gate: api raises | admit 9.0 10.*
def router(x):
    return x


@supported([80, 90, 100, 103, 120, 121])  # gate: api none | admit 8.0 9.0 10.* 12.*
def quantize(x):
    return x


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print(function.__name__)
        return function(*args, **kwargs)

    return wrapper


@supported([90, 100, 103])  # gate: api raises | admit 9.0 10.*
@logged
def checked_and_logged(x):
    return x


@logged
@supported([90, 100, 103])  # gate: api raises | admit 9.0 10.*
def logged_and_checked(x):
    return x
