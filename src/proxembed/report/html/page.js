"use strict";
(function () {
  document.documentElement.classList.add("live");
  const all = (query, within) => Array.from((within || document).querySelectorAll(query));

  /* k-curves: point at a line or a name to see it alone. */
  all(".curve svg").forEach((svg) => {
    const arm = (node) => { const part = node.closest && node.closest("[id*='-arm']"); return part ? part.id.split("-arm").pop() : null; };
    const light = (number) => {
      svg.classList.toggle("lit", number !== null);
      all("[id*='-arm']", svg).forEach((node) => node.classList.toggle("on", node.id.split("-arm").pop() === number));
    };
    svg.addEventListener("pointerover", (event) => light(arm(event.target)));
    svg.addEventListener("pointerleave", () => light(null));
  });

  /* Tables: a click on a heading sorts by it. */
  const cell = (row, column) => {
    const node = row.cells[column], given = node.dataset.v, text = given === undefined ? node.textContent : given;
    const value = parseFloat(text.replace(/,/g, "").replace("−", "-").replace("▼", ""));
    return Number.isNaN(value) || (given === undefined && column === 0) ? null : value;
  };
  all("table.sortable").forEach((table) => {
    all("thead th", table).forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const down = heading.getAttribute("aria-sort") === "descending" || (column === 0 && !heading.hasAttribute("aria-sort"));
        all("th", table.tHead).forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", down ? "ascending" : "descending");
        const rows = Array.from(table.tBodies[0].rows).map((row) => [row, column ? cell(row, column) : row.cells[0].textContent]);
        const order = (a, b) => {
          if (a[1] === null || b[1] === null) return (a[1] === null) - (b[1] === null);
          const sign = typeof a[1] === "string" ? a[1].localeCompare(b[1]) : a[1] - b[1];
          return down ? sign : -sign;
        };
        rows.sort(order).forEach((pair) => table.tBodies[0].append(pair[0]));
      });
    });
  });

  /* Panels of measured outputs: one output at a time. */
  const switches = all("[data-show]");
  switches.forEach((button) => button.addEventListener("click", () => {
    switches.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
    all("[data-output]").forEach((part) => part.toggleAttribute("hidden", part.dataset.output !== button.dataset.show));
  }));

  /* The map. */
  const source = document.getElementById("map-data");
  if (!source) return;
  const map = JSON.parse(source.textContent), root = source.closest(".map"), tip = root.querySelector(".tip");
  const key = root.querySelector(".key"), chips = all(".chip", root), SIDE = 1000;
  const several = map.colours[map.colours.length - 2], other = map.colours[map.colours.length - 1];
  const slots = map.colours.length - 2, n = map.members.length;
  const state = { on: map.start.slice(), every: false, points: !map.cells };
  const unpack = (text) => {
    const bytes = atob(text), out = new Uint16Array(bytes.length / 2);
    for (let i = 0; i < out.length; i++) out[i] = bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8);
    return out;
  };
  const setOf = map.set ? unpack(map.set) : null, cells = map.cells ? map.cells.map(unpack) : null;
  const colourOf = (place) => (state.on.length > slots ? map.ramp[4] : map.colours[place]);

  /* Which of the switched labels per row has: their places; null where it is not lit. */
  const hits = (labels) => {
    const found = labels.filter((label) => state.on.includes(label));
    return found.length && (!state.every || found.length === state.on.length) ? found : null;
  };
  const colourRow = (labels) => {
    const found = hits(labels);
    if (!found) return other;
    if (state.every && state.on.length > 1) return map.colours[0];
    return found.length > 1 ? several : colourOf(state.on.indexOf(found[0]));
  };

  const panels = all(".panel", root).map((figure, i) => {
    const plane = figure.querySelector(".plane"), canvas = document.createElement("canvas");
    plane.prepend(canvas);
    plane.classList.add("drawn");
    return { i, plane, canvas, figure, ring: figure.querySelector(".ring"), arrows: all(".arrow", figure), xy: map.panels[i] };
  });

  const brush = (panel) => {
    const ratio = Math.max(2, window.devicePixelRatio || 1), size = Math.round(panel.canvas.clientWidth * ratio);
    panel.canvas.width = panel.canvas.height = size;
    const pen = panel.canvas.getContext("2d");
    pen.scale(size / SIDE, size / SIDE);
    return pen;
  };

  const drawPoints = (panel) => {
    const pen = brush(panel), groups = new Map();
    const radius = Math.min(9, Math.max(4, 260 / Math.sqrt(n + 1))) * Math.min(2, Math.max(1, 300 / panel.canvas.clientWidth));
    map.members.forEach((labels, row) => {
      const colour = colourRow(labels);
      if (!groups.has(colour)) groups.set(colour, []);
      groups.get(colour).push(row);
    });
    const order = [other, ...map.colours.slice(0, slots), map.ramp[4], several];
    Array.from(groups).sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0])).forEach(([colour, rows]) => {
      pen.fillStyle = colour;
      pen.globalAlpha = colour === other ? 0.6 : 0.85;
      rows.forEach((row) => {
        pen.beginPath();
        pen.arc(panel.xy.x[row], panel.xy.y[row], radius, 0, 7);
        pen.fill();
      });
    });
  };

  const width = map.across ? SIDE / map.across : 0, side = width / Math.sqrt(3);
  const centre = (id) => {
    const row = Math.floor(id / (map.across + 1)), column = id % (map.across + 1);
    return [(column + (row % 2) / 2) * width, SIDE - (row * width * Math.sqrt(3)) / 2];
  };
  let lit = null;
  const count = () => {
    lit = map.sets.map((labels) => state.on.length === 0 || hits(labels) !== null);
    panels.forEach((panel) => {
      panel.total = new Map();
      panel.match = new Map();
      cells[panel.i].forEach((id, row) => {
        panel.total.set(id, (panel.total.get(id) || 0) + 1);
        if (lit[setOf[row]]) panel.match.set(id, (panel.match.get(id) || 0) + 1);
      });
    });
  };
  const drawCells = (panel) => {
    const pen = brush(panel), top = Math.max(1, ...panel.total.values());
    panel.total.forEach((total, id) => {
      const matching = panel.match.get(id) || 0, [x, y] = centre(id);
      const shade = Math.min(map.ramp.length - 1, Math.floor(map.ramp.length * Math.sqrt(matching / top)));
      pen.fillStyle = matching ? map.ramp[shade] : "#eceff2";
      pen.beginPath();
      pen.moveTo(x, y - side);
      [[1, -1], [1, 1], [0, 2], [-1, 1], [-1, -1]].forEach(([u, v]) => pen.lineTo(x + (u * width) / 2, y + (v * side) / 2));
      pen.fill();
    });
  };

  const entry = (colours, text) => {
    const item = document.createElement("span"), name = document.createElement("bdi");
    [].concat(colours).forEach((colour) => {
      const mark = document.createElement("i");
      mark.style.background = colour;
      if (Array.isArray(colours)) mark.className = "shade";
      item.append(mark);
    });
    name.textContent = text;
    item.append(name);
    return item;
  };
  const drawKey = () => {
    const names = state.on.map((label) => map.labels[label]), entries = [];
    const one = state.on.length === 1;
    if (!state.points) {
      const which = names.length ? " with " + names.join(state.every ? " and " : " or ") : "";
      entries.push(entry(map.ramp, "fewer to more rows" + which));
      if (names.length) entries.push(entry(["#eceff2"], "only other rows"));
    } else if (names.length) {
      if (state.every && !one) entries.push(entry(map.colours[0], "all of: " + names.join(", ")));
      else if (names.length > slots) entries.push(entry(map.ramp[4], "one of these"));
      else names.forEach((name, place) => entries.push(entry(map.colours[place], name)));
      if (!one && !state.every) entries.push(entry(several, "several of these"));
      entries.push(entry(other, one ? "other rows" : state.every ? "not all of these" : "none of these"));
    }
    key.replaceChildren(...entries);
  };

  /* Names of arrows that would cover each other are moved apart, downwards. */
  const settle = (panel) => {
    const boxes = [];
    const shown = panel.arrows.filter((arrow) => !arrow.classList.contains("off")).map((arrow) => arrow.querySelector("text"));
    shown.forEach((text) => text.removeAttribute("dy"));
    shown.map((text) => [text, text.getBBox()]).sort((a, b) => a[1].y - b[1].y).forEach(([text, box]) => {
      let y = box.y;
      boxes.forEach((set) => {
        if (box.x < set.x + set.width && set.x < box.x + box.width && y < set.y + set.height && set.y < y + box.height) y = set.y + set.height;
      });
      text.setAttribute("dy", y - box.y);
      boxes.push({ x: box.x, y, width: box.width, height: box.height });
    });
  };

  const draw = () => {
    if (!state.points) count();
    panels.filter((panel) => !panel.figure.hidden).forEach((panel) => {
      (state.points ? drawPoints : drawCells)(panel);
      panel.arrows.forEach((arrow) => arrow.classList.toggle("off", !state.on.includes(Number(arrow.dataset.label))));
      settle(panel);
    });
    chips.forEach((chip) => {
      const place = state.on.indexOf(Number(chip.dataset.label)), mark = chip.querySelector("i");
      chip.setAttribute("aria-pressed", String(place >= 0));
      const colour = !state.points || state.every ? map.colours[0] : colourOf(place);
      mark.style.background = mark.style.borderColor = place < 0 ? "" : colour;
    });
    drawKey();
  };

  chips.forEach((chip) => chip.addEventListener("click", () => {
    const label = Number(chip.dataset.label), place = state.on.indexOf(label);
    if (place < 0) state.on.push(label); else state.on.splice(place, 1);
    draw();
  }));
  root.querySelector(".clear").addEventListener("click", () => { state.on = []; draw(); });
  all("input[name=join]", root).forEach((input) => input.addEventListener("change", () => { state.every = input.value === "all"; draw(); }));
  const place = (kind) => panels.forEach((panel) => { panel.figure.hidden = !(panel.figure.dataset.places || kind).split(" ").includes(kind); });
  all("input[name=places]", root).forEach((input) => input.addEventListener("change", () => { place(input.value); leave(); draw(); }));
  all("input[name=draw]", root).forEach((input) => input.addEventListener("change", () => { state.points = input.value === "points"; leave(); draw(); }));
  const find = root.querySelector(".find");
  if (find) find.addEventListener("input", () => {
    const wanted = find.value.toLowerCase();
    chips.forEach((chip) => { chip.hidden = !chip.querySelector("bdi").textContent.toLowerCase().includes(wanted); chip.style.display = chip.hidden ? "none" : ""; });
  });

  /* Hover: what is under the pointer, and the same row in the other panels. */
  const leave = () => {
    tip.hidden = true;
    panels.forEach((panel) => { panel.ring.setAttribute("cx", -99); panel.ring.setAttribute("cy", -99); });
  };
  const nearest = (panel, x, y) => {
    let best = -1, least = 45 * 45;
    for (let row = 0; row < n; row++) {
      const u = panel.xy.x[row] - x, v = panel.xy.y[row] - y, far = u * u + v * v;
      if (far < least) { least = far; best = row; }
    }
    return best;
  };
  const nearestCell = (panel, x, y) => {
    let best = null, least = width * width;
    panel.total.forEach((total, id) => {
      const [u, v] = centre(id), far = (u - x) ** 2 + (v - y) ** 2;
      if (far < least) { least = far; best = id; }
    });
    return best;
  };
  const share = (panel, id) => {
    const counts = new Map(), total = panel.total.get(id);
    cells[panel.i].forEach((at, row) => {
      if (at === id) map.sets[setOf[row]].forEach((label) => counts.set(label, (counts.get(label) || 0) + 1));
    });
    const top = Array.from(counts).sort((a, b) => b[1] - a[1]).slice(0, 4);
    return top.map(([label, rows]) => map.labels[label] + " " + Math.round((100 * rows) / total) + " %").join(", ");
  };
  const tell = (event, title, text) => {
    const head = document.createElement("b"), body = document.createElement("bdi"), name = document.createElement("bdi");
    name.textContent = title;
    head.append(name);
    body.textContent = text;
    tip.replaceChildren(head, body);
    tip.hidden = false;
    const box = root.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    tip.style.left = Math.max(0, Math.min(x + 14, box.width - tip.offsetWidth)) + "px";
    tip.style.top = (y + 18 + tip.offsetHeight > box.height ? y - 14 - tip.offsetHeight : y + 18) + "px";
  };
  const hover = (panel, event) => {
    const box = panel.canvas.getBoundingClientRect(), scale = SIDE / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    leave();
    if (state.points) {
      const row = nearest(panel, x, y);
      if (row < 0) return;
      tell(event, map.ids[row], map.members[row].map((label) => map.labels[label]).join(", ") || "no label");
      panels.forEach((each) => { each.ring.setAttribute("cx", each.xy.x[row]); each.ring.setAttribute("cy", each.xy.y[row]); });
      return;
    }
    const id = nearestCell(panel, x, y);
    if (id === null) return;
    const total = panel.total.get(id), matching = panel.match.get(id) || 0;
    const some = state.on.length ? ", " + matching.toLocaleString("en") + " lit" : "";
    tell(event, total.toLocaleString("en") + (total === 1 ? " row" : " rows") + some, share(panel, id) || "no label");
  };
  panels.forEach((panel) => {
    panel.plane.addEventListener("pointermove", (event) => hover(panel, event));
    panel.plane.addEventListener("pointerdown", (event) => hover(panel, event));
    panel.plane.addEventListener("pointerleave", leave);
  });
  place("0");
  let waiting = 0;
  window.addEventListener("resize", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(draw); });
  draw();
})();
