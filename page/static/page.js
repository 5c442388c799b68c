// The page works without this: it adds what streams, and sends forms without leaving the page.
(() => {
  "use strict";
  const body = document.body, data = body.dataset;
  const byID = (id) => document.getElementById(id);

  // Each device has a folder of its own, which this origin remembers.
  try {
    if (data.home) localStorage.setItem("home", data.home);
    else if (data.page === "pair" && location.pathname === "/" && localStorage.getItem("home")) return location.replace(localStorage.getItem("home"));
    else if (data.page === "pair") localStorage.removeItem("home");
  } catch { /* it may be switched off */ }

  const atEnd = () => window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 60;
  const toEnd = () => window.scrollTo(0, document.documentElement.scrollHeight);

  const replace = (old, next) => {
    if (old.tagName === "DETAILS" && old.dataset.touched) { next.open = old.open; next.dataset.touched = "1"; }
    const held = old.contains(document.activeElement) ? document.activeElement : null;
    if (old.id === "asks") keep(old, next);
    old.replaceWith(next);
    if (held && held.name) next.querySelector(`[name="${CSS.escape(held.name)}"]`)?.focus();
  };

  // A question that is being answered keeps what was typed.
  const keep = (old, next) => {
    for (const field of old.querySelectorAll("input, select")) {
      const ticks = field.type === "checkbox", which = ticks ? `[value="${CSS.escape(field.value)}"]` : "";
      const same = next.querySelector(`[id="${CSS.escape(field.closest(".ask").id)}"] [name="${CSS.escape(field.name)}"]${which}`);
      if (same && ticks) same.checked = field.checked;
      else if (same && field.type !== "hidden") same.value = field.value;
    }
  };

  // What is pressed stays where it is until it is let go of: otherwise nothing would be clicked.
  let pressed = false;
  const late = [];
  document.addEventListener("pointerdown", () => { pressed = true; });
  for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => setTimeout(() => { pressed = false; late.splice(0).forEach(apply); }));

  const apply = (html) => {
    if (pressed) return late.push(html);
    const follow = atEnd(), box = document.createElement("template");
    box.innerHTML = html;
    for (const part of [...box.content.children]) {
      if (part.tagName === "TEMPLATE") {
        const to = byID(part.dataset.in);
        for (const el of [...part.content.children]) {
          const old = byID(el.id);
          if (old) replace(old, el);
          else to.insertBefore(el, el.dataset.before ? byID(el.dataset.before) : null);
        }
        continue;
      }
      const old = byID(part.id);
      if (old) replace(old, part);
    }
    const state = byID("state");
    if (state) document.title = (state.dataset.state === "needs" ? "● " : "") + state.dataset.title;
    if (follow && data.page === "session") toEnd();
  };

  let source = null, waits = 1000;
  // A session that is closed may be opened again, by its process or another one: it is looked for less and less often.
  const closed = () => {
    said("This session is not open any more.");
    setTimeout(() => document.hidden ? document.addEventListener("visibilitychange", listen, { once: true }) : listen(), waits);
    waits = Math.min(30000, waits * 2);
  };
  const said = (text) => { const el = byID("said"); if (el) { el.textContent = text; el.hidden = !text; } };
  const listen = () => {
    if (!data.events || source) return;
    source = new EventSource(data.events);
    source.onmessage = (ev) => { said(""); waits = 1000; apply(ev.data); };
    source.onopen = () => said("");
    source.onerror = () => {
      if (source && source.readyState === EventSource.CLOSED) check();
      else said("The connection is lost. Trying again…");
    };
    source.addEventListener("ended", () => { stop(); closed(); });
  };
  const stop = () => { source?.close(); source = null; };
  // A stream that is refused for good: this device was revoked, or the session is gone.
  const check = async () => {
    stop();
    try {
      const res = await fetch(location.href, { headers: { "X-Jcode": "look" } });
      if (res.status === 401) return location.replace("/");
      closed();
    } catch { said("The connection is lost. Trying again…"); setTimeout(listen, 3000); }
  };
  listen();
  if (data.page === "list") document.addEventListener("visibilitychange", () => document.hidden ? stop() : listen());
  if (data.page === "session") toEnd();

  document.addEventListener("toggle", (ev) => { ev.target.dataset.touched = "1"; }, true);

  document.addEventListener("submit", async (ev) => {
    const form = ev.target;
    if (!form.classList.contains("act")) return;
    ev.preventDefault();
    const values = new FormData(form, ev.submitter), prompt = form.classList.contains("prompt");
    const many = form.enctype === "multipart/form-data";
    if (prompt) {
      if (!area.value.trim() && !pictures.length) return area.focus();
      values.delete("picture");
      for (const file of pictures) values.append("picture", file, file.name);
    }
    const buttons = [...form.querySelectorAll("button")];
    for (const b of buttons) b.disabled = true;
    try {
      const res = await fetch(form.action, { method: "POST", body: many ? values : new URLSearchParams(values), headers: { "X-Jcode": "form" } });
      if (res.status === 401) return location.replace("/");
      const text = await res.text();
      said(res.ok ? "" : text);
      if (res.ok && prompt) { form.reset(); pictures.length = 0; drawPictures(); grow(area); toEnd(); }
      else if (form.closest("dialog")) {
        byID("dialog").close();
        if (res.ok && text && area) { area.value = text; grow(area); area.focus(); }
      } else if (res.ok && data.page === "aside") history.back();
    } catch { said("Not sent: the connection is lost."); }
    for (const b of buttons) b.disabled = false;
  });

  const grow = (area) => { area.rows = Math.min(10, Math.max(1, area.value.split("\n").length)); };
  const area = byID("text"), pictures = [];

  // Pictures are picked, pasted or dropped, and shown by name until they are sent.
  const drawPictures = () => {
    const list = byID("pictures");
    list.replaceChildren(...pictures.map((file, i) => {
      const li = document.createElement("li"), out = document.createElement("button");
      out.type = "button"; out.textContent = "×"; out.setAttribute("aria-label", "Remove " + file.name);
      out.onclick = () => { pictures.splice(i, 1); said(""); drawPictures(); area.focus(); };
      li.append(file.name + " ", out);
      return li;
    }));
    list.hidden = !pictures.length;
  };
  const addPictures = (files) => {
    const found = [...files].filter((f) => f.type.startsWith("image/"));
    pictures.push(...found.slice(0, 8 - pictures.length));
    if (found.length) drawPictures();
    return found.length;
  };

  // Names of files follow an @.
  const names = byID("names");
  let asked = 0, timer = 0;
  const word = () => area.value.slice(0, area.selectionStart).match(/(?:^|\s)@([^\s"]*)$/);
  const offer = (list) => {
    names.replaceChildren(...list.map((name, i) => {
      const li = document.createElement("li");
      li.textContent = name; li.id = "n" + i; li.setAttribute("role", "option"); li.setAttribute("aria-selected", i === 0);
      li.onpointerdown = (ev) => { ev.preventDefault(); choose(li); };
      return li;
    }));
    names.hidden = !list.length;
    if (list.length) area.setAttribute("aria-activedescendant", "n0"); else area.removeAttribute("aria-activedescendant");
  };
  const complete = () => {
    clearTimeout(timer);
    const at = word(), mine = ++asked;
    if (!at) return offer([]);
    timer = setTimeout(async () => {
      try {
        const res = await fetch(area.form.dataset.files + "?q=" + encodeURIComponent(at[1]), { headers: { "X-Jcode": "files" } });
        const list = res.ok ? await res.json() : [];
        if (mine === asked) offer(list.slice(0, 8));
      } catch { /* the prompt can be sent without */ }
    }, 80);
  };
  const choose = (li) => {
    const at = word();
    if (!at) return offer([]);
    const end = area.selectionStart, name = /\s/.test(li.textContent) ? `"${li.textContent}"` : li.textContent;
    area.setRangeText(name + " ", end - at[1].length, end, "end");
    asked++;
    offer([]);
  };
  const chosen = () => names.querySelector("[aria-selected=true]");
  const move = (by) => {
    const all = [...names.children], next = all[(all.indexOf(chosen()) + by + all.length) % all.length];
    for (const li of all) li.setAttribute("aria-selected", li === next);
    area.setAttribute("aria-activedescendant", next.id);
    next.scrollIntoView({ block: "nearest" });
  };

  if (area) {
    area.addEventListener("input", () => { grow(area); complete(); });
    area.addEventListener("blur", () => offer([]));
    area.addEventListener("paste", (ev) => { if (addPictures(ev.clipboardData.files)) ev.preventDefault(); });
    byID("pick").addEventListener("change", (ev) => { addPictures(ev.target.files); ev.target.value = ""; });
    document.addEventListener("dragover", (ev) => { if (ev.dataTransfer.types.includes("Files")) ev.preventDefault(); });
    document.addEventListener("drop", (ev) => { if (ev.dataTransfer.files.length) { ev.preventDefault(); addPictures(ev.dataTransfer.files); } });
    grow(area);
    area.addEventListener("keydown", (ev) => {
      if (!names.hidden && !ev.isComposing) {
        const by = { ArrowDown: 1, ArrowUp: -1 }[ev.key];
        if (by) { ev.preventDefault(); return move(by); }
        if (ev.key === "Enter" || ev.key === "Tab") { ev.preventDefault(); return choose(chosen()); }
        if (ev.key === "Escape") { ev.preventDefault(); asked++; return offer([]); }
      }
      const touch = matchMedia("(pointer: coarse)").matches;
      if (ev.key === "Enter" && !ev.shiftKey && !ev.isComposing && !touch) { ev.preventDefault(); area.form.requestSubmit(); }
    });
    document.addEventListener("keydown", (ev) => {
      if (ev.key === "/" && !ev.target.closest("input, textarea, select")) { ev.preventDefault(); area.focus(); }
    });
  }

  // What would be a page of its own is a dialog.
  const dialog = byID("dialog");
  document.addEventListener("click", async (ev) => {
    const link = ev.target.closest("a.open");
    if (!link || !dialog || ev.ctrlKey || ev.metaKey || ev.shiftKey) return;
    ev.preventDefault();
    try {
      const res = await fetch(link.href, { headers: { "X-Jcode": "dialog" } });
      if (res.status === 401) return location.replace("/");
      const html = await res.text();
      if (!res.ok) return said(html.startsWith("<") ? "That is not there any more." : html);
      dialog.innerHTML = html;
      const close = document.createElement("button");
      close.className = "close"; close.textContent = "×"; close.setAttribute("aria-label", "Close");
      close.onclick = () => dialog.close();
      dialog.append(close);
      dialog.showModal();
    } catch { said("The connection is lost."); }
  });
  dialog?.addEventListener("click", (ev) => { if (ev.target === dialog) dialog.close(); });

  document.addEventListener("click", async (ev) => {
    const link = ev.target.closest("#earlier a");
    if (!link || data.page !== "session") return;
    ev.preventDefault();
    const res = await fetch(link.href, { headers: { "X-Jcode": "earlier" } });
    if (!res.ok) return;
    const height = document.documentElement.scrollHeight, box = document.createElement("template");
    box.innerHTML = await res.text();
    byID("earlier").replaceWith(box.content);
    window.scrollBy(0, document.documentElement.scrollHeight - height);
  });
})();
