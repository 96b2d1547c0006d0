"use strict";
// The page of a report. All data stands in the element with the id `data`, made by `dataless`. Whatever is in it is
// put into the page as text, never as markup: names of files and functions are anybody's.

const data = JSON.parse(document.getElementById("data").textContent);

// ---------------------------------------------------------------------------------------------------- Small helpers

/** An element with attributes and children; texts among the children stay text. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

const text = (index) => (index < 0 ? "" : data.strings[index]);

/** With a comma at each thousand. toLocaleString took nine tenths of the time that a filter of 20,000 files needs. */
function count(value) {
  const digits = String(Math.round(value));
  return digits.length < 4 ? digits : digits.replace(/\B(?=(?:\d{3})+$)/g, ",");
}

function duration(ns) {
  const size = Math.abs(ns);
  if (size < 1e3) return `${ns} ns`;
  if (size < 999950) return `${(ns / 1e3).toFixed(1)} us`;
  if (size < 999950000) return `${(ns / 1e6).toFixed(1)} ms`;
  if (size < 59995000000) return `${(ns / 1e9).toFixed(2)} s`;
  const seconds = Math.round(ns / 1e9);
  const two = (value) => String(value).padStart(2, "0");
  return seconds < 3600
    ? `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`
    : `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} min`;
}

function size(bytes) {
  if (Math.abs(bytes) < 1024) return `${bytes} B`;
  let value = bytes;
  for (const unit of ["KiB", "MiB", "GiB", "TiB", "PiB"]) {
    value /= 1024;
    if (Math.abs(value) < 1023.95 || unit === "PiB") return `${value.toFixed(1)} ${unit}`;
  }
}

function share(permille) {
  return permille < 0 ? "unknown" : permille === 1000 ? "100 %" : `${(permille / 10).toFixed(1)} %`;
}

/** A delay for what is typed: not every letter of a filter is worth a new table. */
function later(action) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, 120);
  };
}

function section(id, title, ...content) {
  document.getElementById("links").append(make("a", { href: `#${id}` }, title));
  const element = make("section", { id }, make("h2", {}, title), ...content);
  document.getElementById("report").append(element);
  return element;
}

/** The frames of a stack, innermost first: `stack` is an index, -1 for none, or below that why there is none. */
function stackList(stack) {
  if (stack === -1) return make("p", { class: "faint" }, "no stack in the log (--stacks first takes them)");
  if (stack < -1) return make("p", { class: "faint" }, `no stack: ${text(-2 - stack).replaceAll("_", " ")}`);
  const [isComplete, frames] = data.stacks[stack];
  const items = frames.map((index) => {
    const [name, file, line, isGuess] = data.frames[index];
    const place = file >= 0 ? `  ${text(file)}${line ? ":" + line : ""}` : "";
    return make("li", { class: "frame" }, text(name), make("span", { class: "faint" }, place + (isGuess ? "  (guessed)" : "")));
  });
  const note = data.stackNotes[stack];
  if (note >= 0) items.unshift(make("li", { class: "faint" }, `(${text(note)}; these are the interpreter's)`));
  if (!isComplete) items.push(make("li", { class: "faint" }, "(there are more: the stack is incomplete)"));
  return make("ol", { class: "stack" }, items);
}

// ---------------------------------------------------------------------------------------------------------- Verdict

const words = { passed: "PASSED", failed: "FAILED", unknown: "NOT KNOWN", none: "" };

/** The line of a violation; where only the one is known at which its function begins, this is said. */
function placeInFile(violation) {
  if (!violation.line) return "";
  return violation.function_lines ? ` (the function begins at line ${violation.line})` : `:${violation.line}`;
}

function verdict() {
  const checks = data.verdict.checks.map((check) =>
    make(
      "li",
      { class: check.outcome },
      make("span", { class: "word" }, words[check.outcome] || "-"),
      " ",
      make("code", {}, check.name),
      ": ",
      check.message,
      check.violations.map((violation) =>
        make(
          "details",
          { class: "violation", open: check.violations.length <= 3 },
          make("summary", {}, violation.message),
          facts([
            ["path", violation.path],
            ["process", violation.process && [violation.process, ...violation.parents].join(" < ")],
            ["look at", violation.file && violation.file + placeInFile(violation)],
          ]),
          violation.stack.length
            ? make(
                "ol", { class: "stack" }, violation.stack.map((frame) => make("li", { class: "frame" }, frame)),
                violation.incomplete ? make("li", { class: "faint" }, `(incomplete: ${violation.incomplete})`) : null,
              )
            : null,
        ),
      ),
    ),
  );
  document.getElementById("report").append(
    make(
      "div",
      { class: `verdict ${data.verdict.outcome}`, id: "verdict" },
      make("span", { class: "word" }, words[data.verdict.outcome]),
      data.verdict.outcome === "none" ? "" : ": ",
      data.verdict.message,
      make("ul", { class: "checks" }, checks),
    ),
    ...data.notes.map((note) => make("p", { class: "note" }, note)),
  );
}

