"use strict";

// The page of Dictum's admin listener. It polls the JSON API that deploy/ADMIN.md describes, and draws what it gets.
// Text from outside goes into text nodes only.

const pollMilliseconds = 2_000;
const timeoutMilliseconds = 8_000;
const historyMilliseconds = 300_000;
/** The shortest time that charts show, as long as there is little history. */
const shortMilliseconds = 60_000;
/** The polls between two requests for what changes slowly: chains, and the report. */
const slowEvery = 5;
/** The warnings that are shown at once. */
const warningsMax = 4;

const state = {
  token: sessionStorage.getItem("dictum-token"),
  timer: undefined,
  polls: 0,
  /** The totals of former polls, the oldest first. */
  history: [],
  chains: { order: "wanted", offset: 0, limit: 25, total: 0 },
  hasConfiguration: false,
  dictionaries: undefined,
};

const byId = (id) => document.getElementById(id);

// MARK: Words

const grouped = new Intl.NumberFormat("en");
const count = (number) => grouped.format(number);

/** Returns a number with at most three digits that count. */
const short = (number) =>
  number === 0 ? "0" : new Intl.NumberFormat("en", { maximumSignificantDigits: 3 }).format(number);

const scaled = (number, base, units) => {
  let value = number;
  let unit = 0;
  while (Math.abs(value) >= base && unit < units.length - 1) {
    value /= base;
    unit += 1;
  }
  return `${unit === 0 ? short(value) : value.toFixed(value < 100 ? 1 : 0)} ${units[unit]}`;
};

const size = (bytes) => scaled(bytes, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);

/** Never rounds up to a whole that is not there. */
const percent = (share) => {
  if (share === undefined || !Number.isFinite(share)) return "–";
  const value = share * 100;
  if (value > 99.9 && value < 100) return "> 99.9 %";
  if (value > 0 && value < 0.1) return "< 0.1 %";
  return `${value.toFixed(Math.abs(value) < 10 && value !== 0 ? 1 : 0)} %`;
};

const ago = (seconds) => (seconds < 1 ? "now" : `${duration(seconds)} ago`);

const duration = (seconds) => {
  const units = [["d", 86_400], ["h", 3_600], ["min", 60], ["s", 1]];
  const [unit, length] = units.find(([, length]) => seconds >= length) ?? units.at(-1);
  return `${Math.floor(seconds / length)} ${unit}`;
};

const elapsed = (seconds) => (seconds < 0.001 ? `${short(seconds * 1e6)} µs` : `${short(seconds * 1e3)} ms`);

const reasonTexts = {
  "dictionary-not-kept": "The client kept an earlier response and names no dictionary: mostly the response was no longer fresh, or the client does not support them.",
  "client-new": "The client names no dictionary: it is new, or does not support them. One request cannot tell.",
  "dictionary-unknown": "The client's dictionary is not here: removed, or of another route or host.",
  "dictionary-cold": "The dictionary is on disk and could not be read in time.",
  "coding-not-accepted": "Accept-Encoding has neither dcz nor dcb: something in front may remove them.",
  "other-coding-preferred": "Another coding comes first, by the client's or this server's preference.",
  "insecure-transport": "The client's transport is not secure.",
  "cross-origin": "A page of another origin, which RFC 9842 does not allow.",
  "personal": "The response belongs to one user, and personal is off.",
  "identity-incomplete": "On a private route, the request lacks a part of the identity.",
  "path-not-normal": "The path has dot segments, double slashes or needless escapes.",
  "route-off": "No route, or dictionary: off.",
  "switched-off": "Dictionaries are off, by the configuration or the switch.",
  "authority-off": "The host is not in authorities.",
  "held-out": "The client is held out by the experiment.",
  "verify-failed": "A delta of this route did not decode: dictionaries are off until a reload.",
  "busy": "There was no CPU or memory for the coding.",
  "no-coding-accepted": "The client accepts no coding.",
  "ineligible-type": "The type is not in compression.types.",
  "ineligible-size": "The body is shorter than min_size.",
  "event-stream": "An event stream.",
  "ineligible-status": "The status is not 200, as with errors and redirects.",
  "not-modified": "The client had the response already (304), so there was nothing to send. The hit rate leaves these out.",
  "ineligible-method": "The method is not GET, HEAD, QUERY or POST.",
  "range": "A part of a body.",
  "no-transform": "The request or the response says no-transform.",
  "coded-upstream": "The upstream used a coding that Dictum does not undo.",
  "http10": "An HTTP/1.0 client, and a body of unknown length.",
  "not-shorter": "Coding would not have made the body shorter.",
  "no-store": "The request or the response says no-store.",
  "vary-any": "The response has Vary: *.",
  "not-fresh": "The response to QUERY or POST has no explicit lifetime.",
  "content-location": "The response to POST is the representation of another URL.",
  "offered-upstream": "The upstream offers a dictionary of its own.",
  "coding-failed": "An encoder or decoder failed.",
  "delta": "A delta.",
  "delta-cached": "A delta.",
  "delta-built": "A delta over the built dictionary.",
  "never-offered": "The client was offered no dictionary before.",
  "expired": "The dictionary's lifetime was over when the client came back.",
  "evicted": "The store no longer had the version.",
  "none": "Dictum's own response, an upgrade, or a HEAD.",
};

