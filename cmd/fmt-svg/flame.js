// Zoom and search. A frame's place is in its rectangle as it was drawn: x and
// width in pixels; zooming stretches the clicked one to the whole width. What is
// shown is kept in the address, #zoom=NUMBER&find=WORDS, so that it can be sent.
"use strict";
(function () {
	var svg = document.documentElement;
	var all = Array.prototype.slice.call(
	    svg.getElementsByClassName("f")).map(function (g, i) {
		var r = g.getElementsByTagName("rect")[0];
		return {
			g: g, r: r, t: g.getElementsByTagName("text")[0],
			x: +r.getAttribute("x"), y: +r.getAttribute("y"),
			w: +r.getAttribute("width"), i: i,
			info: g.getElementsByTagName("title")[0].textContent,
			name: g.getAttribute("data-name")
		};
	});
	var down = svg.getAttribute("data-down") === "1";
	var left = all[0].x, whole = all[0].w, em = 7.23;
	var state = { zoom: 0, find: "" };

	function byId(id) { return document.getElementById(id); }

	function show(id, on) { byId(id).classList.toggle("hidden", !on); }

	function label(f, w) {
		var most = Math.floor((w - 6) / em);
		f.t.textContent = most < 3 ? "" : f.name.length <= most ?
		    f.name : f.name.slice(0, most - 2) + "..";
	}

	function place(f, x, w) {
		f.r.setAttribute("x", x.toFixed(2));
		f.r.setAttribute("width", w.toFixed(2));
		f.t.setAttribute("x", (x + 3).toFixed(2));
		label(f, w);
	}

	// Is f below z, that is, one of its callers?
	function under(f, z) {
		return f.x <= z.x + 0.01 && f.x + f.w >= z.x + z.w - 0.01 &&
		    (down ? f.y < z.y : f.y > z.y);
	}

	function zoom(z) {
		var k = whole / z.w;

		state.zoom = z.i;
		all.forEach(function (f) {
			var above = f === z || (f.x >= z.x - 0.01 &&
			    f.x + f.w <= z.x + z.w + 0.01 &&
			    (down ? f.y > z.y : f.y < z.y));
			var below = !above && under(f, z);
			f.g.classList.toggle("hidden", !above && !below);
			f.g.classList.toggle("under", below);
			if (below)
				place(f, left, whole);
			else if (above)
				place(f, left + (f.x - z.x) * k, f.w * k);
		});
		show("back", z.i !== 0);
		remember();
	}

	// Frames whose name matches, and the share of all that is in them: of
	// those on top of each other, the lowest counts.
	function find(words) {
		var re, spans = [], sum = 0, end = -1;

		state.find = words;
		try {
			re = words === "" ? null : new RegExp(words);
		} catch (e) {
			re = new RegExp(words.replace(/[^\w\s]/g, "\\$&"));
		}
		all.forEach(function (f) {
			var m = re !== null && f.i !== 0 && re.test(f.name);
			f.g.classList.toggle("match", m);
			if (m)
				spans.push(f);
		});
		spans.sort(function (a, b) { return a.x - b.x || b.w - a.w; });
		spans.forEach(function (f) {
			if (f.x + f.w <= end + 0.001)
				return;
			sum += f.x + f.w - Math.max(f.x, end);
			end = f.x + f.w;
		});
		byId("found").textContent = re === null ? "" : "found: " +
		    (100 * sum / whole).toFixed(1) + "% in " + spans.length;
		byId("find").textContent = re === null ? "Search" : "Clear";
		remember();
	}

	function ask() {
		var words = state.find !== "" ? "" :
		    prompt("Functions to find (a regular expression):", "");
		if (words !== null)
			find(words);
	}

	function remember() {
		var h = [];
		if (state.zoom !== 0)
			h.push("zoom=" + state.zoom);
		if (state.find !== "")
			h.push("find=" + encodeURIComponent(state.find));
		try {
			history.replaceState(null, "", "#" + h.join("&"));
		} catch (e) { /* not where this is shown */ }
	}

	function recall() {
		var want = { zoom: 0, find: "" };
		location.hash.slice(1).split("&").forEach(function (p) {
			var k = p.split("=");
			if (k[0] === "zoom" && all[+k[1]] !== undefined)
				want.zoom = +k[1];
			if (k[0] === "find")
				want.find = decodeURIComponent(k[1] || "");
		});
		if (want.zoom !== 0)
			zoom(all[want.zoom]);
		if (want.find !== "")
			find(want.find);
	}

	function frameOf(e) {
		var g = e.target.closest ? e.target.closest(".f") : null;
		return g === null ? null : all.filter(function (f) {
			return f.g === g;
		})[0];
	}

	svg.addEventListener("click", function (e) {
		var f = frameOf(e);
		if (f)
			zoom(f);
		else if (e.target.id === "back")
			zoom(all[0]);
		else if (e.target.id === "find")
			ask();
	});
	svg.addEventListener("mouseover", function (e) {
		var f = frameOf(e);
		byId("info").textContent = f ? f.info : "";
	});
	window.addEventListener("keydown", function (e) {
		if ((e.ctrlKey && e.key === "f") || e.key === "F3") {
			e.preventDefault();
			state.find = "";
			ask();
		} else if (e.key === "Escape") {
			zoom(all[0]);
		}
	});
	show("find", true);
	recall();
})();
