"""What the wing `ratings` brings."""

from argot.wings import Wing

WING = Wing(name="ratings", commands=("argot.ratings.commands:register",))