function facts(rows) {
  return make(
    "dl",
    { class: "facts" },
    rows.filter(([, value]) => value).map(([title, value]) => [make("dt", {}, title), make("dd", {}, value)]),
  );
}

// --------------------------------------------------------------------------------------------------------- Timeline

const rowHeight = 20;
const axisHeight = 22;

/** A lane for each thread; pieces are waits, or several of one thread where there are too many. */
class Timeline {
  constructor() {
    this.rows = [];
    if (data.holds.length) {
      this.rows.push({
        name: "gates",
        thread: "what they held",
        kind: "gate",
        pieces: data.holds.map(([start, end, gate, path, errno]) => ({
          start, duration: (end < 0 ? data.duration : end) - start, waits: 1, gate, path, errno, isUnderWay: end < 0,
        })),
      });
    }
    for (const row of data.timeline.rows) this.rows.push(this.lane(row));
    // Behind all threads: what waits there blocks none.
    for (const row of data.coordination?.lanes ?? []) this.rows.push({ ...this.lane(row), kind: "intent" });
    this.shown = this.rows;
    this.selected = null;
    this.build();
    this.whole();
  }

  lane(row) {
    return {
      name: row.name,
      thread: row.thread,
      kind: row.main ? "main" : "wait",
      waits: row.waits,
      blocked: row.blocked,
      pieces: row.pieces.map(([start, length, waits, blocked, longest, path, trigger, outcome, stack, failures, isUnderWay]) => ({
        start, duration: length, waits, blocked, longest, path, trigger, outcome, stack, failures, isUnderWay,
      })),
    };
  }