const basisTexts = {
  "as-sent": "No response was a delta yet, so nothing is saved beyond ordinary compression.",
  "sampled":
    "Without dictionaries: what the best coding that the same clients accept would have sent. Estimated from samples of the deltas.",
  "uncompressed":
    "Without dictionaries: partly the uncompressed size, because some route has no samples of its deltas yet, or never has any: bodies that go out piece by piece are not sampled.",
};

// MARK: Nodes

/** Makes an element of attributes and children; strings become text. */
const make = (name, attributes = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};

const setText = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
};

/** Shows hosts and paths, which may break after a slash and a comma. */
const setPath = (node, text) => {
  if (node.textContent !== text) node.replaceChildren(...text.split(/(?<=[/,])/).flatMap((part) => [part, make("wbr")]));
};

/** Makes the children of a node those of a list, and keeps the ones that stay: focus and open details do too. */
const fill = (parent, items, keyOf, create, update) => {
  const known = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const seen = new Set();
  let place = parent.firstElementChild;
  for (const item of items) {
    let key = keyOf(item);
    while (seen.has(key)) key += " again";
    seen.add(key);
    let child = known.get(key);
    known.delete(key);
    if (!child) {
      child = create(item);
      child.dataset.key = key;
    }
    if (child === place) {
      place = place.nextElementSibling;
    } else {
      parent.insertBefore(child, place);
    }
    update(child, item);
  }
  for (const child of known.values()) child.remove();
};

/** Fills a table's body; a cell is a text, {text, class, title}, {path}, or {update} for a cell that updates itself. */
const fillTable = (id, items, keyOf, cellsOf, emptyText) => {
  const table = byId(id);
  const heads = [...table.tHead.querySelectorAll("th")];
  const body = table.tBodies[0];
  const create = () => {
    const row = make("tr", { role: "row" });
    heads.forEach((head, place) => {
      const cell = place === 0 ? make("th", { scope: "row", role: "rowheader" }) : make("td", { role: "cell" });
      cell.dataset.head = head.textContent;
      cell.className = head.className;
      row.append(cell);
    });
    return row;
  };
  const update = (row, item) => {
    cellsOf(item).forEach((content, place) => {
      const cell = row.cells[place];
      const given = typeof content === "object" ? content : { text: content };
      if (given.update) return given.update(cell);
      if (given.path) setPath(cell, given.path);
      else setText(cell, given.text);
      cell.className = [heads[place].className, given.class ?? ""].join(" ").trim();
      if (given.title) cell.title = given.title;
    });
  };
  fill(body, items, keyOf, create, update);
  if (items.length === 0) {
    const cell = make("td", { class: "empty", colspan: String(heads.length) }, emptyText);
    body.append(make("tr", {}, cell));
  }
};

