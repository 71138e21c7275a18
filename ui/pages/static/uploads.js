// Files, also those of folders, are sent one by one as soon as they are chosen or dropped, each with its own bar and
// outcome; a web address when the button is pressed. Without this script the same form sends them all at once. Names and messages are put in as text, never as HTML.
// The page holds the texts in its language, by the English ones: those with a number as the forms for 0, 1 and more.
const pageTexts = JSON.parse((document.querySelector('[data-upload-texts]') || { dataset: {} }).dataset.uploadTexts || '{}');
function say(text, values = {}) {
  const found = pageTexts[text];
  const form = Array.isArray(found) ? found[Math.min(values.number, 2)] : found || text;
  return form.replace(/%\((\w+)\)s/g, (_, name) => values[name]);
}
const form = document.querySelector('#upload');
if (form) {
  const input = form.querySelector('#files');
  const folder = form.querySelector('#folder');
  const address = form.querySelector('#from-web');
  const mostFiles = 5000;
  const drop = form.querySelector('#drop');
  const list = form.querySelector('#uploads');
  const status = form.querySelector('#upload-status');
  const most = Number(form.dataset.mostMb) * 1e6;
  const said = {
    added: say('Added'),
    updated: say('Replaced the former version'),
    unchanged: say('Unchanged, it is there already'),
    duplicate: say('Not added: the same content is there already'),
    failed: say('failed'),
    skipped: say('Skipped'),
  };
  const waiting = [];
  let sending = false;

  function element(kind, className, text) {
    const made = document.createElement(kind);
    if (className) made.className = className;
    if (text) made.textContent = text;
    return made;
  }

  function refresh() {
    list.hidden = !list.children.length;
  }

  // `path`: the folders of a file on its sender's machine. `file` may be a web address instead.
  function take(file, path = '') {
    const row = element('li', 'row');
    const called = typeof file === 'string' ? file : [path, file.name].filter(Boolean).join('/');
    const name = element('span', 'term', called);
    name.dir = 'auto';
    const away = element('button', 'plain', say('Leave out'));
    away.type = 'button';
    away.setAttribute('aria-label', say('Leave out %(name)s', { name: called }));
    const detail = element('span', 'aside', say('waiting'));
    row.append(name, away, detail);
    list.append(row);
    const one = { file, path, row, name, away, detail };
    if (file.size > most) {
      finish(one, 'failed', say('Larger than %(most)s MB', { most: form.dataset.mostMb }));
      return;
    }
    waiting.push(one);
    away.addEventListener('click', () => {
      waiting.splice(waiting.indexOf(one), 1);
      row.remove();
      refresh();
      input.focus();
    });
  }

  // The list of readable formats is the same for every other file: it is shown once, below the list.
  function saidOnce(text) {
    const formats = text.match(/ ?Argot \S+ \.\w+(?:, \.\w+)+\.?/);
    if (!formats) return text;
    if (!form.querySelector('#formats')) {
      const said = element('p', 'aside', formats[0].trim());
      said.id = 'formats';
      list.after(said);
    }
    return text.replace(formats[0], '');
  }

  function finish(one, kind, text, href) {
    one.row.classList.add(kind);
    one.row.querySelectorAll('progress').forEach((bar) => bar.remove());
    one.away.remove();
    one.detail.textContent = saidOnce(text);
    if (href) {
      const link = element('a', 'term', one.name.textContent);
      link.href = href;
      link.dir = 'auto';
      one.name.replaceWith(link);
    }
  }

  function send(one) {
    return new Promise((done) => {
      const body = new FormData(form);
      body.delete('files');
      body.delete('address');
      if (typeof one.file === 'string') body.append('address', one.file);
      else body.append('files', one.file);
      body.append('folder', one.path);
      const bar = element('progress');
      bar.max = 1;
      bar.setAttribute('aria-label', say('Sending %(name)s', { name: one.name.textContent }));
      one.detail.before(bar);
      one.detail.textContent = say('sending');
      one.away.remove();
      const request = new XMLHttpRequest();
      request.open('POST', form.action);
      request.setRequestHeader('Accept', 'application/json');
      request.setRequestHeader('X-CSRF-Token', form.elements.csrf.value);
      request.upload.addEventListener('progress', (event) => {
        if (event.lengthComputable) bar.value = event.loaded / event.total;
      });
      request.upload.addEventListener('load', () => {
        bar.removeAttribute('value');
        one.detail.textContent = typeof one.file === 'string' ? say('being fetched') : say('being read');
      });
      request.addEventListener('error', () => done(finish(one, 'failed', say('The connection was lost. Choose it again.'))));
      request.addEventListener('load', () => {
        let found = null;
        try {
          found = request.status === 200 ? JSON.parse(request.responseText) : null;
        } catch {
          found = null;
        }
        if (found) {
          for (const file of found.files || []) {
            const row = element('li', `row ${file.kind}`);
            const name = element(file.href ? 'a' : 'span', 'term', file.name);
            if (file.href) name.href = file.href;
            name.dir = 'auto';
            row.append(name, element('span', 'aside', [said[file.kind] || file.kind, file.detail].filter(Boolean).join(': ')));
            one.row.after(row);
          }
          done(finish(one, found.kind, [said[found.kind] || found.kind, found.detail].filter(Boolean).join(': '), found.href));
        } else {
          const text = request.getResponseHeader('Content-Type') || '';
          done(finish(one, 'failed', text.startsWith('text/plain') ? request.responseText : say('It could not be sent. Reload the page.')));
        }
      });
      request.send(body);
    });
  }

  input.addEventListener('change', () => {
    for (const file of input.files) take(file);
    // The same file may be chosen again after it was corrected.
    input.value = '';
    sendWaiting();
  });

  function tellUnread(name, reason) {
    const row = element('li', 'row failed');
    row.append(element('span', 'term', name), element('span', 'aside', reason));
    list.append(row);
  }

  function takeOfFolder(file, path) {
    if (file.name.startsWith('.')) return;
    if (waiting.length >= mostFiles) {
      if (waiting.length === mostFiles) tellUnread(path, say('More than %(most)s files: add the rest afterwards, or add the folder as a source.', { most: mostFiles }));
      return;
    }
    take(file, path);
  }

  // A directory returns its entries in batches, until an empty one.
  async function walk(entry, path) {
    try {
      if (entry.isFile) {
        takeOfFolder(await new Promise((done, failed) => entry.file(done, failed)), path);
        return;
      }
      const reader = entry.createReader();
      const inside = [path, entry.name].filter(Boolean).join('/');
      for (;;) {
        const some = await new Promise((done, failed) => reader.readEntries(done, failed));
        if (!some.length) return;
        for (const one of some) if (!one.name.startsWith('.')) await walk(one, inside);
      }
    } catch {
      tellUnread(entry.name, say('It could not be read.'));
    }
  }

  form.querySelector('#whole-folder').hidden = !('webkitdirectory' in folder);
  folder.addEventListener('change', () => {
    for (const file of folder.files) {
      const path = (file.webkitRelativePath || '').split('/').slice(0, -1);
      if (!path.some((part) => part.startsWith('.'))) takeOfFolder(file, path.join('/'));
    }
    folder.value = '';
    sendWaiting();
  });

  drop.addEventListener('dragover', (event) => {
    event.preventDefault();
    drop.classList.add('over');
  });
  drop.addEventListener('dragleave', () => drop.classList.remove('over'));
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    // All entries at once: the browser forgets them at this handler's first await.
    const folders = [];
    for (const item of event.dataTransfer.items) {
      const entry = item.webkitGetAsEntry && item.webkitGetAsEntry();
      const file = item.getAsFile();
      if (entry && entry.isDirectory) folders.push(entry);
      else if (file) take(file);
    }
    sendWaiting();
    (async () => {
      for (const entry of folders) await walk(entry, '');
      sendWaiting();
    })();
  });

  // Files that are chosen or dropped meanwhile are sent after the others.
  async function sendWaiting() {
    refresh();
    if (sending) return;
    sending = true;
    const sent = [];
    while (waiting.length) {
      const one = waiting.shift();
      sent.push(one);
      refresh();
      status.textContent = say('%(done)s of %(all)s', { done: sent.length, all: sent.length + waiting.length });
      await send(one);
    }
    sending = false;
    refresh();
    if (!sent.length) return;
    const failed = sent.filter((one) => one.row.classList.contains('failed')).length;
    const known = sent.filter((one) => ['duplicate', 'unchanged'].some((kind) => one.row.classList.contains(kind))).length;
    // The others of those sent were added.
    const told = [known && say('%(number)s in already', { number: known }), failed && say('%(number)s not added', { number: failed })].filter(Boolean);
    if (told.length) told.unshift(say('%(number)s added', { number: sent.length - known - failed }));
    status.textContent = [say('%(number)s files sent', { number: sent.length }), told.join(', ')].filter(Boolean).join(': ');
    const search = document.querySelector('#q');
    if (search) search.dispatchEvent(new Event('search'));
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!address.value.trim()) {
      if (!sending) status.textContent = say('Choose files, drop them above, or give a web address.');
      return;
    }
    take(address.value.trim());
    address.value = '';
    sendWaiting();
  });
}

// One button ticks all documents of the list, another none, and a line counts them. A search loads the list again.
function offerTicks() {
  const ticked = document.querySelector('.ticked');
  if (!ticked || document.querySelector('#tick-all')) return;
  const boxes = [...ticked.querySelectorAll('[name=document]')];
  const count = ticked.querySelector('#ticked-count');
  const none = ticked.querySelector('#tick-none');
  const remove = ticked.querySelector('[value=remove]');
  const all = document.createElement('button');
  all.type = 'button';
  all.id = 'tick-all';
  all.className = 'plain';
  all.textContent = say('Select all');
  function tell() {
    const number = boxes.filter((one) => one.checked).length;
    count.textContent = say('%(number)s selected', { number });
    remove.textContent = say('Remove %(number)s documents', { number });
  }
  function tickEach(checked) {
    boxes.forEach((one) => { one.checked = checked; });
    tell();
  }
  all.addEventListener('click', () => tickEach(true));
  none.addEventListener('click', () => { tickEach(false); all.focus(); });
  none.hidden = false;
  ticked.addEventListener('change', tell);
  ticked.prepend(all);
  tell();
}
offerTicks();
document.body.addEventListener('htmx:afterSwap', offerTicks);
