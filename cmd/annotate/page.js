"use strict";
// Comments on lines of their own are not in the page.
const all = (s, e) => Array.from((e || document).querySelectorAll(s));
const byId = i => document.getElementById(i);
const body = document.body;

// Tables are sorted by the buttons in their heads, numbers largest first.
function value(cell, number) {
	const t = cell.firstChild && number ? cell.firstChild.textContent :
	    cell.textContent;
	return !number ? t : t ? +t.replace(/[,%+ ]/g, "") : -Infinity;
}
function sort(th) {
	const rows = th.closest("table").tBodies[0], number = th.className != "t";
	const i = th.cellIndex, was = th.getAttribute("aria-sort");
	const down = was ? was == "ascending" : number;
	const list = Array.from(rows.rows).filter(r => r.className != "rest")
	    .map(r => ({ r, v: value(r.cells[i], number) }));
	const rest = all("tr.rest", rows);
	list.sort((a, b) => (a.v < b.v ? -1 : a.v > b.v ? 1 : 0) * (down ? -1 : 1));
	for (const t of th.parentNode.cells)
		t.removeAttribute("aria-sort");
	th.setAttribute("aria-sort", down ? "descending" : "ascending");
	rows.append(...list.map(x => x.r), ...rest);
}
for (const th of all(".sort thead th")) {
	const b = document.createElement("button");
	b.type = "button";
	b.append(...th.childNodes);
	b.onclick = () => sort(th);
	th.append(b);
}

// Classes of the body hide the columns that are not chosen.
for (const box of all("#columns input")) {
	box.checked = !body.classList.contains(box.value);
	box.onchange = () => body.classList.toggle(box.value, !box.checked);
}
byId("columns").hidden = byId("form").hidden = false;

// What is jumped to stays below the bar.
const tools = byId("tools");
function below() {
	document.documentElement.style.setProperty("--tools",
	    (getComputedStyle(tools).position == "sticky" ?
	    tools.offsetHeight : 0) + "px");
}
addEventListener("resize", below);
below();

// Rows and functions whose text has all the words.
const filter = byId("filter");
function choose() {
	const words = filter.value.toLowerCase().split(/\s+/).filter(w => w);
	let n = 0, shown = 0;
	function test(e, text) {
		text = text.toLowerCase();
		e.hidden = !words.every(w => text.includes(w));
		n++;
		shown += !e.hidden;
	}
	all(".named.sort tbody tr:not(.rest)").forEach(r => test(r,
	    all("th, th ~ td", r).map(c => c.textContent + " " +
	    all("[title]", c).map(t => t.title) + c.title).join(" ")));
	all("details.fn").forEach(d => test(d, d.firstElementChild.textContent));
	byId("found").textContent = words.length ? shown + " of " + n : "";
}
filter.oninput = choose;
byId("form").onsubmit = e => e.preventDefault();
byId("form").onreset = () => setTimeout(() => { choose(); filter.focus(); });

// Places have names: a function, or function:line, or file:line of it.
const nameOf = d => d.querySelector("b").textContent;
const fileOf = d => d.querySelector("b").nextSibling.data.trim()
    .replace(/.*\//, "");
function rowOf(d, line) {
	return all(".s th", d).find(th => th.textContent == line);
}
function find(name) {
	const fn = all("details.fn"), exact = fn.find(d => nameOf(d) == name);
	if (byId(name) || exact)
		return byId(name) || exact;
	for (let at = 0; (at = name.indexOf(":", at + 1)) > 0; )
		for (const d of fn) {
			const before = name.slice(0, at);
			const th = (nameOf(d) == before || fileOf(d) == before) &&
			    rowOf(d, name.slice(at + 1));
			if (th)
				return th;
		}
	return null;
}
function placeName(e) {
	const d = e.closest("details.fn");
	const name = d ? nameOf(d) + (e == d ? "" : ":" + e.textContent) : "";
	return d && find(name) == e ? name : e.id;
}
// A link opens what it leads to; the address becomes one that can be sent.
function go() {
	let name = location.hash.slice(1);
	try {
		name = decodeURIComponent(name);
	} catch (e) { /* as it is */ }
	const e = name && find(name);
	if (!e)
		return;
	for (let d = e; d; d = d.parentElement) {
		if (d.tagName == "DETAILS")
			d.open = true;
		d.hidden = false;
	}
	all(".here").forEach(h => h.classList.remove("here"));
	const here = e.closest("tr, details.fn");
	if (here)
		here.classList.add("here");
	e.scrollIntoView();
	try {
		history.replaceState(null, "", "#" + encodeURIComponent(placeName(e)));
	} catch (x) { /* not where this is shown */ }
}
addEventListener("hashchange", go);

// The numbers of an open function's lines are links to them.
function link(d) {
	if (d.linked)
		return;
	d.linked = true;
	all("thead th", d).forEach(th => th.scope = "col");
	const name = nameOf(d);
	all(".s tbody th", d).filter(th => /\d$/.test(th.textContent))
	    .forEach(th => {
		const a = document.createElement("a");
		a.href = "#" + encodeURIComponent(name + ":" + th.textContent);
		a.append(...th.childNodes);
		th.append(a);
	});
}
document.addEventListener("toggle", e => {
	if (e.target.matches("details.fn[open]"))
		link(e.target);
}, true);
all("details.fn[open]").forEach(link);
go();
