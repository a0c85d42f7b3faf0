"use strict";
// The server makes the page. This script fetches it again and changes only what differs. It sets
// texts by textContent, and copies nodes from a parsed document, in which no script runs.
(() => {
  // A long search may take a while. But if nothing answers, the page says so within 5 s of the last
  // answer.
  const every = 2000, look = 250, warnAfter = 2000, patience = 30000;
  const live = document.getElementById("live");
  const button = document.getElementById("pause");
  let paused = false, busy = false, heard = new Date(), asked = heard;

  const attributes = ["class", "href", "datetime", "data-value", "aria-label", "x", "y", "height"];

  // keyOf returns the link of a row. It identifies the row, because each row belongs to one timer
  // or topic.
  function keyOf(node) {
    const link = ["TR", "LI"].includes(node.nodeName) && node.querySelector("a");
    return link ? link.getAttribute("href") : null;
  }

  // rowsOf returns the old rows of each key. It removes rows that are gone, so that the others stay
  // where they are. A row that is moved would lose the focus.
  function rowsOf(old, news) {
    const wanted = new Set(news.map(keyOf)), rows = new Map();
    for (const node of Array.from(old.childNodes)) {
      const key = keyOf(node);
      if (key !== null && !wanted.has(key))
        node.remove();
      else if (key !== null)
        rows.set(key, (rows.get(key) || []).concat(node));
    }
    return rows;
  }

  function syncChildren(old, news) {
    const rows = rowsOf(old, news);
    let at = old.firstChild;
    const pass = () => { const node = at; at = at.nextSibling; return node; };
    for (const fresh of news) {
      const key = keyOf(fresh);
      let match = ((key !== null && rows.get(key)) || []).shift();
      while (match && at && at !== match && keyOf(at) === null)
        pass().remove();
      if (key === null && at && keyOf(at) === null)
        match = at;
      if (match && match === at)
        pass();
      else
        old.insertBefore(match || document.importNode(fresh, true), at);
      if (match)
        sync(match, fresh);
    }
    while (at)
      pass().remove();
  }

  function sync(old, fresh) {
    if (old.isEqualNode(fresh) || (old.dataset && old.dataset.keep !== undefined))
      return;
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
      old.replaceWith(document.importNode(fresh, true));
      return;
    }
    if (old.nodeType === Node.TEXT_NODE) {
      old.textContent = fresh.textContent;
      return;
    }
    for (const name of attributes) {
      const value = fresh.getAttribute(name);
      if (value === null)
        old.removeAttribute(name);
      else if (old.getAttribute(name) !== value)
        old.setAttribute(name, value);
    }
    syncChildren(old, Array.from(fresh.childNodes));
  }

  // syncMain keeps the focus on its link. If the link is gone, the nearest parent that can have the
  // focus gets it.
  function syncMain(fresh) {
    const around = [];
    for (let node = document.activeElement; node && node !== document.body;
         node = node.parentElement)
      around.push(node);
    sync(document.getElementById("main"), fresh);
    const stays = around.find((node) => node.isConnected &&
      (node.tabIndex >= 0 || node.hasAttribute("tabindex")));
    if (stays && stays !== document.activeElement)
      stays.focus({preventScroll: true});
  }

  function say(text, lost) {
    if (live.textContent !== text)
      live.textContent = text;
    live.parentElement.classList.toggle("lost", lost);
  }

  // lose shows at the top and in the title that the numbers are old. The next answer replaces these
  // texts.
  function lose() {
    const since = "No answer since " + heard.toISOString().slice(11, 19) + " UTC";
    const banner = document.querySelector(".banner"), words = since + ": these numbers are old";
    say(since, true);
    document.title = since + " - durawheel";
    if (banner.textContent !== words)
      banner.textContent = words;
    banner.className = "banner bad";
    document.getElementById("main").className = "old";
  }

  function watch() {
    if (busy && !paused && new Date() - asked > warnAfter)
      lose();
  }

  function show(fresh) {
    syncMain(fresh.getElementById("main"));
    document.title = fresh.title;
    heard = new Date();
    say("Updated every 2 s", false);
  }

  // tick leaves the page as it is if it was paused while the answer was on its way.
  async function tick() {
    if (paused || busy || document.hidden)
      return;
    busy = true;
    asked = new Date();
    try {
      const answer = await fetch(location.href, {
        cache: "no-store", signal: AbortSignal.timeout(patience)});
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!fresh.getElementById("main"))
        throw new Error("not the page");
      if (!paused)
        show(fresh);
    } catch (fault) {
      if (!paused)
        lose();
    }
    busy = false;
  }

  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? "Go on" : "Pause";
    if (paused)
      say("Paused at " + heard.toISOString().slice(11, 19) + " UTC", false);
    else
      tick();
  });
  document.addEventListener("visibilitychange", tick);
  say("Updated every 2 s", false);
  setInterval(tick, every);
  setInterval(watch, look);
})();