  build() {
    this.canvas = make("canvas", { tabindex: 0, role: "img", id: "timeline-canvas",
      "aria-label": "Who was blocked when. Left and right: the wait before and after; up and down: other threads; plus and minus: zoom; Escape: all of it." });
    this.spacer = make("div", { class: "spacer" });
    this.lanes = make("div", { class: "lanes", onscroll: () => this.draw() }, this.canvas, this.spacer);
    this.details = make("div", { class: "details", "aria-live": "polite", id: "timeline-details" }, "Select a wait to see who waited for what.");
    this.filter = make("input", { type: "search", placeholder: "filter threads", "aria-label": "filter threads", id: "timeline-filter", oninput: later(() => this.choose()) });
    this.onlyMain = make("input", { type: "checkbox", id: "only-main", onchange: () => this.choose() });
    this.range = make("span", { class: "faint", id: "timeline-range" });
    const button = (label, title, action) => make("button", { type: "button", title, "aria-label": title, onclick: action }, label);
    section(
      "timeline",
      "Timeline",
      make(
        "div",
        { class: "bar" },
        button("+", "zoom in", () => this.zoom(0.5)),
        button("\u2212", "zoom out", () => this.zoom(2)),
        button("all", "show all of it", () => this.whole()),
        this.filter,
        make("label", {}, this.onlyMain, " main threads only"),
        this.range,
      ),
      make(
        "p",
        { class: "legend faint" },
        [["main", "main thread"], ["wait", "other thread"], ["failed", "failed, or moment of a failure"], ["gate", "held at a gate, or mark"], ...(data.coordination ? [["intent", "access that waits for others"]] : [])].map(([kind, title]) =>
          make("span", {}, make("i", { class: kind }), title),
        ),
      ),
      this.lanes,
      this.details,
    );
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", (event) => this.release(event));
    new ResizeObserver(() => this.draw()).observe(this.lanes);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Takes the rows that the filter leaves. */
  choose() {
    const wanted = this.filter.value.toLowerCase();
    this.shown = this.rows.filter(
      (row) => (!this.onlyMain.checked || row.kind === "main") && `${row.name} ${row.thread}`.toLowerCase().includes(wanted),
    );
    this.draw();
  }

  whole() {
    this.from = 0;
    this.to = Math.max(1, data.duration);
    this.draw();
  }

  zoom(factor, at) {
    const center = at ?? (this.selected ? this.selected.piece.start + this.selected.piece.duration / 2 : (this.from + this.to) / 2);
    const length = Math.min(Math.max((this.to - this.from) * factor, 1000), Math.max(1, data.duration));
    const part = Math.min(Math.max((center - this.from) / (this.to - this.from), 0), 1);
    this.show(center - part * length, length);
  }

  show(from, length) {
    this.from = Math.min(Math.max(from, 0), Math.max(0, data.duration - length));
    this.to = this.from + length;
    this.draw();
  }

  get left() { return Math.min(260, this.lanes.clientWidth * 0.3); }
  x(time) { return this.left + ((time - this.from) / (this.to - this.from)) * (this.lanes.clientWidth - this.left); }
  time(x) { return this.from + ((x - this.left) / (this.lanes.clientWidth - this.left)) * (this.to - this.from); }

  /** Says what is shown at once, and paints it with the next frame, however often it is called before. */
  draw() {
    this.range.textContent = `${duration(this.from)} to ${duration(this.to)} of ${duration(data.duration)}, ${count(this.shown.length)} of ${count(this.rows.length)} lanes`;
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.paint();
    });
  }

  paint() {
    const width = this.lanes.clientWidth;
    const contentHeight = axisHeight + this.shown.length * rowHeight;
    const height = Math.min(contentHeight, 480);
    this.spacer.style.height = `${Math.max(0, contentHeight - height)}px`;
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    // Read once for a frame, not once for a piece.
    const colours = new Map();
    const colour = (name) => {
      if (!colours.has(name)) colours.set(name, style.getPropertyValue(`--${name}`).trim());
      return colours.get(name);
    };
    context.scale(scale, scale);
    context.font = "12px ui-monospace, 'DejaVu Sans Mono', monospace";
    context.textBaseline = "middle";
    const scroll = this.lanes.scrollTop;
    const first = Math.floor(scroll / rowHeight);
    for (let index = first; index < this.shown.length; index += 1) {
      const y = axisHeight + index * rowHeight - scroll;
      if (y > height) break;
      this.drawRow(context, colour, this.shown[index], y, width);
    }
    this.drawAxis(context, colour, width, height);
  }

  drawRow(context, colour, row, y, width) {
    context.strokeStyle = colour("line");
    context.beginPath();
    context.moveTo(0, y + rowHeight - 0.5);
    context.lineTo(width, y + rowHeight - 0.5);
    context.stroke();
    let last = -1;
    for (let index = firstAfter(row.pieces, this.from); index < row.pieces.length; index += 1) {
      const piece = row.pieces[index];
      if (piece.start > this.to) break;
      const isSelected = this.selected && this.selected.piece === piece;
      const begin = Math.max(this.x(piece.start), this.left);
      const end = Math.min(Math.max(this.x(piece.start + piece.duration), begin + 1.5), width);
      // Thousands of pieces on one pixel are drawn once.
      if (end <= last && !isSelected && !piece.failures) continue;
      last = end;
      context.fillStyle = colour(piece.failures ? "failed" : row.kind);
      context.globalAlpha = piece.waits > 1 ? 0.75 : 1;
      context.fillRect(begin, y + 3, end - begin, rowHeight - 6);
      context.globalAlpha = 1;
      if (isSelected) {
        context.strokeStyle = colour("selected");
        context.lineWidth = 2;
        context.strokeRect(begin - 1, y + 2, end - begin + 2, rowHeight - 4);
        context.lineWidth = 1;
      }
    }
    context.fillStyle = colour("page");
    context.fillRect(0, y, this.left - 4, rowHeight - 1);
    context.fillStyle = colour(row.kind === "main" ? "main" : "text");
    context.fillText(this.label(context, row), 6, y + rowHeight / 2);
  }

  /** Measured once for a width. */
  label(context, row) {
    const width = this.left - 12;
    if (row.label?.width !== width) {
      row.label = { width, text: fitted(context, `${row.kind === "main" ? "\u25cf " : ""}${row.name} ${row.thread}`, width) };
    }
    return row.label.text;
  }

  drawAxis(context, colour, width, height) {
    context.fillStyle = colour("raised");
    context.fillRect(0, 0, width, axisHeight);
    context.fillStyle = colour("faint");
    const step = niceStep((this.to - this.from) / Math.max(2, (width - this.left) / 110));
    context.strokeStyle = colour("line");
    for (let time = Math.ceil(this.from / step) * step; time <= this.to; time += step) {
      const x = this.x(time);
      context.fillText(duration(time), x + 3, axisHeight / 2);
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, height);
      context.globalAlpha = 0.5;
      context.stroke();
      context.globalAlpha = 1;
    }
    for (const [time, kind] of data.moments) {
      if (time < this.from || time > this.to) continue;
      const x = this.x(time);
      context.fillStyle = colour(kind === "failed" || kind === "refused" || kind === "exceeded" || kind === "lost" ? "failed" : "gate");
      context.fillRect(x - 1, 0, 2, kind === "mark" || kind === "exceeded" ? height : axisHeight);
    }
  }

  // Keyboard and pointer

  key(event) {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (moves[event.key]) this.step(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "Home") this.select(0, 0);
    else if (event.key === "End") this.select(this.shown.length - 1, Infinity);
    else if (event.key === "Escape") this.whole();
    else return;
    event.preventDefault();
  }

  step(rows, pieces) {
    if (!this.selected) return this.select(0, 0);
    const row = this.shown.indexOf(this.selected.row);
    if (pieces) return this.select(Math.max(0, row), this.selected.row.pieces.indexOf(this.selected.piece) + pieces);
    const next = this.shown[Math.min(Math.max(row + rows, 0), this.shown.length - 1)];
    if (next) this.select(this.shown.indexOf(next), nearest(next.pieces, this.selected.piece.start));
  }

  select(rowIndex, pieceIndex) {
    const row = this.shown[rowIndex];
    if (!row || !row.pieces.length) return;
    const piece = row.pieces[Math.min(Math.max(pieceIndex, 0), row.pieces.length - 1)];
    this.selected = { row, piece };
    if (piece.start < this.from || piece.start > this.to) this.show(piece.start - (this.to - this.from) / 4, this.to - this.from);
    const y = rowIndex * rowHeight;
    if (y < this.lanes.scrollTop) this.lanes.scrollTop = y;
    if (y + rowHeight + axisHeight > this.lanes.scrollTop + this.canvas.clientHeight) this.lanes.scrollTop = y + rowHeight + axisHeight - this.canvas.clientHeight;
    this.describe();
    this.draw();
  }

  describe() {
    const { row, piece } = this.selected;
    this.details.replaceChildren();
    if (row.kind === "gate") {
      this.details.append(`${text(piece.gate)} held ${text(piece.path)} for ${duration(piece.duration)}${piece.isUnderWay ? " so far" : ""}${piece.errno >= 0 ? ", let go with " + text(piece.errno) : ""}, from ${duration(piece.start)}`);
      return;
    }
    const who = `${row.name} ${row.thread}`;
    const many = piece.waits > 1 ? `${count(piece.waits)} waits, ${duration(piece.blocked)} altogether; the longest: ` : "";
    const end = piece.isUnderWay ? " so far" : piece.outcome >= 0 && text(piece.outcome) !== "ok" ? `, ${text(piece.outcome)}` : "";
    this.details.append(
      make("div", {}, make("strong", {}, who), `: ${many}${duration(piece.longest)}${end}, ${text(piece.trigger)} `, make("code", {}, text(piece.path)), make("span", { class: "faint" }, `  from ${duration(piece.start)}`)),
      // An intent blocks no thread that could have a stack.
      row.kind === "intent" ? "" : stackList(piece.stack),
    );
  }

  wheel(event) {
    if (!event.ctrlKey && !event.shiftKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, this.time(event.offsetX));
  }

  press(event) {
    this.drag = { x: event.offsetX, from: this.from, isMoved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    if (!this.drag) return;
    if (Math.abs(event.offsetX - this.drag.x) > 3) this.drag.isMoved = true;
    const perPixel = (this.to - this.from) / (this.lanes.clientWidth - this.left);
    if (this.drag.isMoved) this.show(this.drag.from - (event.offsetX - this.drag.x) * perPixel, this.to - this.from);
  }

  release(event) {
    const drag = this.drag;
    this.drag = null;
    if (!drag || drag.isMoved) return;
    const row = Math.floor((event.offsetY - axisHeight + this.lanes.scrollTop) / rowHeight);
    if (event.offsetY > axisHeight && this.shown[row]) this.select(row, nearest(this.shown[row].pieces, this.time(event.offsetX)));
  }
}

