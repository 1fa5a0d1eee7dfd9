// The script of gate's page. It asks the server that it came from and nobody else, keeps
// its key for this tab, and shows what the server's templates made.
"use strict";

const keyName = "gate-page-key";
const keyHeader = "Gate-Page-Key";
const mostRows = 500;
const main = document.getElementById("main");
const said = document.getElementById("said");
let feed = null; // of the view that is shown
let shown = ""; // the address of the view
let asked = 0; // views, so that a late answer does not replace a newer one

// say has a screen reader say something.
function say(text) { said.textContent = text; }

function headers() { return { [keyHeader]: sessionStorage.getItem(keyName) || "" }; }

// parsed makes nodes of a part of the page that the server made.
function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html").body;
}

function show(where, html) { where.replaceChildren(...parsed(html).childNodes); }

// ask fetches a part of the page. Whatever the status is, the server says it in words.
async function ask(path, options) {
  try {
    const res = await fetch(path, { ...options, headers: { ...headers(), ...(options || {}).headers }, cache: "no-store", credentials: "omit", redirect: "error" });
    if (res.status === 401) sessionStorage.removeItem(keyName);
    return { status: res.status, text: await res.text() };
  } catch (e) {
    return { status: 0, text: '<div class="refusal" role="alert"><h1>No answer</h1><p>gate serve does not answer. Is it still running?</p></div>' };
  }
}

// load shows the view of the address.
async function load(keep) {
  const mine = ++asked;
  stopFeed();
  shown = location.pathname + location.search;
  const path = location.pathname === "/ui" || location.pathname === "/ui/" ? "/ui/now" : location.pathname;
  main.setAttribute("aria-busy", "true");
  const res = await ask(path + ".html" + location.search);
  if (mine !== asked) return;
  main.removeAttribute("aria-busy");
  show(main, res.text);
  const title = main.querySelector("h1");
  document.title = (title ? title.textContent.trim() + " – " : "") + "gate";
  for (const a of document.querySelectorAll("header nav a")) {
    const here = path === a.pathname || path.startsWith(a.pathname + "/") || path.startsWith("/ui/decision/") && a.pathname === "/ui/now" || path.startsWith("/ui/coverage/") && a.pathname === "/ui/policies";
    if (here) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
  }
  const open = res.status !== 401 && res.status !== 0;
  document.getElementById("close").hidden = !open;
  document.getElementById("json").hidden = !open || path === "/ui/try";
  document.getElementById("json").setAttribute("href", path + ".json" + location.search);
  if (!keep) { main.focus({ preventScroll: true }); scrollTo(0, 0); }
  say(document.title);
  const button = main.querySelector("[data-feed]");
  if (button) startFeed(button, button.dataset.feed);
}

function go(address) {
  history.pushState(null, "", address);
  load();
}

// startFeed adds calls to the list as they are decided.
function startFeed(button, after) {
  stopFeed();
  const control = new AbortController();
  const mine = feed = { control, rows: [], drawn: 0, news: 0, after };
  const state = main.querySelector("[data-feed-state]");
  button.setAttribute("aria-pressed", "true");
  state.textContent = "waits for calls";
  const query = new URLSearchParams(location.search);
  query.set("after", after);
  read(mine, state, "/ui/feed?" + query).catch(() => false).then(() => {
    if (feed !== mine || control.signal.aborted) return;
    state.textContent = "the feed has ended; it is tried again";
    setTimeout(() => { if (feed === mine) startFeed(button, mine.after); }, 2000);
  });
}

async function read(mine, state, address) {
  const res = await fetch(address, { headers: headers(), signal: mine.control.signal, cache: "no-store", credentials: "omit", redirect: "error" });
  if (!res.ok) {
    if (res.status === 401) { load(true); return; }
    throw new Error(String(res.status));
  }
  const decoder = new TextDecoder();
  const reader = res.body.getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") continue;
      const item = JSON.parse(line);
      mine.after = item.call.begun;
      mine.rows.push(item.html);
    }
    if (mine.rows.length > mostRows) { // nothing is drawn in a tab that nobody sees
      const over = mine.rows.length - mostRows;
      mine.rows.splice(0, over);
      mine.news += over;
    }
    if (mine.rows.length > 0 && !mine.drawn) mine.drawn = requestAnimationFrame(() => draw(mine, state));
  }
}

// draw puts the rows that came since the last picture on top of the list.
function draw(mine, state) {
  mine.drawn = 0;
  const body = main.querySelector("table.calls tbody");
  if (feed !== mine || !body) return;
  const fresh = parsed("<table><tbody>" + mine.rows.reverse().join("") + "</tbody></table>").querySelectorAll("tr");
  mine.rows = [];
  let added = 0;
  const rows = [];
  for (const row of fresh) {
    if (body.querySelector('tr[data-id="' + CSS.escape(row.dataset.id) + '"]')) continue;
    row.classList.add("fresh");
    rows.push(row);
    added++;
  }
  body.prepend(...rows);
  while (body.rows.length > mostRows) body.deleteRow(-1);
  setTimeout(() => rows.forEach((row) => row.classList.remove("fresh")), 1500);
  const empty = main.querySelector("[data-empty]");
  if (empty && added > 0) empty.remove();
  mine.news += added;
  state.textContent = mine.news + (mine.news === 1 ? " new call" : " new calls");
}

