// Zoom and search, by mouse, touch and keyboard. A frame's place is in its
// rectangle as it was drawn: x and width, parts of the first one's; the picture
// is laid out anew for each width of the window, so that letters keep their
// size. What is shown is kept in the address, #zoom=NUMBER&find=WORDS, so that
// it can be sent.
"use strict";
(function () {
	const svg = document.documentElement, NS = svg.namespaceURI;
	const byId = id => document.getElementById(id);
	const down = svg.getAttribute("data-down") === "1";
	const tall = +svg.getAttribute("height"), margin = 10, em = 7.23;
	const all = Array.from(svg.getElementsByClassName("f"), (g, i) => {
		const r = g.getElementsByTagName("rect")[0];
		return {
			g, r, i, t: g.getElementsByTagName("text")[0],
			x: +r.getAttribute("x"), y: +r.getAttribute("y"),
			w: +r.getAttribute("width"),
			info: g.getElementsByTagName("title")[0].textContent,
			name: g.getAttribute("data-name"),
			change: g.getAttribute("data-change") || "",
			shown: true, class: g.getAttribute("class"), is: "",
			small: g.classList.contains("s")
		};
	});
	const of = new Map(all.map(f => [f.g, f]));
	const left = all[0].x, whole = all[0].w;
	const rows = new Map();		// frames by y, from left to right
	const state = { zoom: all[0], find: "" };
	let wide = 0, current = all[0], input = null;

	all.forEach(f => rows.has(f.y) ? rows.get(f.y).push(f) :
	    rows.set(f.y, [f]));
	rows.forEach(row => row.sort((a, b) => a.x - b.x));

	function show(id, on) { byId(id).classList.toggle("hidden", !on); }

	function label(f, x, w) {
		const most = Math.floor((w - 6) / em);
		const text = most < 3 ? "" :
		    f.name.length + f.change.length <= most ? f.name + f.change :
		    f.name.length <= most ? f.name :
		    f.name.slice(0, most - 2) + "..";
		if (text !== "" && !f.t && !f.small) {
			f.t = f.g.appendChild(document.createElementNS(NS, "text"));
			f.t.setAttribute("y", f.y + 12);
		}
		if (!f.t)
			return;
		if (f.t.textContent !== text)
			f.t.textContent = text;
		f.t.setAttribute("x", (x + 3).toFixed(2));
	}

	function dress(f) {
		const is = f.class + (f.shown ? "" : " hidden") +
		    (f.under ? " under" : "") + (f.match ? " match" : "");
		if (is !== f.is)
			f.g.setAttribute("class", f.is = is);
	}

	function above(f, z) {
		return f === z || (f.x >= z.x - 0.01 &&
		    f.x + f.w <= z.x + z.w + 0.01 && (down ? f.y > z.y : f.y < z.y));
	}

	// Is f below z, that is, one of its callers?
	function below(f, z) {
		return f.x <= z.x + 0.01 && f.x + f.w >= z.x + z.w - 0.01 &&
		    (down ? f.y < z.y : f.y > z.y);
	}

	// Place all frames; those of less than a third of a pixel are not seen.
	function layout() {
		const z = state.zoom, space = wide - 2 * margin, k = space / z.w;

		all.forEach(f => {
			const is = above(f, z);
			const x = is ? margin + (f.x - z.x) * k : margin;
			const w = is ? f.w * k : space;
			f.under = !is && below(f, z);
			f.shown = f.under || (is && w >= 0.3);
			dress(f);
			if (!f.shown)
				return;
			f.r.setAttribute("x", x.toFixed(2));
			f.r.setAttribute("width", w.toFixed(2));
			label(f, x, w);
		});
	}

	// Text of at most so many lines, upwards from y.
	function write(id, text, y, lines, letter) {
		const e = byId(id), most = Math.floor((wide - 2 * margin) / letter);
		const words = text.split(" "), out = [""];
		words.forEach(word => {
			const last = out.length - 1;
			if (out[last] !== "" && out.length < lines &&
			    (out[last] + " " + word).length > most)
				out.push(word);
			else
				out[last] += (out[last] === "" ? "" : " ") + word;
		});
		e.textContent = "";
		out.forEach((line, i) => {
			const s = document.createElementNS(NS, "tspan");
			s.textContent = line.length > most ?
			    line.slice(0, most - 2) + ".." : line;
			s.setAttribute("x", id === "title" ? wide / 2 : margin);
			s.setAttribute("y", y - 13 * (out.length - 1 - i));
			e.appendChild(s);
		});
	}

	const texts = { title: byId("title").textContent,
	    note: byId("note").textContent };

	function resize() {
		const w = Math.max(200, window.innerWidth || 1200);
		if (w === wide)
			return;
		wide = w;
		svg.setAttribute("viewBox", "0 0 " + wide + " " + tall);
		svg.setAttribute("width", wide);
		write("title", texts.title, 22, 1, 10);
		write("note", texts.note, 46, 2, 6.7);
		byId("find").setAttribute("x", wide - margin - 44);
		byId("found").setAttribute("x", wide - margin -
		    (input === null ? 60 : 210));
		byId("found").setAttribute("y", 64);
		if (input !== null)
			input.parentNode.setAttribute("x", wide - margin - 200);
		layout();
	}

	function tell(f) { write("info", f ? f.info : "", tall - 6, 2, em); }

	function zoom(f) {
		if (f.small)
			return;
		state.zoom = f;
		layout();
		show("back", f.i !== 0);
		remember();
	}

	// Frames whose name matches, and the share of all that is in them: of
	// those on top of each other, the lowest counts.
	function find(words) {
		let re = null, sum = 0, end = -1;

		state.find = words;
		try {
			re = words === "" ? null : new RegExp(words);
		} catch (e) {
			re = new RegExp(words.replace(/[^\w\s]/g, "\\$&"));
		}
		all.forEach(f => {
			f.match = re !== null && f.i !== 0 && !f.small &&
			    re.test(f.name);
			dress(f);
		});
		const spans = all.filter(f => f.match);
		spans.sort((a, b) => a.x - b.x || b.w - a.w);
		spans.forEach(f => {
			if (f.x + f.w <= end + 0.001)
				return;
			sum += f.x + f.w - Math.max(f.x, end);
			end = f.x + f.w;
		});
		byId("found").textContent = re === null ? "" : "found: " +
		    (100 * sum / whole).toFixed(1) + "% in " + spans.length;
		byId("find").textContent = re === null ? "Search" : "Clear";
		if (input !== null && input.value !== words)
			input.value = words;
		remember();
	}

	// A field for words in the place of the button.
	function ask() {
		if (state.find !== "" && input === null)
			return find("");
		if (input === null) {
			const box = document.createElementNS(NS, "foreignObject");
			input = document.createElementNS(
			    "http://www.w3.org/1999/xhtml", "input");
			input.type = "search";
			input.setAttribute("aria-label",
			    "Functions to find, a regular expression");
			input.placeholder = "Functions (regular expression)";
			box.setAttribute("y", 48);
			box.setAttribute("width", 200);
			box.setAttribute("height", 22);
			box.appendChild(input);
			svg.appendChild(box);
			input.addEventListener("input", () => find(input.value));
			show("find", false);
			wide = 0;
			resize();
		}
		input.focus();
		input.select();
	}

	function remember() {
		const h = [];
		if (state.zoom.i !== 0)
			h.push("zoom=" + state.zoom.i);
		if (state.find !== "")
			h.push("find=" + encodeURIComponent(state.find));
		try {
			history.replaceState(null, "", "#" + h.join("&"));
		} catch (e) { /* not where this is shown */ }
	}

	function recall() {
		const want = { zoom: 0, find: "" };
		location.hash.slice(1).split("&").forEach(p => {
			const k = p.split("=");
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

	// One frame at a time can be reached by Tab; arrows go on from there.
	function reach(f, focus) {
		if (f !== current)
			current.g.removeAttribute("tabindex");
		current = f;
		f.g.setAttribute("tabindex", "0");
		f.g.setAttribute("role", "button");
		f.g.setAttribute("aria-label", f.info);
		if (focus)
			f.g.focus();
	}

	// The frame to go to: callers overlap, of callees the widest one.
	function step(key) {
		const f = current, up = key === "ArrowUp";
		const side = key === "ArrowLeft" ? -1 : 1;
		if (key === "ArrowLeft" || key === "ArrowRight") {
			const row = rows.get(f.y).filter(o => o.shown);
			return row[row.indexOf(f) + side];
		}
		const row = rows.get(f.y + (up ? -17 : 17)) || [];
		return row.filter(o => o.shown && o.x < f.x + f.w - 0.001 &&
		    o.x + o.w > f.x + 0.001).sort((a, b) => b.w - a.w)[0];
	}

	const frameOf = e => of.get(e.target.closest ?
	    e.target.closest(".f") : null);

	function act(e) {
		const f = frameOf(e);
		if (f) {
			reach(f, false);
			tell(f);
			zoom(f);
		} else if (e.target.id === "back") {
			zoom(all[0]);
		} else if (e.target.id === "find") {
			ask();
		}
	}
	svg.addEventListener("click", act);
	svg.addEventListener("mouseover", e => tell(frameOf(e)));
	svg.addEventListener("focusin", e => tell(frameOf(e)));
	window.addEventListener("keydown", e => {
		if ((e.ctrlKey && e.key === "f") || e.key === "F3") {
			e.preventDefault();
			ask();
		} else if (e.key === "Escape") {
			if (state.find !== "")
				find("");
			else
				zoom(all[0]);
		} else if (e.target === input || e.ctrlKey || e.altKey) {
			return;
		} else if (e.key === "Enter" || e.key === " ") {
			e.preventDefault();
			act(e);
		} else if (/^Arrow/.test(e.key) && frameOf(e)) {
			const f = step(e.key);
			e.preventDefault();
			if (f)
				reach(f, true);
		}
	});
	["back", "find"].forEach(id => {
		byId(id).setAttribute("tabindex", "0");
		byId(id).setAttribute("role", "button");
	});
	byId("found").setAttribute("role", "status");
	show("find", true);
	reach(all[0], false);
	window.addEventListener("resize", resize);
	resize();
	recall();
})();