/** The first piece that may be seen from a time on. Pieces of one lane do not overlap, but for those of the rest. */
function firstAfter(pieces, time) {
  let low = 0;
  let high = pieces.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pieces[middle].start + pieces[middle].duration < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The piece at a time, or the one that is nearest to it. */
function nearest(pieces, time) {
  let best = 0;
  let distance = Infinity;
  pieces.forEach((piece, index) => {
    const away = time < piece.start ? piece.start - time : Math.max(0, time - piece.start - piece.duration);
    if (away < distance) [best, distance] = [index, away];
  });
  return best;
}

function fitted(context, string, width) {
  if (context.measureText(string).width <= width) return string;
  let length = Math.floor((string.length * width) / context.measureText(string).width) - 1;
  while (length > 0 && context.measureText(string.slice(0, length) + "\u2026").width > width) length -= 1;
  return string.slice(0, length) + "\u2026";
}

/** 1, 2 or 5 times a power of ten, at least as much as asked for. */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) || 10);
}

// ------------------------------------------------------------------------------------------------------ Flame graph

/** Blocked time by program and stack, the outermost function on top. */
class Flame {
  constructor() {
    this.root = { name: "all waits", value: 0, waits: 0, children: new Map(), parent: null };
    for (const [program, stack, trigger, waits, blocked] of data.blocked) {
      const names = [text(program)];
      if (stack >= 0) names.push(...data.stacks[stack][1].map((frame) => text(data.frames[frame][0])).reverse());
      else names.push(stack === -1 ? "(no stack)" : `(no stack: ${text(-2 - stack)})`);
      names.push(`[${text(trigger)}]`);
      this.insert(names, blocked, waits);
    }
    this.focus = this.root;
    this.canvas = make("div", { class: "canvas", id: "flame-canvas" });
    this.details = make("div", { class: "details", "aria-live": "polite", id: "flame-details" });
    this.filter = make("input", { type: "search", placeholder: "find functions", "aria-label": "find functions", oninput: later(() => this.draw()) });
    section(
      "flame",
      "Where it waited",
      make("p", { class: "faint" }, "Width is blocked time. Callers stand above what they call. Enter or a click shows one alone; arrow keys move."),
      make("div", { class: "bar" }, this.filter, make("button", { type: "button", onclick: () => this.zoom(this.root) }, "all")),
      make("div", { class: "flame", onkeydown: (event) => this.key(event) }, this.canvas),
      this.details,
    );
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.draw();
    this.describe(this.root);
  }