// MARK: Requests

class RefusedError extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

const request = async (path, { method = "GET", body, accept = "application/json" } = {}) => {
  const headers = { Accept: accept };
  if (state.token) headers.Authorization = `Bearer ${state.token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, {
    method, headers, body, cache: "no-store", credentials: "omit", redirect: "error",
    signal: AbortSignal.timeout(timeoutMilliseconds),
  });
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw new RefusedError(response.status, problem.detail ?? `status ${response.status}`);
  }
  return response;
};

const read = async (path) => (await request(path)).json();

const change = async (path, method, body) => {
  try {
    await request(path, { method, body: JSON.stringify(body) });
  } catch (error) {
    if (error.status === 401) return askForToken(true);
    byId("link").textContent = `refused: ${error.message}`;
    return;
  }
  poll();
};

// MARK: Polling

const poll = async () => {
  clearTimeout(state.timer);
  if (document.hidden || byId("login").open) return;
  try {
    const isFirst = state.polls === 0;
    const [status, routes, past] = await Promise.all([read("/status"), read("/routes"), isFirst ? read("/history") : undefined]);
    if (document.hidden) return;
    showLink("live", "live");
    if (past) recall(past, status);
    show(status, routes);
    if (state.polls % slowEvery === 0) await pollSlowly();
    state.polls += 1;
    document.body.dataset.polls = String(state.polls);
  } catch (error) {
    if (error.status === 401) return askForToken(state.token !== null);
    showLink("lost", error.status ? `refused: ${error.message}` : "connection lost; trying again");
  }
  clearTimeout(state.timer);
  state.timer = setTimeout(poll, pollMilliseconds);
};

const pollSlowly = async () => {
  await showChains();
  await showReport();
};

const showLink = (kind, text) => {
  byId("link").className = `link ${kind}`;
  setText(byId("link"), text);
};

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    clearTimeout(state.timer);
    showLink("", "paused");
  } else {
    poll();
  }
});

// MARK: The token

const askForToken = (isWrong) => {
  showLink("", "signed out");
  state.token = null;
  sessionStorage.removeItem("dictum-token");
  if (isWrong) setText(byId("login-text"), "This token is not valid.");
  if (!byId("login").open) byId("login").showModal();
};

byId("login-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const token = byId("token").value.trim();
  byId("token").value = "";
  // A field can carry no other characters: the browser would fail at each request, as if the connection were lost.
  if (!/^[\x21-\x7e]+$/.test(token)) return askForToken(true);
  state.token = token;
  sessionStorage.setItem("dictum-token", token);
  byId("login").close();
  poll();
});

// Without a token there is nothing to see.
byId("login").addEventListener("cancel", (event) => event.preventDefault());

// MARK: Showing

const show = (status, report) => {
  remember(status);
  setText(byId("version"), status.version);
  showTiles(status);
  showWarnings(status);
  showCharts();
  showRoutes(report.routes);
  showSlowest(report);
  showUpstreams(status.upstreams);
  showFacts(status);
  showControls(status);
  if (!state.hasConfiguration && byId("config-details").open) showConfiguration();
};

/** Tells that an estimate has fewer than ten samples of some route. */
const isRough = ({ saved_margin: half, plain_basis: basis }) => basis === "sampled" && half === undefined;

/** Returns how exact the estimate of saved bytes is. */
const margin = ({ saved_margin: half, plain_basis: basis }) =>
  basis === "sampled" && half !== undefined ? ` ± ${size(half)}` : "";

const showTiles = (status) => {
  const { bytes, requests } = status;
  const unmodified = requests.not_modified > 0 ? `, but for ${count(requests.not_modified)} that needed none (304)` : "";
  const tiles = [
    {
      key: "saved", kind: "delta", value: percent(bytes.plain > 0 ? bytes.saved / bytes.plain : undefined),
      text: `fewer bytes of bodies than without dictionaries: ${size(bytes.saved)}${margin(bytes)} saved`,
    },
    {
      key: "hits", kind: "delta", value: percent(requests.hit_rate),
      text: `hit rate: ${count(requests.deltas)} deltas in ${count(requests.total)} requests${unmodified}`,
    },
    {
      key: "sent", kind: "", value: size(bytes.sent),
      text: `sent; ${size(bytes.plain)} without dictionaries, ${size(bytes.body)} uncompressed`,
    },
    {
      key: "rate", kind: "", value: `${short(latestRate("requests"))}/s`,
      text: `requests; running for ${duration(status.time - status.start_time)}, ${status.ready ? "ready" : "not ready"}`,
    },
  ];
  const create = ({ kind }) => make("div", { class: `tile ${kind}` }, make("strong"), make("span"));
  fill(byId("tiles"), tiles, ({ key }) => key, create, (tile, { value, text }) => {
    setText(tile.firstElementChild, value);
    setText(tile.lastElementChild, text);
  });
  const rough = isRough(bytes) ? ", fewer than ten of some route: the figure is rough" : "";
  const samples = bytes.samples > 0
    ? ` ${bytes.samples === 1 ? "1 delta was" : `${count(bytes.samples)} deltas were`} sampled${rough}.` : "";
  setText(byId("basis"), (basisTexts[bytes.plain_basis] ?? "") + samples);
};

const showWarnings = ({ warnings, time }) => {
  const grave = warnings.filter(({ severity }) => severity !== "note").length;
  setText(byId("warning-count"), warnings.length === 0 ? "none" : String(warnings.length));
  const others = warnings.slice(warningsMax);
  byId("more-warnings").hidden = others.length === 0;
  setText(byId("more-warnings").firstElementChild, `${others.length} more`);
  fillWarnings("warnings", warnings.slice(0, warningsMax), time);
  fillWarnings("other-warnings", others, time);
  document.title = grave > 0 ? `(${grave}) Dictum` : "Dictum";
};

const fillWarnings = (id, warnings, time) => {
  const create = () =>
    make("li", {}, make("span", { class: "severity" }), make("span", { class: "what" }), make("span", { class: "when" }));
  const sources = { state: "now", configuration: "configuration", log: "log" };
  fill(byId(id), warnings, ({ source, text }) => `${source} ${text}`, create, (item, warning) => {
    item.className = warning.severity;
    const [severity, what, when] = item.children;
    setText(severity, warning.severity);
    setText(what, warning.text);
    const age = warning.time === undefined ? "" : `, ${ago(time - warning.time)}`;
    setText(when, sources[warning.source] + age + (warning.count > 1 ? `, ${count(warning.count)} times` : ""));
  });
};

const showRoutes = (routes) => {
  fillTable("routes", routes, ({ route }) => route, (route) => {
    const { bytes } = route;
    const basis = bytes.plain_basis === "uncompressed" ? " (uncompressed)" : "";
    const saved = bytes.plain > 0 ? bytes.saved / bytes.plain : undefined;
    return [
      { update: (cell) => updateRoute(cell, route) },
      count(route.requests),
      count(route.deltas),
      { update: (cell) => updateShare(cell, route.hit_rate) },
      { text: size(bytes.sent), title: `${count(bytes.sent)} bytes` },
      { text: size(bytes.plain) + basis, title: `${count(bytes.plain)} bytes, ${bytes.plain_basis}${isRough(bytes) ? ", rough" : ""}` },
      {
        text: bytes.plain_basis === "as-sent" ? "–" : percent(saved), title: `${count(bytes.saved)} bytes${margin(bytes)}`,
        class: saved < 0 ? "bad" : bytes.plain_basis === "as-sent" ? "quiet" : "good",
      },
      { update: (cell) => updateReasons(cell, route.reasons) },
    ];
  }, "No routes.");
};

const modeTexts = {
  on: "", off: "dictionaries off", observe: "observed", distrusted: "dictionaries off after an inexact delta",
};

/** Shows the name of a route, and how it differs from a usual one. */
const updateRoute = (cell, { route, configured, dictionaries, built, learned = [] }) => {
  if (!cell.firstElementChild) cell.append(make("span"), make("small"));
  setPath(cell.firstElementChild, route === "none" ? "no route" : route);
  const mode = route === "none" ? "" : configured ? modeTexts[dictionaries] ?? dictionaries : "former";
  const first = built && `${count(built.responses)} over the built dictionary, ${size(built.body_bytes)} as ${size(built.sent_bytes)}`;
  const hosts = learned.map(({ host, reason, bytes }) => `${host}: ${bytes ? `learned ${size(bytes)}, ` : ""}${reason ?? "no step yet"}`);
  setText(cell.lastElementChild, [mode, first, ...hosts].filter(Boolean).join("; "));
};

/** Shows a share as a number and a bar. */
const updateShare = (cell, share) => {
  if (!cell.firstElementChild) {
    const bar = drawing("svg", { class: "share", viewBox: "0 0 84 6", "aria-hidden": "true" });
    bar.append(
      drawing("rect", { class: "rest", width: 84, height: 6, rx: 3 }), drawing("rect", { class: "part", height: 6, rx: 3 }));
    cell.append(make("span"), bar);
  }
  setText(cell.firstElementChild, percent(share));
  cell.querySelector(".part").setAttribute("width", String(84 * (share ?? 0)));
};

const updateReasons = (cell, reasons) => {
  cell.className = "reasons";
  if (reasons.length === 0) return cell.replaceChildren(make("span", {}, "–"));
  if (!cell.querySelector("details")) cell.replaceChildren(make("details", {}, make("summary"), make("ul")));
  const [first, ...others] = reasons;
  const more = others.length > 0 ? `, ${others.length} more` : "";
  setText(cell.querySelector("summary"), `${first.reason}: ${count(first.requests)}${more}`);
  const create = () => make("li", {}, make("span"), make("small"));
  fill(cell.querySelector("ul"), reasons, ({ reason }) => reason, create, (item, { reason, requests }) => {
    setText(item.firstElementChild, `${reason}: ${count(requests)}`);
    setText(item.lastElementChild, reasonTexts[reason] ?? "");
  });
};

const showSlowest = ({ routes, time }) => {
  const all = routes.flatMap((route) => route.slowest_codings.map((coding) => ({ ...coding, route: route.route })));
  all.sort((one, other) => other.seconds - one.seconds);
  const keyOf = (coding) => [coding.route, coding.coding, coding.seconds, coding.time].join(" ");
  fillTable("slowest", all.slice(0, 12), keyOf, (coding) => [
    { path: coding.route === "none" ? "no route" : coding.route }, coding.coding, elapsed(coding.seconds), size(coding.body_bytes),
    size(coding.sent_bytes), ago(time - coding.time),
  ], "Nothing was coded in the last ten minutes.");
};

const showUpstreams = (upstreams) => {
  const keyOf = ({ name, url, address }) => `${name} ${url} ${address}`;
  fillTable("upstreams", upstreams, keyOf, ({ name, url, address, healthy }) => [
    name || "upstream", { text: url, class: "break" }, address,
    { text: healthy ? "up" : "down", class: healthy ? "good" : "bad" },
  ], "No upstreams.");
};

const showFacts = ({ store, memory, connections, coding_seconds: seconds, requests, reloads }) => {
  const of = (part, whole) => `${size(part)} of ${size(whole)}`;
  const sum = (counts) => Object.values(counts).reduce((total, number) => total + number, 0);
  const facts = [
    ["Store on disk", of(store.disk_bytes, store.max_disk_bytes)],
    ["Versions", count(store.versions)],
    ["Chains", `${count(store.chains)} of ${count(store.max_chains)}`],
    ["Versions evicted", count(sum(store.evictions))],
    ["Bodies in memory", size(store.memory_bytes + store.packed_bytes)],
    ["Resident memory", memory.resident_bytes === undefined ? "–" : size(memory.resident_bytes)],
    ["Budgets of memory", of(memory.used_bytes, memory.max_bytes)],
    ...Object.entries(memory.budgets).map(([name, budget]) => [`memory.${name}`, of(budget.used_bytes, budget.max_bytes)]),
    ["Encoder time", `${short(sum(seconds))} s`],
    ["Client connections", `${count(connections.client.active)} active, ${count(connections.client.idle)} idle`],
    ["Upstream connections", `${count(connections.upstream.active)} active, ${count(connections.upstream.idle)} idle`],
    ["Responses 5xx", count(requests.by_status["5xx"] ?? 0)],
    ["Requests refused", count(sum(requests.rejected))],
    ["Reloads", `${count(reloads.done ?? 0)} done, ${count(reloads.refused ?? 0)} refused`],
  ];
  const create = ([name]) => make("div", {}, make("dt", {}, name), make("dd"));
  fill(byId("facts"), facts, ([name]) => name, create, (item, [, value]) => setText(item.lastElementChild, value));
};

// MARK: Controls

const showControls = ({ log_level: level, dictionaries }) => {
  if (document.activeElement !== byId("level")) byId("level").value = level;
  state.dictionaries = dictionaries;
  byId("switch").hidden = !dictionaries.configured;
  setText(byId("switch"), dictionaries.on ? "Switch dictionaries off" : "Switch dictionaries on");
};

byId("level-form").addEventListener("submit", (event) => event.preventDefault());
byId("level").addEventListener("change", () => change("/log-level", "PUT", { level: byId("level").value }));
byId("switch").addEventListener("click", () => {
  const isOn = state.dictionaries.on;
  if (isOn && !confirm("Switch all use of dictionaries off, until a reload or a restart?")) return;
  change(isOn ? "/dictionaries/off" : "/dictionaries/on", "POST", {});
});

// MARK: Chains

const showChains = async () => {
  const { order, offset, limit } = state.chains;
  const page = await read(`/chains?order=${order}&offset=${offset}&limit=${limit}`);
  state.chains.total = page.total;
  const keyOf = ({ authority, match, match_dest: destinations }) => [authority, match, ...destinations].join(" ");
  fillTable("chains", page.chains, keyOf, (chain) => [
    chain.authority,
    { path: chain.match + (chain.match_dest.length > 0 ? ` (${chain.match_dest.join(", ")})` : ""), class: "break" },
    count(chain.versions),
    (chain.holders_partial ? "at least " : "") + count(chain.holders),
    { text: size(chain.stored_bytes), title: `${count(chain.stored_bytes)} bytes` },
    chain.newest_age_seconds === undefined ? "–" : ago(chain.newest_age_seconds),
    ago(chain.wanted_age_seconds),
  ], "No chains yet.");
  const last = offset + page.chains.length;
  setText(byId("range"), page.total > 0 ? `${count(Math.min(offset + 1, last))} to ${count(last)} of ${count(page.total)}` : "");
  byId("former").disabled = offset === 0;
  byId("next").disabled = last >= page.total;
  const hidden = page.private;
  setText(byId("private"), hidden.chains > 0
    ? `${count(hidden.chains)} more chains with ${count(hidden.versions)} versions (${size(hidden.stored_bytes)}) belong to one client each. They are only counted.`
    : "");
};

const turnTo = (offset) => {
  state.chains.offset = Math.max(0, offset);
  showChains().catch(() => poll());
};

byId("chains-form").addEventListener("submit", (event) => event.preventDefault());
byId("former").addEventListener("click", () => turnTo(state.chains.offset - state.chains.limit));
byId("next").addEventListener("click", () => turnTo(state.chains.offset + state.chains.limit));
byId("order").addEventListener("change", () => {
  state.chains.order = byId("order").value;
  turnTo(0);
});

// MARK: Observed routes and the configuration

/** Shows the observed routes of /report. */
const showReport = async () => {
  const report = await read("/report");
  const routes = report.routes.filter(({ observed }) => observed);
  byId("report-section").hidden = routes.length === 0;
  fillTable("report", routes, ({ route }) => route, ({ route, mode, observed }) => {
    const { measured } = observed;
    const mean = (bytes) => (measured.count > 0 ? size(bytes / measured.count) : "–");
    const list = (counts, name) => Object.entries(counts).map(([reason, requests]) => ({ reason: name(reason), requests }));
    // Which responses no browser keeps is said by their own reasons.
    const { unkept, ...lacks } = observed.lacks;
    const obstacles = [
      ...list(lacks, (lack) => lack), ...list(observed.obstacles, (reason) => reason),
      ...list(observed.unkept, (reason) => `kept by no browser (${reason})`),
    ];
    return [
      { path: route + (mode === "observe" ? "" : ` (${mode} now)`) },
      count(observed.responses),
      count(observed.returns),
      { update: (cell) => updateShare(cell, observed.returns > 0 ? observed.deltas / observed.returns : undefined) },
      mean(measured.delta_bytes),
      mean(measured.plain_bytes),
      measured.plain_bytes > 0 ? percent(1 - measured.delta_bytes / measured.plain_bytes) : "–",
      { update: (cell) => updateReasons(cell, obstacles.sort((one, other) => other.requests - one.requests)) },
    ];
  }, "");
  const cost = report.observing;
  setText(byId("observing"), cost
    ? `"Would save" compares deltas with the best coding without a dictionary. Observing took ${percent(cost.cpu_used)} of one core; ${percent(cost.client_share)} of the clients are observed.`
    : "");
};

const showConfiguration = async () => {
  state.hasConfiguration = true;
  try {
    setText(byId("config"), await (await request("/config", { accept: "application/yaml" })).text());
  } catch (error) {
    state.hasConfiguration = false;
    setText(byId("config"), error.message);
  }
};

byId("config-details").addEventListener("toggle", () => {
  // Each opening reads it again, because a reload may have changed it.
  if (byId("config-details").open) showConfiguration();
});

// MARK: History

/** Begins the history with what the proxy has kept of the past minutes. */
const recall = ({ points }, { start_time: start }) => {
  const now = performance.now();
  state.history = points.map((point) => ({
    now: now - point.age_seconds * 1000, start, requests: point.requests, deltas: point.deltas, unmodified: point.not_modified,
    sent: point.sent_bytes, plain: point.plain_bytes, coding: point.coding_seconds,
  }));
};

const remember = (status) => {
  const now = performance.now();
  const sum = Object.values(status.coding_seconds).reduce((total, seconds) => total + seconds, 0);
  const point = {
    now, start: status.start_time, requests: status.requests.total, deltas: status.requests.deltas,
    unmodified: status.requests.not_modified, sent: status.bytes.sent, plain: status.bytes.plain, coding: sum,
  };
  const last = state.history.at(-1);
  // After a restart all totals begin again.
  if (last && (last.start !== point.start || last.requests > point.requests)) state.history = [];
  state.history.push(point);
  while (state.history.length > 2 && now - state.history[0].now > historyMilliseconds) state.history.shift();
};

/** Returns the rate per second of a total, at each poll but the first. */
const rates = (key) => state.history.slice(1).map((point, place) => {
  const former = state.history[place];
  return { now: point.now, value: Math.max(0, (point[key] - former[key]) / ((point.now - former.now) / 1000)) };
});

const latestRate = (key) => rates(key).at(-1)?.value ?? 0;

// MARK: Charts

const drawing = (name, attributes = {}) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  return node;
};

const charts = [
  {
    title: "Requests per second", first: "deltas", second: "all", format: short,
    lines: () => [rates("deltas"), rates("requests")],
  },
  {
    title: "Bytes per second", first: "sent", second: "without dictionaries", format: size, base: 1024,
    lines: () => [rates("sent"), rates("plain")],
  },
  {
    title: "Hit rate", first: "share of deltas", most: 1, format: percent,
    lines: () => {
      const [requests, unmodified] = [rates("requests"), rates("unmodified")];
      return [rates("deltas").map(({ now, value }, place) => {
        const others = requests[place].value - unmodified[place].value;
        return { now, value: others > 0 ? Math.min(1, value / others) : undefined };
      })];
    },
  },
  {
    title: "Encoder time", first: "share of one core", format: percent,
    lines: () => [rates("coding")],
  },
];

const box = { width: 300, height: 116, left: 6, right: 6, top: 14, bottom: 16 };

/** Returns the least of 1, 2 and 5 times a power of ten, in units of a power of `base`, that is not below a number. */
const niceMost = (number, base = 10) => {
  if (!(number > 0)) return 1;
  const unit = base ** Math.floor(Math.log(Math.max(1, number)) / Math.log(base));
  const power = 10 ** Math.floor(Math.log10(number / unit)) * unit;
  return [1, 2, 5, 10].map((factor) => factor * power).find((most) => most >= number * 0.999);
};

const showCharts = () => {
  const create = (chart) => {
    const key = make("div", { class: "key" }, make("span", {}, chart.first));
    if (chart.second) key.append(make("span", { class: "second" }, chart.second));
    const caption = make("figcaption", {}, chart.title, make("span"));
    return make("figure", {}, caption, drawing("svg", { viewBox: `0 0 ${box.width} ${box.height}`, role: "img" }), key);
  };
  fill(byId("charts"), charts, ({ title }) => title, create, (figure, chart) => {
    const lines = chart.lines();
    const latest = lines[0].at(-1)?.value;
    const text = latest === undefined ? "–" : chart.format(latest);
    setText(figure.querySelector("figcaption span"), text);
    const svg = figure.querySelector("svg");
    svg.setAttribute("aria-label", `${chart.title}: now ${text}`);
    svg.replaceChildren(...chartMarks(chart, lines));
  });
};

const chartMarks = (chart, lines) => {
  const end = state.history.at(-1)?.now ?? 0;
  const span = Math.min(historyMilliseconds, Math.max(shortMilliseconds, end - (state.history[0]?.now ?? 0)));
  const values = lines.flat().flatMap(({ value }) => (value === undefined ? [] : [value]));
  const most = chart.most ?? niceMost(Math.max(0, ...values), chart.base);
  const x = (now) => box.width - box.right - ((end - now) / span) * (box.width - box.left - box.right);
  const y = (value) => box.height - box.bottom - (value / most) * (box.height - box.top - box.bottom);
  const marks = [0, 0.5, 1].map((part) => drawing("line", {
    class: "grid", x1: box.left, x2: box.width - box.right, y1: y(part * most), y2: y(part * most),
  }));
  const label = (text, attributes) => {
    const node = drawing("text", attributes);
    node.textContent = text;
    return node;
  };
  marks.push(
    label(chart.format(most), { x: box.left, y: box.top - 3 }),
    label(ago(Math.round(span / 1000)), { x: box.left, y: box.height - 3 }),
    label("now", { x: box.width - box.right, y: box.height - 3, "text-anchor": "end" }));
  const points = (line) => line.map(({ now, value }) => `${x(now).toFixed(1)},${y(value).toFixed(1)}`);
  lines.map((line) => line.filter(({ value }) => value !== undefined)).forEach((line, place) => {
    if (line.length === 0) return;
    const kind = place === 0 ? "first" : "second";
    if (place === 0) {
      const base = y(0).toFixed(1);
      const area = [`${x(line[0].now).toFixed(1)},${base}`, ...points(line), `${x(line.at(-1).now).toFixed(1)},${base}`];
      marks.push(drawing("polygon", { class: "first area", points: area.join(" ") }));
    }
    marks.push(drawing("polyline", { class: `${kind} line`, points: points(line).join(" ") }));
  });
  return marks;
};

poll();
