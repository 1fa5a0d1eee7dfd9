// The script of the collector's page, behind look.js: it says who looks, and begins.
"use strict";

document.addEventListener("shown", () => {
  const who = main.querySelector("[data-person]");
  if (!who) return;
  document.getElementById("person").textContent = "You are " + who.dataset.person + ", " + who.dataset.role + ".";
  document.getElementById("looks").hidden = who.dataset.role !== "administrator";
});

load(true);