  insert(names, value, waits) {
    let node = this.root;
    node.value += value;
    node.waits += waits;
    for (const name of names) {
      let child = node.children.get(name);
      if (!child) {
        child = { name, value: 0, waits: 0, children: new Map(), parent: node };
        node.children.set(name, child);
      }
      child.value += value;
      child.waits += waits;
      node = child;
    }
  }

  draw() {
    const width = this.canvas.clientWidth;
    if (!width) return;
    const hadFocus = this.canvas.contains(document.activeElement);
    const wanted = this.filter.value.toLowerCase();
    this.boxes = [];
    const ancestors = [];
    for (let node = this.focus.parent; node; node = node.parent) ancestors.unshift(node);
    const elements = ancestors.map((node, depth) => this.box(node, 0, width, depth, wanted));
    let deepest = ancestors.length;
    const place = (node, left, available, depth) => {
      if (available < 1 || depth > 250 || elements.length > 4000) return;
      deepest = Math.max(deepest, depth);
      elements.push(this.box(node, left, available, depth, wanted));
      let x = left;
      for (const child of [...node.children.values()].sort((a, b) => b.value - a.value)) {
        const part = node.value > 0 ? (child.value / node.value) * available : 0;
        place(child, x, part, depth + 1);
        x += part;
      }
    };
    place(this.focus, 0, width, ancestors.length);
    this.canvas.style.height = `${(deepest + 1) * 20 + 2}px`;
    this.canvas.replaceChildren(...elements);
    if (hadFocus) this.elementOf(this.focus)?.focus();
  }

  box(node, left, width, depth, wanted) {
    const button = make("button", { type: "button", tabindex: node === this.focus ? 0 : -1, onclick: () => this.zoom(node), onfocus: () => this.describe(node), onpointermove: () => this.describe(node) });
    button.style.left = `${left}px`;
    button.style.top = `${depth * 20}px`;
    button.style.width = `${Math.max(1, width)}px`;
    button.style.backgroundColor = `hsl(${hue(node.name)} 75% 68%)`;
    if (width > 24) button.textContent = node.name;
    button.setAttribute("aria-label", `${node.name}, ${duration(node.value)}`);
    if (wanted && node.name.toLowerCase().includes(wanted)) button.className = "found";
    this.boxes.push({ node, button, depth, left, width });
    return button;
  }

  elementOf(node) { return this.boxes.find((box) => box.node === node)?.button; }

  zoom(node) {
    this.focus = node;
    this.draw();
    this.describe(node);
    this.elementOf(node)?.focus();
  }

  describe(node) {
    const part = this.root.value > 0 ? `${((node.value / this.root.value) * 100).toFixed(1)} %` : "";
    this.details.replaceChildren(make("code", {}, node.name), ` ${duration(node.value)} in ${count(node.waits)} waits, ${part}`);
  }

  key(event) {
    const here = this.boxes.find((box) => box.button === document.activeElement);
    if (!here) return;
    const level = (depth) => this.boxes.filter((box) => box.depth === depth);
    let next = null;
    if (event.key === "ArrowUp") next = this.boxes.find((box) => box.node === here.node.parent);
    else if (event.key === "ArrowDown") next = level(here.depth + 1).find((box) => box.node.parent === here.node);
    else if (event.key === "ArrowRight") next = level(here.depth).find((box) => box.left > here.left);
    else if (event.key === "ArrowLeft") next = level(here.depth).findLast((box) => box.left < here.left);
    else if (event.key === "Escape") return this.zoom(this.root);
    else return;
    event.preventDefault();
    next?.button.focus();
  }
}

