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

  const apply = (html) => {
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

  let source = null;
  const said = (text) => { const el = byID("said"); if (el) { el.textContent = text; el.hidden = !text; } };
  const listen = () => {
    if (!data.events || source) return;
    source = new EventSource(data.events);
    source.onmessage = (ev) => { said(""); apply(ev.data); };
    source.onopen = () => said("");
    source.onerror = () => {
      if (source && source.readyState === EventSource.CLOSED) check();
      else said("The connection is lost. Trying again…");
    };
    source.addEventListener("ended", () => { stop(); said("This session is not open any more."); });
  };
  const stop = () => { source?.close(); source = null; };
  // A stream that is refused for good: this device was revoked, or the session is gone.
  const check = async () => {
    stop();
    try {
      const res = await fetch(location.href, { headers: { "X-Jcode": "look" } });
      if (res.status === 401) return location.replace("/");
      said("This session is not open any more.");
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
    const values = new URLSearchParams(new FormData(form, ev.submitter));
    const buttons = [...form.querySelectorAll("button")];
    for (const b of buttons) b.disabled = true;
    try {
      const res = await fetch(form.action, { method: "POST", body: values, headers: { "X-Jcode": "form" } });
      if (res.status === 401) return location.replace("/");
      said(res.ok ? "" : await res.text());
      if (res.ok && form.classList.contains("prompt")) { form.reset(); grow(form.elements.text); toEnd(); }
      else if (res.ok) form.closest(".set")?.removeAttribute("open");
    } catch { said("Not sent: the connection is lost."); }
    for (const b of buttons) b.disabled = false;
  });

  const grow = (area) => { area.rows = Math.min(10, Math.max(1, area.value.split("\n").length)); };
  const area = byID("text");
  if (area) {
    area.addEventListener("input", () => grow(area));
    area.addEventListener("keydown", (ev) => {
      const touch = matchMedia("(pointer: coarse)").matches;
      if (ev.key === "Enter" && !ev.shiftKey && !ev.isComposing && !touch) { ev.preventDefault(); area.form.requestSubmit(); }
    });
    document.addEventListener("keydown", (ev) => {
      if (ev.key === "/" && !ev.target.closest("input, textarea, select")) { ev.preventDefault(); area.focus(); }
    });
  }

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
