// The list of conversations, whose they are, and the start of a new one.

import * as api from "./api.js";
import { emptyState, failedState, openForm, skeleton } from "./dialogs.js";
import { button, byId, fill, h, field, own } from "./dom.js";
import { day } from "./formats.js";
import { counted, t } from "./words.js";

/** How many letters of a first question are a title. */
const TITLE = 80;
const selected = { session: null, user: null };

/** The choice of the user: among those of the key, or typed where the key may see all. */
export function showUserForm(me, user, choose) {
  const form = byId("user-form");
  const users = me.users;
  const control = users
    ? h("select", { name: "user" }, users.length > 1 && h("option", { value: "" }, t("allUsers")), users.map((id) => h("option", { value: id }, id)))
    : h("input", { name: "user", maxlength: 200, placeholder: t("allUsers"), autocomplete: "off", spellcheck: "false" });
  control.value = user ?? "";
  control.setAttribute("aria-label", t("user"));
  control.setAttribute("data-testid", "user");
  const go = () => choose(control.value.trim() || null);
  control.onchange = users ? go : null;
  form.onsubmit = (event) => {
    event.preventDefault();
    go();
  };
  fill(form, control, !users && h("button", { type: "submit", "data-testid": "user-show" }, t("show")));
}

/** Loads the conversations of `user` (null: all that the key may see) and shows them; returns them. */
export async function loadConversations(user, select, signal) {
  const body = byId("list-body");
  fill(body, skeleton(5));
  const all = [];
  const items = h("ul", { class: "conversations" });
  const more = h("div", { class: "more" });
  const take = ({ data, next }) => {
    all.push(...data);
    for (const { conversationId, userId } of data) pinnedOf(conversationId, userId)?.remove();
    items.append(...data.map((conversation) => item(conversation, select)));
    markSelected(selected.session, selected.user);
    fill(more, next && button(t("loadMore"), () => loadMore(next), { class: "quiet", "data-testid": "more-conversations" }));
  };
  const loadMore = async (next) => {
    const shown = items.children.length;
    fill(more, skeleton(1));
    try {
      take(await api.page(next));
      items.children[shown]?.querySelector("button").focus();
    } catch (error) {
      fill(more, failedState(error, () => loadMore(next)));
    }
  };
  try {
    const first = await api.conversations(user);
    if (signal.aborted) return all;
    take(first);
    fill(body, all.length ? [items, more] : emptyState(t("noConversations"), t("noConversationsMore")));
  } catch (error) {
    if (!signal.aborted) fill(body, failedState(error, () => loadConversations(user, select, signal)));
  }
  return all;
}

function item(conversation, select) {
  const { conversationId, userId, turnCount, lastActiveTime, title } = conversation;
  const show = () => select(conversationId, userId);
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", class: "conversation", "data-testid": "conversation", "data-id": conversationId, "data-user": userId, onclick: show },
      h("span", { class: "conversation-title" }, title || t("untitled")),
      h("span", { class: "conversation-about" }, about(turnCount, lastActiveTime)),
      h("span", { class: "conversation-id" }, own(conversationId), " · ", own(userId)),
    ),
  );
}

const about = (turns, time) => `${counted("turns", turns)} · ${day(time)}`;

const isOf = ({ dataset }, session, user) => dataset.id === session && [dataset.user, null].includes(user);

/** Brings the conversation on the list up to date with its last message; false where it is not on the list. */
export function touch(session, user, last) {
  const node = [...document.querySelectorAll(".conversation")].find((each) => isOf(each, session, user));
  if (node && last) node.querySelector(".conversation-about").textContent = about(last.turn, last.createTime);
  return Boolean(node);
}

const pinnedOf = (session, user) => [...document.querySelectorAll(".pinned")].find((each) => isOf(each.firstChild, session, user));

/** Puts a conversation that is not on the list, or not yet, on top of it. */
export function pin(conversation, select) {
  const body = byId("list-body");
  if (body.querySelector(":scope > [data-testid=empty]")) fill(body, h("ul", { class: "conversations" }));
  const items = body.querySelector(".conversations");
  if (!items) return;
  const node = item({ ...conversation, title: start(conversation.title) }, select);
  node.className = "pinned";
  items.prepend(node);
  markSelected(selected.session, selected.user);
}

const start = (text) => [...text.trim()].slice(0, TITLE).join("");

/** Marks the conversation that is shown. */
export function markSelected(session, user) {
  Object.assign(selected, { session, user });
  for (const node of document.querySelectorAll(".conversation")) {
    if (isOf(node, session, user)) node.setAttribute("aria-current", "true");
    else node.removeAttribute("aria-current");
  }
}

/** Asks for the ids of a conversation that is to begin. */
export function openNew(user, users, select) {
  const id = h("input", { name: "session", value: `talk-${Date.now().toString(36)}`, maxlength: 200, autocomplete: "off", "data-testid": "new-id" });
  const owner = h("input", { name: "user", value: user ?? users?.[0] ?? "", maxlength: 200, autocomplete: "off", "data-testid": "new-user" });
  openForm({
    title: t("newConversation"),
    fields: [field(t("conversationId"), id), field(t("userId"), owner)],
    submit: t("start"),
    check: (values) => {
      if (!values.session.trim()) return [id, t("needed")];
      if (!values.user.trim()) return [owner, t("needed")];
      return users && !users.includes(values.user.trim()) ? [owner, t("noSuchUser")] : null;
    },
    send: async (values) => void select(values.session.trim(), values.user.trim()),
    testid: "new-dialog",
  });
}