/** The same colour for the same name, from red to green. */
function hue(name) {
  let hash = 7;
  for (let index = 0; index < name.length; index += 1) hash = (hash * 31 + name.charCodeAt(index)) >>> 0;
  return hash % 120;
}

// ------------------------------------------------------------------------------------------------------------- Tree

/** Paths with what was fetched and how much of it was read. Directories open when they are asked to. */
class Tree {
  constructor() {
    this.root = this.node("", null);
    for (const file of data.files) this.add(file);
    for (const [path, files, fetched, read, blocked, waits] of data.rest) {
      const node = this.find(path).child(`\u2026 ${count(files)} more files`);
      this.raise(node, { files, fetched, read, blocked, waits });
    }
    for (const [path, waits, blocked] of data.directories) this.raise(this.find(text(path)), { files: 0, fetched: 0, read: 0, blocked, waits });
    this.list = make("div", { role: "tree", "aria-label": "paths", onkeydown: (event) => this.key(event) });
    section(
      "paths",
      "Paths",
      make("div", { class: "tree" }, make("div", { class: "head" }, ["path", "fetched", "read of it", "blocked", "waits"].map((title) => make("span", {}, title))), this.list),
    );
    this.items = [];
    this.list.append(...this.children(this.root, 0));
    this.items[0]?.element.setAttribute("tabindex", 0);
    // One directory alone is opened for the reader.
    if (this.items.length === 1) this.toggle(this.items[0]);
  }

  node(name, parent) {
    const tree = this;
    return {
      name, parent, files: 0, fetched: 0, read: 0, blocked: 0, waits: 0, children: new Map(), use: "",
      child(part) {
        if (!this.children.has(part)) this.children.set(part, tree.node(part, this));
        return this.children.get(part);
      },
    };
  }

  find(path) {
    let node = this.root;
    if (path !== "." && path !== "") for (const part of path.split("/")) node = node.child(part);
    return node;
  }

  raise(node, sums) {
    for (let at = node; at; at = at.parent) for (const key of Object.keys(sums)) at[key] += sums[key];
  }

  add([path, , fetched, read, , use, isNeedless, , blocked, waits]) {
    const node = this.find(text(path));
    node.use = [text(use).replaceAll("_", " "), isNeedless ? "needless" : ""].filter(Boolean).join(", ");
    // Of what was fetched: a file may be read beyond it, when it was local before.
    this.raise(node, { files: fetched > 0 ? 1 : 0, fetched, read: Math.min(read, fetched), blocked, waits });
  }

  children(node, level) {
    const sorted = [...node.children.values()].sort((a, b) => b.blocked - a.blocked || b.fetched - a.fetched);
    return sorted.slice(0, 500).map((child) => this.item(child, level)).concat(
      sorted.length > 500 ? [make("div", { class: "note" }, `${count(sorted.length - 500)} more are not shown here; the table of files can be filtered`)] : [],
    );
  }

  item(node, level) {
    const hasChildren = node.children.size > 0;
    const part = node.fetched > 0 ? Math.min(1, node.read / node.fetched) : -1;
    const meter = make("i", {});
    if (part >= 0) meter.style.width = `${part * 100}%`;
    const name = make("span", { class: "mono", title: node.use }, `${hasChildren ? "\u25b8 " : "  "}${node.name}${hasChildren ? "/" : ""}${node.files > 1 ? ` (${count(node.files)} files)` : ""}${node.use ? `  ${node.use}` : ""}`);
    name.style.paddingLeft = `${level * 1.2}rem`;
    const element = make(
      "div",
      { role: "treeitem", tabindex: -1, "aria-level": level + 1, "aria-expanded": hasChildren ? "false" : null },
      name,
      make("span", {}, node.fetched ? size(node.fetched) : ""),
      make("span", {}, part >= 0 ? make("span", { class: "meter" }, meter) : "", part >= 0 ? ` ${share(Math.round(part * 1000))}` : ""),
      make("span", {}, node.blocked ? duration(node.blocked) : ""),
      make("span", {}, node.waits ? count(node.waits) : ""),
    );
    const item = { node, level, element, group: null };
    element.addEventListener("click", () => { this.focusOn(item); this.toggle(item); });
    this.items.push(item);
    return element;
  }

  toggle(item, isOpen = !item.group) {
    if (!item.node.children.size || isOpen === Boolean(item.group)) return;
    const name = item.element.firstChild;
    if (isOpen) {
      item.group = make("div", { role: "group" }, this.children(item.node, item.level + 1));
      item.element.after(item.group);
    } else {
      this.items = this.items.filter((other) => !item.group.contains(other.element));
      item.group.remove();
      item.group = null;
    }
    name.textContent = (isOpen ? "\u25be" : "\u25b8") + name.textContent.slice(1);
    item.element.setAttribute("aria-expanded", String(isOpen));
  }

