"use strict";
// Tables sort by a click on a column's head; numbers largest first.
function value(row, i) {
	var cell = row.cells[i];
	return cell.dataset.v !== undefined ? BigInt(cell.dataset.v) : cell.textContent;
}
function sortBy(th) {
	var table = th.closest("table"), body = table.tBodies[0];
	var i = Array.prototype.indexOf.call(th.parentNode.cells, th);
	var rows = Array.from(body.rows).filter(r => !r.classList.contains("rest"));
	var rest = Array.from(body.rows).filter(r => r.classList.contains("rest"));
	var number = th.classList.contains("n");
	var down = th.classList.contains("down") ? false :
	    th.classList.contains("up") ? true : number;
	rows.sort(function (a, b) {
		var x = value(a, i), y = value(b, i);
		var c = x < y ? -1 : x > y ? 1 : 0;
		return down ? -c : c;
	});
	th.parentNode.querySelectorAll("th").forEach(
	    t => t.classList.remove("up", "down"));
	th.classList.add(down ? "down" : "up");
	rows.concat(rest).forEach(r => body.appendChild(r));
}
document.querySelectorAll("table.sort th").forEach(function (th) {
	th.addEventListener("click", () => sortBy(th));
	th.tabIndex = 0;
	th.addEventListener("keydown", e => { if (e.key === "Enter") sortBy(th); });
});
document.querySelectorAll("table[data-by]").forEach(
    t => t.tHead.rows[0].cells[t.dataset.by].classList.add("down"));
// Columns of events come and go.
var sheet = document.head.appendChild(document.createElement("style"));
function columns() {
	var css = "";
	document.querySelectorAll("#tools input[data-ev]").forEach(function (box) {
		if (!box.checked)
			css += ".e" + box.dataset.ev + "{display:none}";
	});
	sheet.textContent = css;
}
document.querySelectorAll("#tools input[data-ev]").forEach(
    box => box.addEventListener("change", columns));
columns();
// Heads of tables stay below the tools.
var tools = document.getElementById("tools");
function below() {
	document.body.style.setProperty("--tools", tools.offsetHeight + "px");
}
window.addEventListener("resize", below);
below();
// Functions and files whose names have all the words.
var filter = document.getElementById("filter");
filter.addEventListener("input", function () {
	var words = filter.value.toLowerCase().split(/\s+/).filter(w => w);
	function hide(e, text) {
		e.hidden = !words.every(w => text.toLowerCase().includes(w));
	}
	document.querySelectorAll("table.sort.named tbody tr").forEach(
	    r => hide(r, r.textContent));
	document.querySelectorAll("details.fn").forEach(
	    d => hide(d, d.firstElementChild.textContent));
});
// A link to a function opens it.
function open_target() {
	var e = location.hash && document.getElementById(
	    decodeURIComponent(location.hash.slice(1)));
	if (e && e.tagName === "DETAILS") {
		e.hidden = false;
		e.open = true;
		e.scrollIntoView();
	}
}
window.addEventListener("hashchange", open_target);
open_target();
