// Terms where people read: a dotted underline under each term of the glossary, and its meaning in a small box, on hover,
// focus and tap. The same file serves Argot's own pages, the chat window and the browser extension (deploy/extension).
//
// Text of a glossary is only ever set as text, never as HTML. The texts of the page go to the service, which answers
// with places and meanings, by the rights of whoever is signed in. Styles are set through the object model, which strict
// policies allow.
(() => {
  if (window.argotUnderline) return;
  const SKIPPED = 'a, button, input, textarea, select, option, code, pre, kbd, samp, tt, h1, h2, h3, h4, h5, h6, summary, label, nav, script, style, noscript, template, iframe, object, svg, math, audio, video, canvas, [contenteditable]:not([contenteditable="false"]), [role="button"], [role="heading"], [role="link"], [aria-hidden="true"], .argot-term, .argot-box, [data-argot-skip]';
  const HEADINGS = 'h1, h2, h3, h4, h5, h6, [role="heading"]';
  const BLOCK = /^(?:address|article|aside|blockquote|body|caption|center|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|form|header|hr|li|main|ol|p|section|table|tbody|td|tfoot|th|thead|tr|ul)$/;
  // A text in the language of the page, where it has one, with these values in its places ("%(name)s").
  const pageTexts = () => window.argotTexts || JSON.parse((document.querySelector('[data-argot-texts]') || { dataset: {} }).dataset.argotTexts || '{}');
  const say = (text, values = {}) => (pageTexts()[text] || text).replace(/%\((\w+)\)s/g, (place, name) => values[name] ?? place);
  const GAP = '\uFFFC'; // in place of what is not searched, so that the words around it are not joined
  const MOST_CHARS = 200000; // of one page; the service takes 300,000 at a time
  const OPEN_MS = 150;
  const CLOSE_MS = 250;

  // -- the texts of a page

  // The text of each block, with the text nodes that it is made of. `section` counts headings: a term is underlined once
  // in each section.
  function readBlocks(root) {
    const blocks = [];
    let block = null;
    let section = 0;
    let chars = 0;
    const end = () => { block = null; };
    const visit = (node) => {
      if (chars > MOST_CHARS) return;
      if (node.nodeType === Node.TEXT_NODE) {
        if (!block) {
          if (!node.data.trim()) return;
          blocks.push((block = { text: '', pieces: [], section }));
        }
        block.pieces.push({ node, start: block.text.length });
        block.text += node.data;
        chars += node.data.length;
        return;
      }
      if (node.nodeType !== Node.ELEMENT_NODE) return;
      const isBlock = BLOCK.test(node.localName);
      if (node.matches(SKIPPED)) {
        if (node.matches(HEADINGS)) { section += 1; end(); } else if (block) block.text += GAP;
        if (isBlock) end();
        return;
      }
      if (node.localName === 'br') { if (block) block.text += '\n'; return; }
      if (isBlock) {
        if (node.checkVisibility && !node.checkVisibility()) return;
        end();
      }
      for (const child of node.childNodes) visit(child);
      if (isBlock) end();
    };
    visit(root);
    return blocks;
  }

  // The service counts characters, JavaScript counts units of UTF-16: they differ after an emoji.
  function countUnits(text, characters) {
    if (!/[\ud800-\udbff]/.test(text)) return characters;
    let units = 0;
    for (const one of text) {
      if (!characters) break;
      characters -= 1;
      units += one.length;
    }
    return units;
  }

  // -- underlines

  const marked = new WeakMap(); // of a root: the changes of its text nodes, to undo them

  function wrap(node, places, describe) {
    const change = { node, full: node.data, added: [] };
    for (const place of [...places].reverse()) {
      const rest = node.splitText(place.end);
      const words = node.splitText(place.start);
      const term = makeTerm(words.data, place.term, describe);
      words.replaceWith(term);
      change.added.push(term, rest);
    }
    change.left = node.data;
    return change;
  }

  function makeTerm(words, term, describe) {
    const element = document.createElement('span');
    element.className = 'argot-term';
    element.textContent = words;
    element.tabIndex = 0;
    element.setAttribute('role', 'button');
    element.setAttribute('aria-haspopup', 'dialog');
    element.setAttribute('aria-expanded', 'false');
    element.style.cssText = 'text-decoration: underline dotted; text-underline-offset: 0.2em; text-decoration-thickness: from-font; cursor: help;';
    about.set(element, { term, describe });
    return element;
  }

  // The text as it was. Where somebody else (React) has set a text anew, theirs stays.
  function restore(root) {
    const changes = marked.get(root) || [];
    marked.delete(root);
    for (const change of changes) {
      for (const one of change.added) one.remove();
      if (change.node.data === change.left) change.node.data = change.full;
    }
    if (box && current && !current.isConnected) close();
  }

  // `options`: `mark(request)` and `report(request)` ask the service and return promises; `link(term)` is the address of
  // a term's page; `once`: the root is one passage, whatever its headings; `scope` goes along with each request: `document`, `passages`, `context`, `page`.
  async function underline(root, options) {
    restore(root);
    const blocks = readBlocks(root);
    if (!blocks.length) return 0;
    const scope = options.scope || {};
    const request = { texts: blocks.map((one) => one.text), document: scope.document || '', passages: scope.passages || [], context: scope.context || '' };
    const found = await options.mark(request);
    const seen = new Set();
    const byNode = new Map();
    for (const place of found.places) {
      const block = blocks[place.text];
      const term = found.terms[place.term];
      const key = `${options.once ? 0 : block.section} ${place.term}`;
      if (seen.has(key)) continue;
      const start = countUnits(block.text, place.start);
      const stop = countUnits(block.text, place.end);
      const piece = block.pieces.find((one) => one.start <= start && stop <= one.start + one.node.data.length);
      // A term over several elements ("<b>word</b> line") is left alone, and so is a page that changed meanwhile.
      if (!piece || !piece.node.isConnected || block.text.slice(start, stop) !== piece.node.data.slice(start - piece.start, stop - piece.start)) continue;
      seen.add(key);
      byNode.set(piece.node, [...(byNode.get(piece.node) || []), { start: start - piece.start, end: stop - piece.start, term }]);
    }
    const changes = [...byNode].map(([node, places]) => wrap(node, places, options));
    marked.set(root, changes);
    return seen.size;
  }

  // -- the box

  const about = new WeakMap(); // of an underlined term: what the box says
  let box = null;
  let current = null;
  let timer = 0;

  function make(name, style, text) {
    const element = document.createElement(name);
    element.style.cssText = style;
    if (text) element.textContent = text;
    return element;
  }

  const later = (work, wait) => { window.clearTimeout(timer); timer = window.setTimeout(work, wait); };
  const isDark = () => document.documentElement.classList.contains('dark') || (!document.documentElement.classList.contains('light') && window.matchMedia('(prefers-color-scheme: dark)').matches);
  // Inline, because the box stands in pages of others too, with whatever style sheets they have.
  const accent = () => (isDark() ? 'hsl(186 45% 62%)' : 'hsl(190 62% 27%)');
  const styleButton = (filled) => `all: revert; appearance: none; box-sizing: border-box; margin: 0; font: 600 13px/1.3 system-ui, sans-serif; padding: 6px 12px; min-height: 32px; border: 1px solid ${accent()}; border-radius: 8px; cursor: pointer; ${filled ? `background: ${accent()}; color: Canvas;` : `background: transparent; color: ${accent()};`}`;

  function open(element) {
    window.clearTimeout(timer);
    if (current === element && box) return;
    close();
    const { term, describe } = about.get(element);
    current = element;
    box = make('div', `all: initial; box-sizing: border-box; position: absolute; z-index: 2147483647; width: max-content; max-width: min(360px, calc(100vw - 16px)); max-height: 60vh; overflow: auto; padding: 10px 14px; border-radius: 10px; border: 1px solid GrayText; background: Canvas; color: CanvasText; color-scheme: ${isDark() ? 'dark' : 'light'}; font: 14px/1.45 system-ui, sans-serif; overflow-wrap: anywhere; box-shadow: 0 6px 24px rgb(0 0 0 / 0.25); text-align: start;`);
    box.className = 'argot-box';
    box.id = 'argot-box';
    box.setAttribute('role', 'dialog');
    box.setAttribute('aria-label', say('What %(term)s means', { term: term.term }));
    box.tabIndex = -1;
    fill(box, term, describe);
    box.addEventListener('pointerenter', () => window.clearTimeout(timer));
    box.addEventListener('pointerleave', leave);
    box.addEventListener('focusin', () => window.clearTimeout(timer));
    box.addEventListener('focusout', (event) => {
      if (box && !box.contains(event.relatedTarget) && event.relatedTarget !== current) later(close, CLOSE_MS);
    });
    document.body.append(box);
    place(element);
    element.setAttribute('aria-expanded', 'true');
    element.setAttribute('aria-describedby', 'argot-box-meanings');
  }

  function fill(into, term, describe) {
    const list = make('div', '');
    list.id = 'argot-box-meanings';
    into.append(make('div', 'font-weight: 700; margin-bottom: 4px;', term.term), list);
    if (term.meanings.length > 1) list.append(make('div', 'margin-bottom: 4px; font-size: 13px; opacity: 0.8;', say('It has several meanings; the text does not say which one is meant here.')));
    for (const meaning of term.meanings) {
      const row = make('div', 'margin: 6px 0;');
      row.append(make('span', 'font-weight: 600;', meaning.expansion || meaning.description), make('span', 'opacity: 0.8;', ` · ${meaning.context}`));
      if (meaning.expansion && meaning.description) row.append(make('div', '', shorten(meaning.description)));
      if (meaning.contact) row.append(make('div', 'font-size: 13px; opacity: 0.8;', say('Looked after by %(name)s', { name: meaning.contact })));
      list.append(row);
    }
    const actions = make('div', 'display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-top: 8px;');
    const link = make('a', `all: revert; font-size: 13px; padding: 6px 0; color: ${accent()}; text-underline-offset: 0.15em;`, say('In the glossary'));
    link.href = describe.link(term.term);
    link.rel = 'noopener';
    actions.append(link);
    if (describe.report) {
      const wrong = make('button', styleButton(false), term.meanings.length > 1 ? say('It means something else here') : say('Not what it means here'));
      wrong.type = 'button';
      wrong.addEventListener('click', () => askWhat(into, actions, term, describe));
      actions.append(wrong);
    }
    into.append(actions);
  }

  const shorten = (text) => (text.length > 300 ? `${text.slice(0, 299)}…` : text);

  // The report, with what the reader would like to say, which may be nothing.
  function askWhat(into, actions, term, describe) {
    const form = make('form', 'all: revert; margin: 8px 0 0;');
    const name = make('label', 'display: block; font-size: 13px;', say('What does it mean here? (optional; managers of the glossary read it)'));
    const input = make('input', 'all: revert; appearance: none; box-sizing: border-box; width: 100%; font: 14px/1.3 system-ui, sans-serif; padding: 6px 8px; margin: 4px 0 8px; border: 1px solid GrayText; border-radius: 8px; background: Canvas; color: CanvasText;');
    input.maxLength = 500;
    name.append(input);
    const send = make('button', styleButton(true), say('Send'));
    form.append(name, send);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      send.disabled = true;
      const said = make('p', 'margin: 8px 0 0; font-size: 13px;');
      said.setAttribute('role', 'status');
      into.append(said);
      const scope = describe.scope || {};
      try {
        const done = await describe.report({ sense_id: term.meanings[0].sense, of_several: term.meanings.length > 1, term: term.term, document: scope.document || '', page: scope.page || '', said: input.value });
        said.textContent = done.recorded ? say('Thank you. It is in the queue of those who look after the glossary.') : say('Only some people may read this meaning, so it is not in the queue. Tell %(name)s.', { name: done.contact || say('who looks after it') });
        form.remove();
        into.focus();
      } catch (error) {
        said.textContent = `${say('It could not be sent.')} ${error.message || ''}`;
        send.disabled = false;
      }
    });
    actions.replaceWith(form);
    place(current);
    input.focus();
  }

  function place(element) {
    const at = element.getClientRects()[0] || element.getBoundingClientRect();
    const size = box.getBoundingClientRect();
    const below = at.bottom + 6 + size.height <= window.innerHeight || at.top < size.height + 6;
    const left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - size.width - 8));
    box.style.left = `${left + window.scrollX}px`;
    box.style.top = `${(below ? at.bottom + 6 : at.top - size.height - 6) + window.scrollY}px`;
  }

  function close() {
    window.clearTimeout(timer);
    if (current) {
      current.setAttribute('aria-expanded', 'false');
      current.removeAttribute('aria-describedby');
    }
    if (box) box.remove();
    box = current = null;
  }

  // Somebody who types into the box keeps it.
  const leave = () => later(() => { if (box && !box.contains(document.activeElement)) close(); }, CLOSE_MS);
  const termOf = (event) => {
    const element = event.target instanceof Element && event.target.closest('.argot-term');
    return element && about.has(element) ? element : null;
  };

  document.addEventListener('pointerover', (event) => {
    const term = termOf(event);
    if (term && event.pointerType === 'mouse') later(() => { if (term.isConnected) open(term); }, OPEN_MS);
  });
  document.addEventListener('pointerout', (event) => { if (termOf(event) && event.pointerType === 'mouse') leave(); });
  document.addEventListener('focusin', (event) => { const term = termOf(event); if (term) open(term); });
  document.addEventListener('focusout', (event) => {
    if (termOf(event) && !(box && box.contains(event.relatedTarget))) leave();
  });
  document.addEventListener('click', (event) => {
    const term = termOf(event);
    if (term) open(term);
    else if (box && !event.composedPath().includes(box)) close(); // a pressed button may be gone by now
  });
  document.addEventListener('keydown', (event) => {
    if (!box) return;
    if (event.key === 'Escape') {
      const back = box.contains(document.activeElement) ? current : null;
      close();
      if (back) { back.focus(); close(); }
      return;
    }
    // Into the box, which stands at the end of the page, and back out of it.
    const entering = event.target === current && (event.key === 'Enter' || event.key === ' ' || (event.key === 'Tab' && !event.shiftKey && event.altKey));
    if (entering) {
      event.preventDefault();
      const first = box.querySelector('a, button, input');
      if (first) first.focus();
    } else if (event.key === 'Tab' && box.contains(event.target)) {
      const stops = [...box.querySelectorAll('a, button:not([disabled]), input')];
      const next = stops[stops.indexOf(event.target) + (event.shiftKey ? -1 : 1)];
      event.preventDefault();
      if (next) next.focus();
      else { const back = current; close(); back.focus(); close(); }
    }
  });
  window.addEventListener('resize', close);

  window.argotUnderline = { underline, restore };

  // -- Argot's own pages and its chat window

  if (!document.currentScript || !document.currentScript.hasAttribute('data-argot-own')) return;

  async function post(path, request) {
    const answer = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json' }, body: JSON.stringify(request) });
    if (!answer.ok) throw new Error((await answer.text()).slice(0, 200));
    return answer.json();
  }
  const own = (scope, once) => ({
    scope,
    once,
    mark: (request) => post('/terms/marks', request),
    report: (request) => post('/terms/reports', request),
    link: (term) => `/terms/term?t=${encodeURIComponent(term)}`,
  });

  const passagesIn = (root) => [...new Set([...root.querySelectorAll('a[href^="/argot/passages/"]')].map((one) => one.getAttribute('href').slice(16).split(/[?/#]/)[0]))].slice(0, 20);
  const done = new WeakMap(); // of a root: the text that was searched

  // What is to be underlined: parts of our pages that name their document, finished answers, and the source panel.
  function findRoots() {
    const roots = [...document.querySelectorAll('[data-argot-terms]')].map((root) => [root, { document: root.dataset.argotTerms, passages: (root.dataset.argotPassages || '').split(' ').filter(Boolean) }]);
    if (document.querySelector('#stop-button')) return roots;
    for (const root of document.querySelectorAll('.ai-message .message-content')) roots.push([root, { passages: passagesIn(root) }]);
    const shown = document.querySelector('.argot-open[href^="/argot/passages/"]');
    const passages = shown ? [shown.getAttribute('href').slice(16).split(/[?/#]/)[0]] : [];
    for (const root of document.querySelectorAll('#side-view-content .side-text')) roots.push([root, { passages }]);
    return roots;
  }

  async function refresh() {
    for (const [root, scope] of findRoots()) {
      if (done.get(root) === root.textContent) continue;
      restore(root);
      done.set(root, root.textContent);
      try {
        await underline(root, own(scope, root.matches('.message-content, .side-text')));
      } catch {
        // A page can be read without underlines; the next change tries again.
        done.delete(root);
        return;
      } finally {
        observer.takeRecords(); // our own changes
      }
    }
  }

  let due = 0;
  const observer = new MutationObserver((changes) => {
    const ours = (node) => node instanceof Element && (node.matches('.argot-box') || node.closest('.argot-box'));
    if (due || changes.every((one) => ours(one.target) || [...one.addedNodes, ...one.removedNodes].every(ours) && one.type === 'childList')) return;
    due = window.setTimeout(() => { due = 0; refresh(); }, 300);
  });
  const start = () => {
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    refresh();
  };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
})();