  focusOn(item) {
    for (const element of this.list.querySelectorAll('[tabindex="0"]')) element.setAttribute("tabindex", -1);
    item.element.setAttribute("tabindex", 0);
    item.element.focus();
  }

  key(event) {
    const elements = [...this.list.querySelectorAll('[role="treeitem"]')];
    const index = elements.indexOf(document.activeElement);
    const item = this.items.find((other) => other.element === document.activeElement);
    if (!item) return;
    let next = null;
    if (event.key === "ArrowDown") next = elements[index + 1];
    else if (event.key === "ArrowUp") next = elements[index - 1];
    else if (event.key === "Home") next = elements[0];
    else if (event.key === "End") next = elements[elements.length - 1];
    else if (event.key === "ArrowRight" && !item.group) this.toggle(item, true);
    else if (event.key === "ArrowRight") next = elements[index + 1];
    else if (event.key === "ArrowLeft" && item.group) this.toggle(item, false);
    else if (event.key === "ArrowLeft") next = elements.slice(0, index).findLast((element) => Number(element.getAttribute("aria-level")) < item.level + 1);
    else if (event.key === "Enter" || event.key === " ") this.toggle(item);
    else return;
    event.preventDefault();
    if (next) this.focusOn(this.items.find((other) => other.element === next));
  }
}

// ----------------------------------------------------------------------------------------------------------- Tables

/** A table that sorts by its heads and filters by what is typed. Column: title, value, and how it is shown. */
function table(id, title, columns, rows, emptyWords) {
  if (!rows.length) return section(id, title, make("p", { class: "faint" }, emptyWords));
  let order = { column: -1, isRising: false };
  let shown = 100;
  const filter = make("input", { type: "search", placeholder: "filter", "aria-label": `filter ${title}`, id: `${id}-filter`, oninput: later(() => { shown = 100; fill(); }) });
  const told = make("span", { class: "faint", role: "status", id: `${id}-count` });
  const more = make("button", { type: "button", onclick: () => { shown += 400; fill(); } }, "show more");
  const body = make("tbody", { id: `${id}-rows` });
  const heads = columns.map((column, index) =>
    make("th", { scope: "col", class: column.isNumber ? "number" : null }, make("button", { type: "button", onclick: () => sort(index) }, column.title)),
  );
  // What is searched: made once, when somebody searches. What was found last: a longer word is looked for in that alone.
  let words = null;
  let found = { wanted: "", rows: rows.map((_, index) => index) };
  // Places in the order of `order`; made when the order changes, not with each filter.
  let places = found.rows;

  function sort(index) {
    order = { column: index, isRising: order.column === index ? !order.isRising : !columns[index].isNumber };
    const keys = rows.map(columns[index].value);
    const sign = order.isRising ? 1 : -1;
    places = rows.map((_, at) => at).sort((a, b) => sign * (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0));
    heads.forEach((head, at) => (at === index ? head.setAttribute("aria-sort", order.isRising ? "ascending" : "descending") : head.removeAttribute("aria-sort")));
    fill();
  }

  /** The places of the rows that the filter leaves, in the order of `rows`. */
  function find(wanted) {
    if (wanted === found.wanted) return found.rows;
    words ??= rows.map((row) => columns.map((column) => display(column, row)).join(" ").toLowerCase());
    const from = wanted.startsWith(found.wanted) ? found.rows : places;
    found = { wanted, rows: from.filter((index) => words[index].includes(wanted)) };
    return found.rows;
  }

  /** What the filter leaves, in the order chosen. */
  function choose(wanted) {
    const left = find(wanted);
    if (left.length === rows.length) return places;
    const isLeft = new Uint8Array(rows.length);
    for (const index of left) isLeft[index] = 1;
    return places.filter((index) => isLeft[index]);
  }

  function fill() {
    const wanted = filter.value.toLowerCase();
    const chosen = choose(wanted);
    body.replaceChildren(
      ...chosen.slice(0, shown).map((index) =>
        make("tr", {}, columns.map((column) => make("td", { class: column.isNumber ? "number" : column.isName ? "name" : null }, column.element ? column.element(rows[index]) : display(column, rows[index])))),
      ),
    );
    told.textContent = `${count(Math.min(shown, chosen.length))} of ${count(chosen.length)} shown${wanted ? `, of ${count(rows.length)} altogether` : ""}`;
    more.hidden = chosen.length <= shown;
  }

  fill();
  return section(id, title, make("div", { class: "bar" }, filter, told, more), make("table", {}, make("thead", {}, make("tr", {}, heads)), body));
}

function display(column, row) {
  const value = column.value(row);
  return String(column.show ? column.show(value, row) : value);
}

const number = (title, index, show = count) => ({ title, isNumber: true, value: (row) => row[index], show });
const word = (title, index) => ({ title, isName: true, value: (row) => text(row[index]) });

