// The script of gate's page, behind look.js: the live feed, the parts of a view that are
// asked for by a button, and the exchange of an invitation for a key.
"use strict";

const mostRows = 500;
let feed = null; // of the view that is shown

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

document.addEventListener("leave", stopFeed);
document.addEventListener("shown", () => {
  const button = main.querySelector("[data-feed]");
  if (button) startFeed(button, button.dataset.feed);
});
document.addEventListener("click", (e) => {
  const button = e.target.closest("button");
  if (!button) return;
  if (button.dataset.load !== undefined) { loadInto(button); return; }
  if (button.dataset.measure !== undefined) { measure(button); return; }
  if (button.dataset.feed === undefined) return;
  if (button.getAttribute("aria-pressed") === "true") {
    const after = feed ? feed.after : button.dataset.feed;
    stopFeed();
    button.dataset.feed = after;
    button.setAttribute("aria-pressed", "false");
    main.querySelector("[data-feed-state]").textContent = "paused";
  } else {
    startFeed(button, button.dataset.feed);
  }
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

addEventListener("hashchange", () => { if (location.hash.startsWith("#key=")) begin(); });

// begin exchanges an invitation for a key. The invitation leaves the address first.
async function begin() {
  const invitation = new URLSearchParams(location.hash.slice(1)).get("key");
  if (invitation !== null) {
    history.replaceState(null, "", location.pathname + location.search);
    const res = await ask("/ui/key", { method: "POST", body: new URLSearchParams({ invitation }) });
    if (res.status !== 200) {
      let why = own.silent;
      try { why = JSON.parse(res.text).message; } catch (e) { /* it did not answer */ }
      if (!sessionStorage.getItem(own.key)) {
        const h1 = document.createElement("h1");
        const p = document.createElement("p");
        h1.textContent = "No key";
        p.textContent = why;
        p.setAttribute("role", "alert");
        main.replaceChildren(h1, p);
        return;
      }
    } else {
      sessionStorage.setItem(own.key, JSON.parse(res.text).key);
    }
  }
  load(true);
}

begin();
