"use strict";
// Has the browser keep a response of each path as a dictionary:
//     <script src="/.dictum/own.js" data-paths="/api/feed /api/inbox" async></script>
// localStorage["dictum-own"] has, for each path, when it was fetched and until when it lives, in milliseconds.
(() => {
  // What a browser without dictionaries fetched would be of no use to it.
  if (!document.createElement("link").relList.supports("compression-dictionary")) return;
  const paths = (document.currentScript?.dataset.paths ?? "").split(/\s+/).filter((path) => /^\/(?!\/)[^#]*$/.test(path))
    // As the browser writes them in the entries below: a page may name /ü for /%C3%BC.
    .map((path) => new URL("https://host" + path)).map(({ pathname, search }) => pathname + search);
  // The key in the storage, and the parameter that makes the URL of a path its twin URL.
  const name = "dictum-own";
  const twin = (path) => path + (path.includes("?") ? "&" : "?") + name;
  // Where storage is blocked or full, the script remembers for as long as the page is open.
  let kept = {}, isBlocked = false;
  const read = () => {
    if (isBlocked) return kept;
    try { kept = JSON.parse(localStorage.getItem(name)) ?? {}; } catch { /* See above. */ }
    return kept;
  };
  const write = (path, times) => {
    // An hour after its end nothing needs an entry, and it names a path that the user has visited.
    const known = Object.entries(read()).filter(([, former]) => former?.until > Date.now() - 3600_000);
    kept = { ...Object.fromEntries(known), [path]: times };
    try { localStorage.setItem(name, JSON.stringify(kept)); } catch { isBlocked = true; }
  };

  const idle = (work) => (window.requestIdleCallback ?? ((later) => setTimeout(later, 200)))(work);
  const loaded = new Promise((done) => {
    if (document.readyState === "complete") done(); else addEventListener("load", done, { once: true });
  });
  const busy = new Set();

  const fetchTwin = async (path) => {
    busy.add(path);
    const at = Date.now(), former = read()[path];
    // A path that gives no dictionary is asked again after a minute, and then later and later, up to ten minutes.
    let life = former?.gives === false ? Math.min((former.until - former.at) / 500, 600) : 60, gives = false;
    try {
      // From this host, whatever the page's base is; where a redirect leads is no response of the path.
      const response = await fetch(location.origin + twin(path), { cache: "reload", priority: "low", redirect: "manual" });
      const age = /max-age=(\d+)/.exec(response.headers.get("Cache-Control"))?.[1];
      // Without that field it is the response of the path itself: something in front has changed the query.
      if (age >= 60 && response.headers.has("Use-As-Dictionary")) { life = Number(age); gives = true; }
      await response.arrayBuffer();
    } catch { /* The page is gone, or the network. */ }
    write(path, { at, until: at + life * 1000, gives });
    busy.delete(path);
  };
  const consider = (path, isWanted) => {
    if (navigator.connection?.saveData || busy.has(path) || !isWanted(read()[path])) return;
    busy.add(path);
    // Meanwhile another tab may have fetched it.
    loaded.then(() => idle(() => { if (isWanted(read()[path])) fetchTwin(path); else busy.delete(path); }));
  };
  const isOver = (times) => !(times?.until > Date.now() && times.at <= Date.now());
  // One that is not over is replaced after a part of its life at the earliest: soon where it brings no delta at all.
  const isWorn = (parts) => (times) =>
    isOver(times) || times.gives && Date.now() - times.at > (times.until - times.at) / parts;

  for (const path of paths) consider(path, isOver);
  // The browser or the proxy has dropped the dictionary. A 304 has the size of its fields alone, 300 by the standard.
  const isLost = (entry) =>
    entry.transferSize > 300 && entry.encodedBodySize > 2048 && /^(?!dc[bz])/.test(entry.contentEncoding ?? "dcb");
  // The proxy says that deltas have become long.
  const isLong = (entry) => entry.serverTiming?.some((metric) => metric.name === "dictum-renew");
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { origin, pathname, search } = new URL(entry.name);
      const path = paths.find((path) => path === pathname + search) ?? paths.find((path) => path === pathname);
      // Twin URLs have the path, too.
      if (!path || origin !== location.origin || search.endsWith(name)) continue;
      if (isLost(entry)) consider(path, isWorn(96)); else if (isLong(entry)) consider(path, isWorn(24));
    }
  });
  // The page itself may be among the paths.
  for (const type of ["resource", "navigation"]) observer.observe({ type, buffered: true });
})();
