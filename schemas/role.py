"""The role model: what one question suggests, and what is believed about the user."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from schemas.wire import Moment, QuestionId, Wire

ConfidenceLevel = Literal["LOW", "MEDIUM", "MEDIUM_HIGH", "HIGH"]
DetailLevel = Literal["CONCISE", "BALANCE", "COMPREHENSIVE"]
ContentDepth = Literal["OVERVIEW", "PRACTICAL", "CONCEPTUAL"]
ResponseFormat = Literal["CONCISE", "DETAILED", "STRUCTURED_WITH_EXAMPLES"]
Decision = Literal["CREATE", "UPDATE", "NONE_CHANGE", "SKIPPED", "FAILED"]
GuideScope = Literal["NONE", "ONCE", "EVERY"]

PreferenceField = Literal["detailLevel", "contentDepth", "responseFormat"]
#: How far a preference reaches: this turn, this conversation, this user; `inferred` where nothing was asked for.
PreferenceScope = Literal["turn", "conversation", "stable", "inferred"]
IdentityOrigin = Literal["stated", "inferred"]
PreferenceOrigin = Literal["asked", "inferred"]

MAX_IDENTITIES = 5
MAX_CHARACTERISTICS = 8
MAX_EVIDENCE = 12
MAX_DENIALS = 10
#: The most commands that an entry remembers having been corrected by.
MAX_CORRECTIONS = 20
MAX_OVERVIEW = 300
#: The longest identity or characteristic, in characters.
MAX_NAME = 80
#: The longest quote, in characters.
MAX_QUOTE = 300
#: The most identities that one characteristic remembers having come with.
MAX_COMPANIONS = 10
#: How many identity signals vote: the current one and the four before it.
WINDOW = 5

Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
QuoteText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUOTE)]
Overview = Annotated[str, StringConstraints(max_length=MAX_OVERVIEW)]
Score = Annotated[float, Field(ge=0, le=1)]


class CommunicationPreferences(Wire):
    """How the user likes to be answered; a field is None until something is known."""

    detail_level: DetailLevel | None = None
    content_depth: ContentDepth | None = None
    response_format: ResponseFormat | None = None


class PreferenceOrigins(Wire):
    """Where each stored preference comes from; None where none is stored."""

    detail_level: PreferenceOrigin | None = None
    content_depth: PreferenceOrigin | None = None
    response_format: PreferenceOrigin | None = None


class PreferenceScopes(Wire):
    """How far each preference of an extraction reaches; None where the field is not filled."""

    detail_level: PreferenceScope | None = None
    content_depth: PreferenceScope | None = None
    response_format: PreferenceScope | None = None


class Quote(Wire):
    """Words of the current question, and the identities or characteristics that they support."""

    quote: QuoteText
    supports: list[Name] = Field(min_length=1)


class Extraction(Wire):
    """What one question suggests about the user, after code has checked what the model proposed."""

    identities: list[Name] = []
    characteristics: list[Name] = []
    evidence: list[Quote] = []
    preferences: CommunicationPreferences = CommunicationPreferences()
    preference_scopes: PreferenceScopes = PreferenceScopes()
    states: list[Name] = []
    """Identities that the question states outright; each is among `identities`."""
    denies: list[Name] = []
    """Identities that the question denies outright."""
    score: Score = 0.3
    overview: Overview = ""


class Identity(Wire):
    """One identity in memory, with the support it has earned."""

    name: Name
    origin: IdentityOrigin
    support: int = Field(ge=1)
    """How many turns agreed with it."""
    last_turn: int = Field(ge=1)
    score: Score
    """The score of the extraction that brought it: where its confidence starts once it leads."""
    streak: int = Field(default=0, ge=0)
    """Turns that agreed with it and not with the first identity, since the first was last heard of."""


class Characteristic(Wire):
    """One characteristic in memory, with the turns that brought it."""

    name: Name
    support: int = Field(ge=1)
    last_turn: int = Field(ge=1)
    brought_with: list[Name] = Field(default=[], max_length=MAX_COMPANIONS)
    """The identities of the extractions that brought it, with which it goes; empty when one came without any."""


class Evidence(Wire):
    """A quote from one of the user's questions, and what it supports in memory."""

    quote: QuoteText
    question_id: QuestionId
    supports: list[Name]


class Signal(Wire):
    """An extraction that kept an identity, as it votes in the window."""

    turn: int = Field(ge=1)
    identities: list[Name]
    score: Score


class RoleMemory(Wire):
    """What is currently believed about the user in one conversation; the first identity leads."""

    identities: list[Identity] = Field(default=[], max_length=MAX_IDENTITIES)
    characteristics: list[Characteristic] = Field(default=[], max_length=MAX_CHARACTERISTICS)
    evidence: list[Evidence] = Field(default=[], max_length=MAX_EVIDENCE)
    denied_identities: list[Name] = Field(default=[], max_length=MAX_DENIALS)
    preferences: CommunicationPreferences = CommunicationPreferences()
    preference_origins: PreferenceOrigins = PreferenceOrigins()
    signals: list[Signal] = Field(default=[], max_length=WINDOW)
    """The last identity signals, oldest first, accepted or not."""
    confidence_score: Score = 0.0
    """How sure we are of the first identity; 0 without one."""
    user_overview: Overview = ""


class ConversationAnalysis(Wire):
    """How sure the memory is and after how many questions."""

    confidence_score: Score
    interaction_count: int = Field(ge=1)


class IdentifiedRole(Wire):
    """The role as users query it: names only, the first identity first."""

    possible_identities: list[Name]
    primary_characteristics: list[Name]
    evidence_summary: list[QuoteText]
    confidence_level: ConfidenceLevel


class TrackEntry(Wire):
    """One turn on the role track: the extraction, the decision, and the memory after it.

    It holds all of `RoleMemory`, so that the next turn's cost does not grow with the track.
    """

    schema_version: Literal[1] = 1
    user_id: str
    conversation_id: str
    question_id: str
    turn: int = Field(ge=1)
    user_query: str
    decision: Decision
    identity_decision: Decision
    """What happened to the identity, apart from the preferences."""
    similarity: Score | None = None
    """How alike the extraction and the memory were; None where there was nothing to compare."""
    reason: str
    """The decision in plain words."""
    extraction: Extraction | None = None
    conversation_analysis: ConversationAnalysis
    identified_role: IdentifiedRole
    communication_preferences: CommunicationPreferences
    user_overview: Overview
    create_time: Moment
    """When the question was logged."""
    update_time: Moment | None = None
    """When the memory last changed; None on CREATE."""
    identities: list[Identity] = []
    characteristics: list[Characteristic] = []
    evidence: list[Evidence] = []
    denied_identities: list[Name] = []
    preference_origins: PreferenceOrigins = PreferenceOrigins()
    signals: list[Signal] = []
    since: int = Field(default=1, ge=1)
    """The first turn that its memory builds on: it goes where the role memory is erased up to there."""
    corrections: list[str] = Field(default=[], max_length=MAX_CORRECTIONS)
    """The ids of the last commands that corrected the memory: each does so once."""
    correction_count: int = Field(default=0, ge=0)
    """How many have, ever."""
    record_time: Moment | None = None
    """The timestamp of the question's record: what forgetting goes by."""
    event: str = ""
    """The GuidanceIssued that was published for this turn, as it was published."""
    observed: str = ""
    """The FeaturesObserved that was published for this turn, as it was published; empty where none was."""
