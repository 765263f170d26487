"""How sure we are of the first identity, as arithmetic that is ours and not a model's.

The start is what was heard: a stated role is believed (0.9: `HIGH`, with room left), an inferred one as far
as the extraction's score goes, and never `HIGH` before a second turn agrees.
Agreement closes a fixed share of the distance to the ceiling, and contradiction opens a fixed share of the
distance to the floor. Shares instead of steps keep the value inside its range without clamping, let every
turn count (up is always up, down always down), and make late turns weigh less than early ones, as repeated
weak evidence should. Agreement weighs twice as much as contradiction: a single question off the topic is
ordinary, and a role that has really changed is moved by the window, not worn down.
The floor of a stated role is the start of `MEDIUM`, so a stated role is never `LOW`; an inferred one has none.
"""

from schemas.role import ConfidenceLevel, Identity, IdentityOrigin

STATED_START = 0.9
#: The most an inferred role starts with: just below `HIGH`, which starts at 0.8.
INFERRED_START_MAX = 0.79
CEILING = 0.99
STATED_FLOOR = 0.5
RAISE_SHARE = 0.2
LOWER_SHARE = 0.1
#: Digits kept, so that equal turns give equal documents whatever the platform's arithmetic.
_DIGITS = 6


def started(origin: IdentityOrigin, score: float) -> float:
    """The confidence of a role that has just come first."""
    return STATED_START if origin == "stated" else round(min(max(score, 0.0), INFERRED_START_MAX), _DIGITS)


def raised(confidence: float) -> float:
    """After one more turn that agrees."""
    return round(confidence + max(CEILING - confidence, 0.0) * RAISE_SHARE, _DIGITS)


def lowered(confidence: float, origin: IdentityOrigin) -> float:
    """After one more turn that contradicts."""
    floor = STATED_FLOOR if origin == "stated" else 0.0
    return round(confidence - max(confidence - floor, 0.0) * LOWER_SHARE, _DIGITS)


def earned(identity: Identity) -> float:
    """What an identity that comes first has earned with the turns that agreed with it while another led."""
    confidence = started(identity.origin, identity.score)
    for _ in range(min(identity.support, 50) - 1):
        confidence = raised(confidence)
    return confidence


def level(confidence: float) -> ConfidenceLevel:
    """Below 0.5 `LOW`; to 0.7 inclusive `MEDIUM`; below 0.8 `MEDIUM_HIGH`; from 0.8 `HIGH`."""
    if confidence < 0.5:
        return "LOW"
    if confidence <= 0.7:
        return "MEDIUM"
    return "MEDIUM_HIGH" if confidence < 0.8 else "HIGH"
