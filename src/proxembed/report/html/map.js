(() => {
  "use strict";
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const data = JSON.parse(document.getElementById("map-data").textContent), UNITS = 65535, SLOTS = 6, SEVERAL = SLOTS + 1;
  const bytes = (text) => {
    const raw = atob(text), out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out.buffer;
  };
  const outputs = data.outputs && data.outputs.map((each) => ({ ...each, colour: new Uint8Array(bytes(each.colour)), values: new Float32Array(bytes(each.values)) }));
  const setOf = outputs ? null : data.wide ? new Uint32Array(bytes(data.set)) : new Uint16Array(bytes(data.set));
  const rows = new Uint32Array(bytes(data.rows)), n = rows.length, train = data.train;
  const pairs = data.pairs.map((pair) => pair.map((text) => {
    const xy = new Uint16Array(bytes(text));
    return { x: xy.subarray(0, n), y: xy.subarray(n) };
  }));
  const nameOf = (row) => (data.ids ? data.ids[row] : "row " + rows[row]);
  const state = { pair: 0, on: outputs ? [0] : data.start.slice(), show: "all", chosen: -1, boxing: false, box: null };
  document.documentElement.classList.add("live");

  /* Colours: of a row the slot of the label that is on, one more for several, 0 for none; or that of the output that is
     on, 0 for unknown. Rows are drawn in this order. */
  const slotOf = new Uint8Array(n), order = new Uint32Array(n);
  let palette = [], plane = [], edge = [];
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const packed = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  const readColours = () => {
    const six = ["--l0", "--l1", "--l2", "--l3", "--l4", "--l5"].map((name) => rgb(css(name)));
    if (!outputs) palette = [rgb(css("--other")), ...six, rgb(css("--several"))];
    else palette = [rgb(css("--unknown")), ...(outputs[state.on[0]].classes ? [...six, rgb(css("--rest"))] : data.shades.map(rgb))];
    [plane, edge] = [rgb(css("--plane")), rgb(css("--edge"))];
  };
  const slots = () => {
    if (outputs) return outputs[state.on[0]].colour;
    const ofSet = data.sets.map((labels) => {
      const hits = labels.filter((label) => state.on.includes(label));
      return hits.length === 0 ? 0 : hits.length > 1 ? SEVERAL : 1 + state.on.indexOf(hits[0]);
    });
    return setOf.map((set) => ofSet[set]);
  };
  const colourRows = () => {
    slotOf.set(slots());
    const count = new Uint32Array(2 * palette.length + 1), place = (row) => 2 * slotOf[row] + (row >= train ? 1 : 0);
    for (let row = 0; row < n; row++) count[place(row) + 1]++;
    for (let i = 1; i < count.length; i++) count[i] += count[i - 1];
    for (let row = 0; row < n; row++) order[count[place(row)]++] = row;
  };

  /* A dot as the pixels that it covers, with how much of each: [dx, dy, share of 256], in the colour or in that of the outline. */
  const stamp = (radius, edge) => {
    const out = [], reach = Math.ceil(radius + edge + 0.5);
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        const away = Math.sqrt(dx * dx + dy * dy), cover = Math.min(1, Math.max(0, radius + edge + 0.5 - away));
        const inner = Math.min(1, Math.max(0, radius + 0.5 - away));
        if (cover > 0.08) out.push([dx, dy, Math.round(256 * cover), Math.round(256 * (1 - inner / cover))]);
      }
    }
    return out;
  };
  const mix = (a, b, share) => a.map((value, i) => Math.round(value + ((b[i] - value) * share) / 256));

  const panels = all(".panel").map((figure, i) => ({
    i, figure, canvas: figure.querySelector("canvas"), view: { x: UNITS / 2, y: UNITS / 2, zoom: 1 }, image: null,
  }));
  const places = (panel) => pairs[state.pair][panel.i];
  const scaleOf = (panel) => (panel.canvas.width * 0.94 * panel.view.zoom) / UNITS;

  const draw = (panel) => {
    const canvas = panel.canvas, ratio = Math.min(2, window.devicePixelRatio || 1), size = Math.max(1, Math.round(canvas.clientWidth * ratio));
    if (canvas.width !== size || !panel.image) {
      canvas.width = canvas.height = size;
      panel.image = canvas.getContext("2d").createImageData(size, size);
      panel.pixels = new Uint32Array(panel.image.data.buffer);
    }
    const pixels = panel.pixels, { x, y } = places(panel), scale = scaleOf(panel), half = size / 2;
    const left = half - panel.view.x * scale, top = half - panel.view.y * scale;
    pixels.fill(packed(plane));
    const radius = Math.min(4.5 * ratio, Math.max(0.7, (0.16 * size) / Math.sqrt(n)) * Math.pow(panel.view.zoom, 0.35));
    const kinds = [stamp(radius, 0), stamp(1.25 * radius, radius < 1.6 * ratio ? 0 : 0.3 * radius)].map((parts) => {
      const dx = Int32Array.from(parts, (p) => p[0]), dy = Int32Array.from(parts, (p) => p[1]), cover = Int32Array.from(parts, (p) => p[2]);
      const colours = palette.map((colour) => parts.map((p) => mix(colour, edge, p[3])));
      return { dx, dy, cover, colours, solid: colours.map((list) => Uint32Array.from(list, packed)), offset: Int32Array.from(parts, (p) => p[1] * size + p[0]), length: parts.length, reach: Math.ceil(2 * radius + 2) };
    });
    const from = state.show === "new" ? train : 0, to = state.show === "train" ? train : n;
    for (let at = 0; at < n; at++) {
      const row = order[at];
      if (row < from || row >= to) continue;
      const px = Math.round(left + x[row] * scale), py = Math.round(top + y[row] * scale);
      const kind = kinds[row >= train ? 1 : 0], slot = slotOf[row], reach = kind.reach;
      if (px < -reach || py < -reach || px >= size + reach || py >= size + reach) continue;
      const inside = px >= reach && py >= reach && px < size - reach && py < size - reach;
      const base = py * size + px, solid = kind.solid[slot], cover = kind.cover, offset = kind.offset;
      for (let k = 0; k < kind.length; k++) {
        if (!inside) {
          const u = px + kind.dx[k], v = py + kind.dy[k];
          if (u < 0 || v < 0 || u >= size || v >= size) continue;
        }
        const cell = base + offset[k], share = cover[k];
        if (share >= 250) {
          pixels[cell] = solid[k];
        } else {
          const under = pixels[cell], over = solid[k], rest = 256 - share;
          const rb = (((under & 0xff00ff) * rest + (over & 0xff00ff) * share) >>> 8) & 0xff00ff;
          const g = (((under & 0xff00) * rest + (over & 0xff00) * share) >>> 8) & 0xff00;
          pixels[cell] = (0xff000000 | rb | g) >>> 0;
        }
      }
    }
    const pen = canvas.getContext("2d");
    pen.putImageData(panel.image, 0, 0);
    if (state.chosen >= 0) {
      pen.strokeStyle = css("--edge");
      pen.lineWidth = 2.5 * ratio;
      pen.beginPath();
      pen.arc(left + x[state.chosen] * scale, top + y[state.chosen] * scale, Math.max(8 * ratio, 2.2 * radius), 0, 7);
      pen.stroke();
    }
    if (state.box && state.box.panel === panel.i) {
      const [a, b, c, d] = state.box.ends;
      pen.strokeStyle = css("--edge");
      pen.lineWidth = 1.5 * ratio;
      pen.setLineDash([6 * ratio, 4 * ratio]);
      pen.strokeRect(left + Math.min(a, c) * scale, top + Math.min(b, d) * scale, Math.abs(c - a) * scale, Math.abs(d - b) * scale);
      pen.setLineDash([]);
    }
  };
  const waiting = new Set();
  const later = (...some) => {
    if (!waiting.size) requestAnimationFrame(() => {
      const now = Array.from(waiting);
      waiting.clear();
      now.forEach(draw);
    });
    (some.length ? some : panels).forEach((panel) => waiting.add(panel));
  };

  /* Zooming and moving. */
  const zoomAt = (panel, factor, px, py) => {
    const before = scaleOf(panel), half = panel.canvas.width / 2, view = panel.view;
    view.zoom = Math.min(400, Math.max(0.5, view.zoom * factor));
    const after = scaleOf(panel);
    view.x += (px - half) * (1 / before - 1 / after);
    view.y += (py - half) * (1 / before - 1 / after);
    later(panel);
  };
  const showAll = (panel) => {
    panel.view = { x: UNITS / 2, y: UNITS / 2, zoom: 1 };
    later(panel);
  };
  panels.forEach((panel) => {
    const canvas = panel.canvas, fingers = new Map();
    const local = (event) => {
      const box = canvas.getBoundingClientRect(), ratio = canvas.width / box.width;
      return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
    };
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      zoomAt(panel, Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...local(event));
    }, { passive: false });
    const placeOf = (px, py) => {
      const scale = scaleOf(panel), half = canvas.width / 2;
      return [panel.view.x + (px - half) / scale, panel.view.y + (py - half) / scale];
    };
    let drawing = false;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      drawing = state.boxing || event.shiftKey;
      if (!drawing) return fingers.set(event.pointerId, local(event));
      const place = placeOf(...local(event));
      state.box = { panel: panel.i, ends: [...place, ...place] };
      later();
    });
    const middle = () => {
      const points = Array.from(fingers.values()), sum = points.reduce((a, p) => [a[0] + p[0], a[1] + p[1]], [0, 0]);
      const spread = points.length > 1 ? Math.hypot(points[0][0] - points[1][0], points[0][1] - points[1][1]) : 1;
      return [sum[0] / points.length, sum[1] / points.length, spread];
    };
    canvas.addEventListener("pointermove", (event) => {
      if (drawing) {
        state.box.ends = [...state.box.ends.slice(0, 2), ...placeOf(...local(event))];
        return later(panel);
      }
      if (!fingers.has(event.pointerId)) return tell(panel, event, ...local(event));
      const before = middle();
      fingers.set(event.pointerId, local(event));
      const after = middle(), scale = scaleOf(panel);
      panel.view.x -= (after[0] - before[0]) / scale;
      panel.view.y -= (after[1] - before[1]) / scale;
      if (fingers.size > 1) zoomAt(panel, after[2] / Math.max(1, before[2]), after[0], after[1]);
      later(panel);
    });
    ["pointerup", "pointercancel"].forEach((name) => canvas.addEventListener(name, (event) => {
      fingers.delete(event.pointerId);
      if (drawing) { drawing = false; compareBox(); }
    }));
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    canvas.addEventListener("dblclick", () => showAll(panel));
    canvas.addEventListener("keydown", (event) => {
      const step = 0.1 * canvas.width / scaleOf(panel), half = canvas.width / 2;
      const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
      if (moves[event.key]) {
        panel.view.x += moves[event.key][0];
        panel.view.y += moves[event.key][1];
        later(panel);
      } else if (event.key === "+" || event.key === "=") zoomAt(panel, 1.6, half, half);
      else if (event.key === "-") zoomAt(panel, 0.625, half, half);
      else if (event.key === "0") showAll(panel);
      else if (event.key === "b") {
        state.box = { panel: panel.i, ends: [...placeOf(0, 0), ...placeOf(canvas.width, canvas.width)] };
        compareBox();
      } else if (event.key === "Escape") unbox();
      else return;
      event.preventDefault();
    });
    all("[data-zoom]", panel.figure).forEach((button) => button.addEventListener("click", () => {
      const factor = Number(button.dataset.zoom), half = canvas.width / 2;
      if (factor) zoomAt(panel, factor, half, half); else showAll(panel);
    }));
  });

  /* What differs between the rows in the box and the others. */
  const boxSection = document.getElementById("box"), ENOUGH = 5, LISTED = 20;
  const levelsOf = (values) => {
    const known = Array.from(new Set(Array.from(values).filter((value) => !Number.isNaN(value)))).sort((a, b) => a - b);
    const place = new Map(known.map((value, i) => [value, i]));
    return { levels: Float64Array.from(known), codes: Int32Array.from(values, (value) => (Number.isNaN(value) ? -1 : place.get(value))) };
  };
  let columns = null;
  const columnsOf = () => {
    const features = data.features.map((each) => ({ name: each.name, kind: "feature", levels: new Float32Array(bytes(each.levels)), codes: new Uint8Array(bytes(each.codes)) }));
    if (!outputs) {
      const yesNo = Float64Array.of(0, 1);
      return [...data.labels.map((name, label) => {
        const has = data.sets.map((labels) => (labels.includes(label) ? 1 : 0));
        const codes = Int8Array.from(setOf, (set) => has[set]);
        data.unknown[label].forEach((row) => { codes[row] = -1; });
        return { name, kind: "label", levels: yesNo, codes };
      }), ...features];
    }
    const each = outputs.flatMap((output) => {
      if (!output.classes) return [{ name: output.name, kind: "output", ...levelsOf(output.values) }];
      return output.names.map((name, code) => ({ name: output.name + "=" + name, kind: "output", ...levelsOf(output.values.map((value) => (Number.isNaN(value) ? NaN : value === code ? 1 : 0))) }));
    });
    return [...each, ...features];
  };
  const boxedRows = () => {
    const [a, b, c, d] = state.box.ends, { x, y } = places(panels[state.box.panel]), inside = new Uint8Array(n);
    for (let row = 0; row < n; row++) inside[row] = x[row] >= Math.min(a, c) && x[row] <= Math.max(a, c) && y[row] >= Math.min(b, d) && y[row] <= Math.max(b, d);
    return inside;
  };
  const comparedRows = (inside) => {
    const count = (from, to, side) => inside.subarray(from, to).reduce((sum, each) => sum + (each === side), 0);
    const enough = count(train, n, 1) >= ENOUGH && count(train, n, 0) >= ENOUGH;
    const from = state.show === "new" || (state.show === "all" && enough) ? train : 0, to = state.show === "train" ? train : n;
    return { from, to, inside: count(from, to, 1), outside: count(from, to, 0) };
  };
  const differing = (inside, { from, to }) => {
    columns = columns || columnsOf();
    const found = columns.map((column) => {
      const counts = [new Uint32Array(column.levels.length), new Uint32Array(column.levels.length)];
      for (let row = from; row < to; row++) if (column.codes[row] >= 0) counts[inside[row]][column.codes[row]]++;
      const means = counts.map((each) => each.reduce((sum, count, i) => sum + count * column.levels[i], 0) / each.reduce((a, b) => a + b, 0));
      return { name: column.name, kind: column.kind, inside: means[1], outside: means[0], ...differences.compare(counts[1], counts[0]) };
    }).filter((each) => each.p !== undefined);
    const holm = differences.holm(found.map((each) => each.p));
    found.forEach((each, i) => { each.holm = holm[i]; });
    return found.sort((a, b) => a.holm - b.holm || a.p - b.p || Math.abs(b.effect) - Math.abs(a.effect));
  };
  const compareBox = () => {
    const inside = boxedRows(), compared = comparedRows(inside), body = boxSection.querySelector("tbody");
    const found = compared.inside && compared.outside ? differing(inside, compared) : [];
    const kind = compared.from ? "held-out rows" : compared.to < n ? "training rows" : "rows";
    const title = compared.inside.toLocaleString("en") + " " + kind + " inside, " + compared.outside.toLocaleString("en") + " outside";
    boxSection.hidden = false;
    boxSection.querySelector(".title").textContent = found.length ? title : title + ": draw a box around some of the rows, but not all.";
    body.replaceChildren(...found.slice(0, LISTED).map((each) => {
      const line = document.createElement("tr"), figure = (value) => String(Number(value.toPrecision(3)));
      const p = each.holm < 1e-300 ? "below 1e-300" : each.holm.toPrecision(2);
      [each.name, each.kind, figure(each.inside), figure(each.outside), (each.effect >= 0 ? "+" : "−") + Math.abs(each.effect).toFixed(2), p].forEach((text, i) => {
        const cell = document.createElement("td"), shown = document.createElement("bdi");
        shown.textContent = text;
        cell.append(i ? text : shown);
        line.append(cell);
      });
      return line;
    }));
    boxSection.querySelector(".rest").textContent = found.length > LISTED ? "The " + LISTED + " with the least p of " + found.length.toLocaleString("en") + "." : "";
    later();
  };
  const unbox = () => {
    state.box = null;
    boxSection.hidden = true;
    later();
  };
  document.getElementById("unbox").addEventListener("click", unbox);
  all("[data-box]").forEach((button) => button.addEventListener("click", () => {
    state.boxing = !state.boxing;
    all("[data-box]").forEach((each) => each.setAttribute("aria-pressed", state.boxing));
    panels.forEach((panel) => { panel.canvas.style.cursor = state.boxing ? "crosshair" : ""; });
  }));

  /* What a row is, beside the pointer. */
  const tip = document.querySelector(".tip"), frame = document.querySelector(".panels");
  const valueOf = (output, row) => {
    const value = output.values[row];
    return output.name + " " + (Number.isNaN(value) ? "unknown" : output.names ? output.names[value] : Number(value.toPrecision(5)));
  };
  const words = (row) => {
    if (outputs) {
      const shown = [outputs[state.on[0]], ...outputs.filter((each, place) => place !== state.on[0])].slice(0, 6);
      return [nameOf(row), (row >= train ? "held out: " : "training row: ") + shown.map((each) => valueOf(each, row)).join(", ") + (outputs.length > 6 ? ", …" : "")];
    }
    const labels = data.sets[setOf[row]].map((label) => data.labels[label]);
    const kind = row >= train ? "held out" : "training row";
    return [nameOf(row), kind + ": " + (labels.length ? labels.slice(0, 8).join(", ") + (labels.length > 8 ? ", …" : "") : "no label")];
  };
  const tell = (panel, event, px, py) => {
    const { x, y } = places(panel), scale = scaleOf(panel), half = panel.canvas.width / 2;
    const u = panel.view.x + (px - half) / scale, v = panel.view.y + (py - half) / scale;
    const from = state.show === "new" ? train : 0, to = state.show === "train" ? train : n;
    let best = -1, least = Math.pow(14 / scale, 2);
    for (let row = from; row < to; row++) {
      const away = (x[row] - u) * (x[row] - u) + (y[row] - v) * (y[row] - v);
      if (away < least) { least = away; best = row; }
    }
    tip.hidden = best < 0;
    if (best < 0) return;
    const [name, text] = words(best), title = document.createElement("b"), box = frame.getBoundingClientRect();
    title.textContent = name;
    tip.replaceChildren(title, text);
    const at = event.clientX - box.left;
    tip.style.left = Math.max(0, Math.min(at + 14, box.width - tip.offsetWidth)) + "px";
    tip.style.top = event.clientY - box.top + 16 + "px";
  };

  /* A row by its id. */
  const find = document.getElementById("find"), found = document.getElementById("found");
  const choose = (row) => {
    state.chosen = row;
    found.replaceChildren();
    panels.forEach((panel) => {
      const { x, y } = places(panel);
      panel.view = { x: x[row], y: y[row], zoom: Math.max(4, panel.view.zoom) };
    });
    later();
  };
  find.addEventListener("input", () => {
    const text = find.value.trim().toLowerCase(), ranks = [[], [], []];
    found.replaceChildren();
    if (!text) { state.chosen = -1; later(); return; }
    for (let row = 0; row < n && ranks[0].length < 8; row++) {
      const name = (data.ids ? data.ids[row] : String(rows[row])).toLowerCase();
      const rank = name === text ? 0 : name.startsWith(text) ? 1 : name.includes(text) ? 2 : 3;
      if (rank < 3 && ranks[rank].length < 8) ranks[rank].push(row);
    }
    const hits = ranks.flat().slice(0, 8);
    if (!hits.length) {
      const none = document.createElement("p");
      none.textContent = "no such row";
      found.append(none);
    }
    hits.forEach((row) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = words(row).join(" · ");
      button.addEventListener("click", () => choose(row));
      found.append(button);
    });
  });
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && found.querySelector("button")) found.querySelector("button").click();
    if (event.key === "Escape") found.replaceChildren();
  });

  /* Labels. */
  const chips = all(".chip");
  const keys = all(".key");
  const paintChips = () => {
    keys.forEach((key) => { key.hidden = Number(key.dataset.key) !== state.on[0]; });
    chips.forEach((chip) => {
      const slot = state.on.indexOf(Number(chip.dataset.label)), dot = chip.querySelector("i");
      chip.setAttribute("aria-pressed", slot >= 0);
      dot.style.background = dot.style.borderColor = slot < 0 ? "" : outputs ? css("--ink") : css("--l" + slot);
    });
  };
  const relight = () => {
    readColours();
    paintChips();
    colourRows();
    later();
  };
  chips.forEach((chip) => chip.addEventListener("click", () => {
    const label = Number(chip.dataset.label), at = state.on.indexOf(label);
    if (outputs) state.on = [label];
    else if (at >= 0) state.on.splice(at, 1);
    else state.on = [...state.on, label].slice(-SLOTS);
    relight();
  }));
  const clear = document.getElementById("clear");
  if (clear) clear.addEventListener("click", () => { state.on = []; relight(); });
  const filter = document.getElementById("filter");
  if (filter) filter.addEventListener("input", () => {
    const text = filter.value.trim().toLowerCase();
    chips.forEach((chip) => { chip.hidden = !chip.textContent.toLowerCase().includes(text) && chip.getAttribute("aria-pressed") !== "true"; });
  });

  /* Which map, which rows, which colours of the page. */
  const cells = all("tbody tr[data-map]").map((line) => all("td", line).map((cell) => cell.textContent));
  const title = () => panels.forEach((panel) => {
    const [name, inside, outside, among, kept] = cells[2 * state.pair + panel.i];
    panel.figure.querySelector(".title").textContent = name;
    panel.figure.querySelector(".score").textContent = "in " + inside + " · out " + outside + " · new " + among + " · kept " + kept;
  });
  all("input[name=pair]").forEach((input) => input.addEventListener("change", () => {
    state.pair = Number(input.value);
    unbox();
    panels.forEach(showAll);
    title();
  }));
  all("input[name=rows]").forEach((input) => input.addEventListener("change", () => {
    state.show = input.value;
    if (state.box) compareBox();
    later();
  }));
  const restyle = () => { readColours(); paintChips(); later(); };
  all("input[name=theme]").forEach((input) => input.addEventListener("change", () => {
    if (input.value) document.documentElement.dataset.theme = input.value;
    else delete document.documentElement.dataset.theme;
    restyle();
  }));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
  window.addEventListener("resize", () => later());
  title();
  relight();
})();
