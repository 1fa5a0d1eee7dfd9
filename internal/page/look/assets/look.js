// The script that gate's pages share. It asks the server that it came from and nobody
// else, keeps its key for this tab, and shows what the server's templates made.
//
// The body says what is a page's own: data-home is its first view, data-name its name,
// data-silent what it says when nobody answers, data-key where the key lies in
// sessionStorage, data-header the header that takes it to the server, data-scheme what
// stands before it there, and data-credentials "same-origin" where a proxy before the
// server wants its cookie. A page's own script calls load, and hears "leave" and "shown"
// on document.
"use strict";

const own = document.body.dataset;
const main = document.getElementById("main");
const said = document.getElementById("said");
let shown = ""; // the address of the view
let asked = 0; // views, so that a late answer does not replace a newer one

// say has a screen reader say something.
function say(text) { said.textContent = text; }

function headers() {
  const key = sessionStorage.getItem(own.key);
  return key ? { [own.header]: (own.scheme || "") + key } : {};
}

// parsed makes nodes of a part of the page that the server made.
function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html").body;
}

function show(where, html) { where.replaceChildren(...parsed(html).childNodes); }

// ask fetches a part of the page. Whatever the status is, the server says it in words. A
// key that is refused goes, but not one that was brought since.
async function ask(path, options) {
  const key = sessionStorage.getItem(own.key);
  try {
    const res = await fetch(path, { ...options, headers: { ...headers(), ...(options || {}).headers }, cache: "no-store", credentials: own.credentials || "omit", redirect: "error" });
    if (res.status === 401 && key === sessionStorage.getItem(own.key)) sessionStorage.removeItem(own.key);
    return { status: res.status, text: await res.text() };
  } catch (e) {
    return { status: 0, text: '<div class="refusal" role="alert"><h1>No answer</h1><p>' + own.silent + '</p></div>' };
  }
}

// load shows the view of the address.
async function load(keep) {
  const mine = ++asked;
  document.dispatchEvent(new Event("leave"));
  shown = location.pathname + location.search;
  const path = location.pathname === "/ui" || location.pathname === "/ui/" ? own.home : location.pathname;
  main.setAttribute("aria-busy", "true");
  const res = await ask(path + ".html" + location.search);
  if (mine !== asked) return;
  main.removeAttribute("aria-busy");
  show(main, res.text);
  const title = main.querySelector("h1");
  document.title = (title ? title.textContent.trim() + " – " : "") + own.name;
  for (const a of document.querySelectorAll("header nav a")) {
    const here = path === a.pathname || path.startsWith(a.pathname + "/") || a.dataset.also && path.startsWith(a.dataset.also);
    if (here) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
  }
  const open = res.status !== 401 && res.status !== 0;
  document.getElementById("close").hidden = !open || !sessionStorage.getItem(own.key);
  document.getElementById("json").hidden = !open || main.querySelector("[data-bare]") !== null;
  document.getElementById("json").setAttribute("href", path + ".json" + location.search);
  if (!keep) { main.focus({ preventScroll: true }); scrollTo(0, 0); }
  say(document.title);
  document.dispatchEvent(new Event("shown"));
}

function go(address) {
  history.pushState(null, "", address);
  load();
}

// A view's own links and forms stay on this page; nothing is ever sent by the browser
// itself.
document.addEventListener("click", (e) => {
  const button = e.target.closest("button");
  if (button && button.id === "close") {
    const told = button.dataset.post ? ask(button.dataset.post, { method: "POST" }) : Promise.resolve();
    told.then(() => { sessionStorage.removeItem(own.key); load(); });
    return;
  }
  const a = e.target.closest("a");
  if (!a || a.origin !== location.origin || e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0 || !a.pathname.startsWith("/ui/")) return;
  if (a.hash && a.pathname === location.pathname) return;
  e.preventDefault();
  if (a.id === "json") { showJSON(a.getAttribute("href")); return; }
  go(a.href);
});

document.addEventListener("submit", async (e) => {
  e.preventDefault();
  const form = e.target;
  const fields = new URLSearchParams(new FormData(form));
  if (form.dataset.signIn !== undefined) {
    sessionStorage.setItem(own.key, (fields.get("key") || "").trim());
    load();
    return;
  }
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
  document.dispatchEvent(new Event("leave"));
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
