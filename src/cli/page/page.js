"use strict";
// The server makes the page. This fetches it again, and changes what differs: texts by
// textContent; nodes of a parsed document, in which no script runs.
(() => {
  const every = 2000, warnAfter = 4000, patience = 30000; // a long search takes a while
  const live = document.getElementById("live");
  const button = document.getElementById("pause");
  let paused = false, busy = false, heard = new Date(), asked = heard;

  const attributes = ["class", "href", "datetime", "data-value", "aria-label"];

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
    const news = Array.from(fresh.childNodes);
    news.slice(old.childNodes.length).forEach(
      (node) => old.append(document.importNode(node, true)));
    while (old.childNodes.length > news.length)
      old.lastChild.remove();
    Array.from(old.childNodes).forEach((node, i) => sync(node, news[i]));
  }

  function say(text, lost) {
    if (live.textContent !== text)
      live.textContent = text;
    live.parentElement.classList.toggle("lost", lost);
  }

  function lose() {
    say("No answer since " + heard.toISOString().slice(11, 19) + " UTC", true);
  }

  async function tick() {
    if (busy && new Date() - asked > warnAfter)
      lose();
    if (paused || busy || document.hidden)
      return;
    busy = true;
    asked = new Date();
    try {
      const answer = await fetch(location.href, {
        cache: "no-store", signal: AbortSignal.timeout(patience)});
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const main = fresh.getElementById("main");
      if (!main)
        throw new Error("not the page");
      sync(document.getElementById("main"), main);
      document.title = fresh.title;
      heard = new Date();
      say("Updated every 2 s", false);
    } catch (fault) {
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
})();