function stopFeed() {
  if (feed) feed.control.abort();
  feed = null;
}

// A view's own links and forms stay on this page; nothing is ever sent by the browser
// itself.
document.addEventListener("click", (e) => {
  const button = e.target.closest("button");
  if (button && button.dataset.feed !== undefined) {
    if (button.getAttribute("aria-pressed") === "true") {
      const after = feed ? feed.after : button.dataset.feed;
      stopFeed();
      button.dataset.feed = after;
      button.setAttribute("aria-pressed", "false");
      main.querySelector("[data-feed-state]").textContent = "paused";
    } else {
      startFeed(button, button.dataset.feed);
    }
    return;
  }
  if (button && button.dataset.load !== undefined) { loadInto(button); return; }
  if (button && button.dataset.measure !== undefined) { measure(button); return; }
  if (button && button.id === "close") {
    ask("/ui/close", { method: "POST" }).then(() => { sessionStorage.removeItem(keyName); load(); });
    return;
  }
  const a = e.target.closest("a");
  if (!a || a.origin !== location.origin || e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0 || !a.pathname.startsWith("/ui/")) return;
  if (a.hash && a.pathname === location.pathname) return;
  e.preventDefault();
  if (a.id === "json") { showJSON(a.getAttribute("href")); return; }
  go(a.href);
});

// loadInto shows what a button stands for below it. Its heading is that of the view.
async function loadInto(button) {
  const answer = button.closest("p").nextElementSibling;
  button.disabled = true;
  answer.setAttribute("aria-busy", "true");
  answer.textContent = "…";
  const res = await ask(button.dataset.load);
  const part = parsed(res.text);
  if (res.status === 200) part.querySelector("h1").remove();
  answer.replaceChildren(...part.childNodes);
  answer.removeAttribute("aria-busy");
  button.disabled = false;
}

// measure asks for the coverage of each policy of the list, one after the other, until the
// view is left or the button is pressed again.
async function measure(button) {
  const said = main.querySelector("[data-measured]");
  if (button.dataset.measure === "on") { button.dataset.measure = ""; return; }
  const mine = asked;
  const text = button.textContent;
  const cells = [...main.querySelectorAll("td[data-coverage]")];
  button.dataset.measure = "on";
  button.textContent = "Stop";
  let done = 0;
  for (const cell of cells) {
    if (mine !== asked || button.dataset.measure !== "on") break;
    said.textContent = done + " of " + cells.length;
    const res = await ask(cell.dataset.coverage);
    let short = "not measured";
    try { const doc = JSON.parse(res.text); short = doc.short || doc.message; } catch (e) { /* no answer */ }
    cell.textContent = short;
    done++;
    if (res.status === 401 || res.status === 0) break;
  }
  button.dataset.measure = "";
  button.textContent = text;
  said.textContent = done + " of " + cells.length + " measured";
}

document.addEventListener("submit", async (e) => {
  e.preventDefault();
  const form = e.target;
  const fields = new URLSearchParams(new FormData(form));
  if (form.dataset.post) {
    const answer = form.parentNode.querySelector("[data-answer]");
    answer.setAttribute("aria-busy", "true");
    const res = await ask(form.dataset.post, { method: "POST", body: fields });
    answer.removeAttribute("aria-busy");
    show(answer, res.text);
    return;
  }
  for (const [name, value] of [...fields]) if (value === "") fields.delete(name);
  const query = fields.toString();
  go(location.pathname + (query ? "?" + query : ""));
});

// showJSON shows what programs get: a link could not send the key.
async function showJSON(address) {
  const res = await ask(address);
  stopFeed();
  asked++;
  const pre = document.createElement("pre");
  const code = document.createElement("code");
  try { code.textContent = JSON.stringify(JSON.parse(res.text), null, 2); } catch (e) { code.textContent = res.text; }
  pre.className = "code";
  pre.tabIndex = 0;
  pre.setAttribute("aria-label", "JSON");
  pre.append(code);
  const h1 = document.createElement("h1");
  h1.textContent = address;
  main.replaceChildren(h1, pre);
  main.focus();
}

addEventListener("popstate", () => { if (location.pathname + location.search !== shown) load(); });
addEventListener("hashchange", () => { if (location.hash.startsWith("#key=")) begin(); });

// begin exchanges an invitation for a key. The invitation leaves the address first.
async function begin() {
  const invitation = new URLSearchParams(location.hash.slice(1)).get("key");
  if (invitation !== null) {
    history.replaceState(null, "", location.pathname + location.search);
    const res = await ask("/ui/key", { method: "POST", body: new URLSearchParams({ invitation }) });
    if (res.status !== 200) {
      let why = "gate serve does not answer. Is it still running?";
      try { why = JSON.parse(res.text).message; } catch (e) { /* it did not answer */ }
      if (!sessionStorage.getItem(keyName)) {
        const h1 = document.createElement("h1");
        const p = document.createElement("p");
        h1.textContent = "No key";
        p.textContent = why;
        p.setAttribute("role", "alert");
        main.replaceChildren(h1, p);
        return;
      }
    } else {
      sessionStorage.setItem(keyName, JSON.parse(res.text).key);
    }
  }
  load(true);
}

begin();