/** What the log says of how programs wait: one row for each program of each finding. */
function findings() {
  table(
    "findings", "Findings",
    [word("finding", 0), number("count", 1), number("blocked", 2, duration), number("spared", 3, (value) => (value < 0 ? "not known" : duration(value))),
      word("program", 4), word("paths", 5), word("functions, innermost first", 6), word("rule of thumb", 7)],
    data.findings, "nothing was found",
  );
}

/** Who waited for whom, and which presenter was slow: only where programs coordinate. */
function coordination() {
  const known = data.coordination;
  if (!known) return;
  section("coordination", "Coordinated accesses", facts(known.facts));
  table(
    "intents", "Accesses that waited",
    [number("waited", 0, duration), { title: "intent", value: (row) => row[1] }, word("program", 2), word("access", 3), word("for", 4), word("outcome", 5)],
    known.waits, "nobody is known to have waited for others",
  );
  table(
    "presenters", "Presenters",
    [word("program", 0), word("path", 1), number("asked", 2), number("timed out", 3), number("longest", 4, duration), number("altogether", 5, duration)],
    known.presenters, "no presenter was asked",
  );
}

function tables() {
  table(
    "programs", "Programs",
    [word("program", 0), number("processes", 1), word("started by", 2), number("files", 3), number("directories", 4), number("bytes", 5, size),
      number("blocked", 6, duration), number("main thread", 7, duration), number("failures", 8), number("refusals", 9), word("read", 10)],
    data.programs, "no program materialized anything",
  );
  table(
    "files", "Files",
    [word("path", 0), number("size", 1, size), number("fetched", 2, size), number("read", 3, size), number("share read", 4, share),
      { title: "use", value: (row) => text(row[5]).replaceAll("_", " ") + (row[6] ? ", needless" : "") + (row[7] ? ", older version" : "") },
      number("blocked", 8, duration), number("waits", 9), number("times fetched", 10), word("by", 11)],
    data.files, "no file was tried or opened",
  );
  table(
    "waits", "Longest waits",
    [number("blocked", 7, duration), number("at", 6, duration), word("program", 0), number("pid", 1, String), number("tid", 2, (value) => (value < 0 ? "?" : String(value))),
      { title: "thread", value: (row) => ({ 1: "main", 0: "other" })[row[3]] || "unknown" },
      word("operation", 5), word("path", 4), word("outcome", 8),
      { title: "stack", value: (row) => stackLine(row[9]), element: (row) => stackDetails(row[9]) }],
    data.longest, "nobody was blocked",
  );
  const known = data.blocked.filter((row) => row[1] >= 0);
  table(
    "stacks", "Stacks",
    [number("blocked", 4, duration), number("waits", 3), number("main thread", 5, duration), number("longest", 6, duration), word("program", 0), word("operation", 2), word("longest at", 7),
      { title: "functions, innermost first", value: (row) => stackLine(row[1]), element: (row) => stackDetails(row[1]) }],
    known, "the log has no stacks: --stacks first takes them",
  );
  table(
    "happenings", "Gates, faults and marks",
    [number("at", 0, duration), { title: "what", value: (row) => row[1] },
      { title: "about", isName: true, value: (row) => row.slice(2).map(text).join(": ") }],
    data.moments.concat(data.holds.map(([start, end, gate, path]) => [start, end < 0 ? "held" : `held ${duration(end - start)}`, gate, path])), "nothing failed, was held or was marked",
  );
  table("requests", "Requests", [word("operation", 0), number("count", 1)], data.requests ?? [], data.requests ? "none reached the volume" : "not known: the log has no counters");
}

function stackLine(stack) {
  if (stack < 0) return "";
  const [, frames, from, to] = data.stacks[stack];
  return frames.slice(from, Math.min(to, from + 3)).map((frame) => text(data.frames[frame][0])).join(" < ");
}

function stackDetails(stack) {
  return stack < 0 ? "" : make("details", {}, make("summary", { class: "frame" }, stackLine(stack)), stackList(stack));
}

// ------------------------------------------------------------------------------------------------------------- Page

verdict();
section("numbers", "Numbers", facts(data.facts));
findings();
new Timeline();
new Flame();
new Tree();
coordination();
tables();
section(
  "settings", "What was simulated",
  make("pre", { tabindex: 0 }, data.scenario ?? data.settings ?? "not known"),
  data.scenario ? null : make("p", { class: "faint" }, "Settings at the mount, as the log has them. Rules of a scenario are in no log."),
);
section("again", "Run it again", make("pre", { tabindex: 0 }, data.again), make("p", { class: "faint" }, `log ${data.log}; made by dataless ${data.version}`));
document.documentElement.setAttribute("data-ready", "true");
