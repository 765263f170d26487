// What the picture of the evolution shows, as plain values: places are indices of the entries, not pixels.

export const FIELDS = ["detailLevel", "contentDepth", "responseFormat"];

/** The first identity after an entry, or null. */
export const leader = (entry) => entry.identities[0]?.name ?? null;

/** Each stay of an identity in memory: {name, from, to, pieces: [{from, to, leads, origin}]}, in the order of entering. */
export function stays(entries) {
  const open = new Map();
  const all = [];
  entries.forEach((entry, at) => {
    const present = new Set();
    entry.identities.forEach((identity, rank) => {
      const name = identity.name;
      present.add(name);
      if (!open.has(name)) {
        open.set(name, { name, from: at, to: at, pieces: [] });
        all.push(open.get(name));
      }
      const stay = open.get(name);
      const piece = stay.pieces.at(-1);
      stay.to = at;
      if (piece && piece.leads === (rank === 0) && piece.origin === identity.origin) piece.to = at;
      else stay.pieces.push({ from: at, to: at, leads: rank === 0, origin: identity.origin });
    });
    for (const name of [...open.keys()]) if (!present.has(name)) open.delete(name);
  });
  return all;
}

/** Rows for the stays: none overlap in a row, and each has room for `width(stay)` columns of its name. */
export function rows(allStays, width) {
  const packed = [];
  for (const stay of allStays) {
    const free = (row) => row.at(-1).from + Math.max(width(row.at(-1)), row.at(-1).to - row.at(-1).from + 1) <= stay.from;
    const row = packed.find((candidate) => candidate.at(-1).name === stay.name && free(candidate)) ?? packed.find(free);
    if (row) row.push(stay);
    else packed.push([stay]);
  }
  return packed;
}

/** The values of one preference as they were in force: {value, origin, from, to}; of one turn alone origin is "turn". */
export function spans(entries, field) {
  const all = [];
  entries.forEach((entry, at) => {
    const { value, origin } = inForce(entry, field);
    const last = all.at(-1);
    if (last && last.to === at - 1 && last.value === value && last.origin === origin) last.to = at;
    else if (value) all.push({ value, origin, from: at, to: at });
  });
  return all;
}

function inForce(entry, field) {
  const asked = entry.extraction;
  if (asked?.preferenceScopes[field] === "turn") return { value: asked.preferences[field], origin: "turn" };
  return { value: entry.communicationPreferences[field], origin: entry.preferenceOrigins[field] };
}

/** Where another identity comes first than before. */
export function moves(entries) {
  return entries.flatMap((entry, at) => (at > 0 && leader(entries[at - 1]) && leader(entry) && leader(entry) !== leader(entries[at - 1]) ? [at] : []));
}
