"""The routes for what is kept about a user: the features and the profile."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from pipeline.web.access import Caller, Reader, Writer
from pipeline.web.commands import SENT, carried_out, command_of, receipt, sent
from pipeline.web.envelope import ApiError, Envelope, FieldError, no_feature, ok, wrong_fields
from pipeline.web.items import feature_item
from pipeline.web.paging import LINK, next_page
from pipeline.web.parts import PartsOf, WebParts
from pipeline.web.sessions import shown
from pipeline.web.shapes import Feature, FeatureEdit, ForUser, Limit, Named, NewFeature
from schemas.features import UserFeature, UserProfile
from schemas.memory_events import CommandDone, MemoryCommand
from schemas.wire import UserId

router = APIRouter(prefix="/api/user/memory", tags=["memory"], generate_unique_id_function=lambda route: route.name)

_ETAG: dict[str, Any] = {"ETag": {"description": "The feature's version.", "schema": {"type": "string"}}}
FeatureId = Annotated[Named, Path(description="The feature.")]
IfNoneMatch = Annotated[
    Literal["*"] | None, Header(alias="If-None-Match", description="`*` to keep a new fact and replace none.")
]
IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        pattern=r'^(\*|"[1-9][0-9]{0,8}")$',
        description='The version that was read, such as "3", with its quotes; * for whichever there is.',
    ),
]


@router.get("/list", summary="List the user's features in the order of their slots", responses={200: {"headers": LINK}})
async def list_features(
    caller: Reader,
    parts: PartsOf,
    *,
    request: Request,
    response: Response,
    user_id: ForUser = None,
    limit: Limit = 100,
    after: Annotated[Named | None, Query(description="Only those after this feature.")] = None,
    status: Annotated[Literal["current", "all"], Query(description="Current: without deleted ones.")] = "current",
) -> Envelope[list[Feature]]:
    features = await parts.features.features(caller.user(user_id))
    if after is not None:
        ids = [feature.feature_id for feature in features]
        if after not in ids:
            raise wrong_fields(FieldError(field="query.after", message="it is not on the list: start anew"))
        features = features[ids.index(after) + 1 :]
    wanted = [feature for feature in features if status == "all" or feature.status != "DELETED"]
    if len(wanted) > limit:
        next_page(request, response, after=wanted[limit - 1].feature_id)
    return ok([shown(feature_item(feature), caller) for feature in wanted[:limit]])


@router.post(
    "/add",
    summary="Keep a fact about the user",
    status_code=201,
    responses={201: {"headers": _ETAG}, **SENT},
    response_model=Envelope[Feature],
)
async def add_feature(
    caller: Writer,
    parts: PartsOf,
    *,
    response: Response,
    body: NewFeature,
    user_id: ForUser = None,
    if_none_match: IfNoneMatch = None,
) -> Envelope[Feature] | JSONResponse:
    """A fact that is kept under the same slot already is given the new value, or 412 with `If-None-Match: *`."""
    if body.by == "admin" and "admin" not in caller.scopes:
        raise ApiError(403, "this key has no scope admin: leave `by` out")
    version = None if if_none_match is None else 0
    command = command_of("ADD_FEATURE", user_id=caller.user(user_id), version=version, **dict(body))
    return await _feature_after(command, caller, parts, response, 201)


@router.put(
    "/{feature_id}",
    summary="Change a fact about the user",
    responses={200: {"headers": _ETAG}, **SENT},
    response_model=Envelope[Feature],
)
async def edit_feature(
    caller: Writer,
    parts: PartsOf,
    *,
    response: Response,
    body: FeatureEdit,
    feature_id: FeatureId,
    user_id: ForUser = None,
    if_match: IfMatch = None,
) -> Envelope[Feature] | JSONResponse:
    """`If-Match` names the version that the change was made on, as the ETag gave it."""
    user = caller.user(user_id)
    if if_match is None:
        raise ApiError(428, 'say which version you read: If-Match: "VERSION"')
    version = _version(await _feature_of(user, feature_id, parts), if_match)
    category = {} if body.category is None else {"category": body.category}
    wish = {"feature_id": feature_id, "value": body.value, "content": body.content, "version": version, **category}
    command = command_of("EDIT_FEATURE", user_id=user, **wish)
    return await _feature_after(command, caller, parts, response, 200)


@router.delete(
    "/delete/{feature_id}",
    summary="Delete a fact about the user",
    responses=SENT,
    response_model=Envelope[CommandDone],
)
async def delete_feature(
    caller: Writer, parts: PartsOf, feature_id: FeatureId, user_id: ForUser = None, if_match: IfMatch = None
) -> Envelope[CommandDone] | JSONResponse:
    user = caller.user(user_id)
    version = _version(await _feature_of(user, feature_id, parts), if_match)
    command = command_of("DELETE_FEATURE", user_id=user, feature_id=feature_id, version=version)
    return await receipt(command, caller, parts)


async def _feature_of(user_id: UserId, feature_id: str, parts: WebParts) -> UserFeature:
    """One of the user's features that was not deleted; raises ApiError."""
    for feature in await parts.features.features(user_id):
        if feature.feature_id == feature_id and feature.status != "DELETED":
            return feature
    raise no_feature()


def _version(feature: UserFeature, if_match: str | None) -> int | None:
    """The version that is meant, None for any; raises ApiError where the feature has moved on."""
    if if_match is None or if_match == "*":
        return None
    version = int(if_match.strip('"'))
    if version > feature.version:
        raise ApiError(412, f"the feature is at version {feature.version}, not {version} yet: read it again")
    if version < feature.version:
        raise ApiError(412, f"the feature has moved on to version {feature.version}: read it again")
    return version


async def _feature_after(
    command: MemoryCommand, caller: Caller, parts: WebParts, response: Response, code: int
) -> Envelope[Feature] | JSONResponse:
    done = await carried_out(command, parts)
    if done is None:
        return sent(command)
    feature = await _feature_of(command.user_id, done.feature_id or "", parts)
    response.headers["ETag"] = f'"{feature.version}"'
    return ok(shown(feature_item(feature), caller), code)


@router.get("/profile", summary="Read what the user's features come to; null where none are kept")
async def read_profile(caller: Reader, parts: PartsOf, user_id: ForUser = None) -> Envelope[UserProfile | None]:
    return ok(await parts.features.profile(caller.user(user_id)))
