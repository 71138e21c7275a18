// "@" in the field chooses documents and tags to ask. The service checks each choice, keeps it with the conversation, and
// sends back what is asked, which is shown as chips above the field. All names are data: they are set as text only.
const FIELD = '#chat-input';
const TYPED = /(?:^|\s)@([^@\n]{0,60})$/;
let scope = { documents: [], tags: [] };
let listed = []; // the choices shown: { address, name, aside }
let active = 0;
let asked = 0; // the number of the last request: an older answer that comes later is dropped
let due = 0;

// A text in the language of the window, with these values in its places ("%(name)s").
function say(text, values = {}) {
  return ((window.argotTexts && window.argotTexts[text]) || text).replace(/%\((\w+)\)s/g, (place, name) => values[name] ?? place);
}

const box = document.createElement('ul');
box.id = 'argot-choices';
box.setAttribute('role', 'listbox');
box.hidden = true;
document.body.append(box);
const told = document.createElement('div');
told.setAttribute('role', 'status');
told.className = 'argot-voice';
document.body.append(told);
const chips = document.createElement('div');
chips.id = 'argot-scope';
chips.setAttribute('role', 'group');
function nameParts() {
  box.setAttribute('aria-label', say('Documents and tags to ask'));
  chips.setAttribute('aria-label', say('Only these are asked'));
}
nameParts();
window.addEventListener('argot-texts', () => { nameParts(); show(); });

const send = (address, taken) => window.postMessage({ open: `${address}choose=${taken ? 1 : 0}` }, window.location.origin);
const documentAddress = (id) => `/library/${id}?`;
const tagAddress = (tag) => `/library?tag=${encodeURIComponent(tag)}&`;

// -- what is typed ------------------------------------------------------------------------------------------------

function typed() {
  const field = document.activeElement;
  if (!field || !field.matches(FIELD)) return null;
  if (field instanceof HTMLTextAreaElement) {
    const end = field.selectionStart;
    const found = field.selectionEnd === end && TYPED.exec(field.value.slice(0, end));
    return found ? { words: found[1], select: () => field.setSelectionRange(end - found[1].length - 1, end) } : null;
  }
  const at = window.getSelection();
  if (!at || !at.isCollapsed || !at.focusNode || at.focusNode.nodeType !== Node.TEXT_NODE) return null;
  const [node, end] = [at.focusNode, at.focusOffset];
  const found = TYPED.exec(node.data.slice(0, end));
  return found ? { words: found[1], select: () => at.setBaseAndExtent(node, end - found[1].length - 1, node, end) } : null;
}

function look() {
  window.clearTimeout(due);
  const now = typed();
  if (!now) return close();
  due = window.setTimeout(() => ask(now.words), 120);
}

async function ask(words) {
  const number = (asked += 1);
  let found = { documents: [], tags: [] };
  try {
    const answer = await fetch(`/library/choices?q=${encodeURIComponent(words)}`, { headers: { accept: 'application/json' } });
    if (answer.ok) found = await answer.json();
  } catch { /* offline: nothing to choose from */ }
  if (number !== asked || !typed()) return;
  const chosen = new Set(scope.documents.map((one) => one.id));
  listed = [
    ...found.tags.filter((tag) => !scope.tags.includes(tag)).map((tag) => ({ address: tagAddress(tag), name: tag, aside: say('tag') })),
    ...found.documents.filter((one) => !chosen.has(one.id)).map((one) => ({ address: documentAddress(one.id), name: one.name, aside: one.title === one.name ? '' : one.title })),
  ];
  active = 0;
  draw();
  if (listed.length) told.textContent = say('%(number)s to choose from: %(name)s. Arrows choose, Enter takes.', { number: listed.length, name: listed[0].name });
}

// -- the list -------------------------------------------------------------------------------------------------------

function draw() {
  const field = document.querySelector(FIELD);
  if (!listed.length || !field) return close();
  box.replaceChildren(...listed.map((one, place) => {
    const row = document.createElement('li');
    row.id = `argot-choice-${place}`;
    row.setAttribute('role', 'option');
    row.setAttribute('aria-selected', String(place === active));
    const name = document.createElement('bdi');
    name.textContent = one.name;
    const aside = document.createElement('small');
    aside.textContent = one.aside;
    row.append(name, aside);
    row.addEventListener('mousedown', (event) => { event.preventDefault(); take(place); });
    return row;
  }));
  const edge = (document.querySelector('#message-composer') || field).getBoundingClientRect();
  box.style.left = `${Math.max(8, edge.left)}px`;
  box.style.width = `${Math.min(edge.width, window.innerWidth - 16)}px`;
  box.style.bottom = `${window.innerHeight - edge.top + 6}px`;
  box.style.maxHeight = `${Math.max(120, edge.top - 16)}px`;
  box.hidden = false;
  field.setAttribute('aria-controls', box.id);
  field.setAttribute('aria-autocomplete', 'list');
  field.setAttribute('aria-activedescendant', `argot-choice-${active}`);
  box.children[active].scrollIntoView({ block: 'nearest' });
}

function close() {
  asked += 1;
  listed = [];
  box.hidden = true;
  const field = document.querySelector(FIELD);
  if (field) field.removeAttribute('aria-activedescendant');
}

function take(place) {
  const [now, one] = [typed(), listed[place]];
  if (!now || !one) return close();
  now.select();
  document.execCommand('delete'); // as if it were typed, so that the page notices it and "undo" works
  send(one.address, true);
  told.textContent = say('%(name)s is asked.', { name: one.name });
  close();
}

document.addEventListener('input', (event) => { if (event.target instanceof Element && event.target.closest(FIELD)) look(); });
document.addEventListener('focusout', close);
// Before the page's own handler, which sends the message at Enter.
document.addEventListener('keydown', (event) => {
  if (box.hidden || event.isComposing) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    active = (active + step + listed.length) % listed.length;
    draw();
    told.textContent = listed[active].name;
  } else if (event.key === 'Enter' || event.key === 'Tab') take(active);
  else if (event.key === 'Escape') close();
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

// -- the chips ------------------------------------------------------------------------------------------------------

function chip(name, address) {
  const one = document.createElement('button');
  one.type = 'button';
  one.setAttribute('aria-label', say('No longer ask %(name)s', { name }));
  const words = document.createElement('bdi');
  words.textContent = name;
  one.append(words, ' ×');
  one.addEventListener('click', () => send(address, false));
  return one;
}

function show() {
  chips.replaceChildren(
    `${say('Asking only')} `,
    ...scope.tags.map((tag) => chip(tag, tagAddress(tag))),
    ...scope.documents.map((one) => chip(one.name, documentAddress(one.id))),
  );
  place();
}

function place() {
  const composer = document.querySelector('#message-composer');
  const wanted = composer && (scope.documents.length || scope.tags.length);
  if (!wanted) chips.remove();
  else if (composer.previousSibling !== chips) composer.before(chips);
}

window.addEventListener('message', (event) => {
  const given = event.source === window && event.origin === window.location.origin && event.data && event.data.scope;
  if (!given || !Array.isArray(given.documents) || !Array.isArray(given.tags)) return;
  scope = given;
  show();
});
// The field is drawn anew when a conversation begins.
new MutationObserver(place).observe(document.body, { childList: true, subtree: true });
// What is asked may have been sent before this script was loaded.
window.postMessage({ open: '/library?scope' }, window.location.origin);
