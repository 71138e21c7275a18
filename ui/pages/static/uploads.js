// Files are listed as they are chosen or dropped, and sent one by one when the button is pressed, each with its own bar and
// outcome. Without this script the same form sends them all at once. Names and messages are put in as text, never as HTML.
const form = document.querySelector('#upload');
if (form) {
  const input = form.querySelector('#files');
  const drop = form.querySelector('#drop');
  const list = form.querySelector('#uploads');
  const button = form.querySelector('#add');
  const status = form.querySelector('#upload-status');
  const most = Number(form.dataset.mostMb) * 1e6;
  const said = { added: 'Added', updated: 'Replaced what it was', unchanged: 'Unchanged, it is in already', duplicate: 'Not added: the same content is in already' };
  const waiting = [];
  let sending = false;

  function element(kind, className, text) {
    const made = document.createElement(kind);
    if (className) made.className = className;
    if (text) made.textContent = text;
    return made;
  }

  function counted(number) {
    return number === 1 ? '1 file' : `${number} files`;
  }

  function refresh() {
    list.hidden = !list.children.length;
    button.textContent = waiting.length ? `Add ${counted(waiting.length)}` : 'Add';
    button.disabled = sending;
    // The files are in the list by now: the browser need not insist on a choice.
    input.required = !waiting.length;
  }

  function take(file) {
    const row = element('li', 'row');
    const name = element('span', 'term', file.name);
    name.dir = 'auto';
    const away = element('button', 'plain', 'Leave out');
    away.type = 'button';
    away.setAttribute('aria-label', `Leave out ${file.name}`);
    const detail = element('span', 'aside', 'waiting');
    row.append(name, away, detail);
    list.append(row);
    const one = { file, row, name, away, detail };
    if (file.size > most) {
      finish(one, 'failed', `Larger than ${form.dataset.mostMb} MB`);
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

  function finish(one, kind, text, href) {
    one.row.classList.add(kind);
    one.row.querySelectorAll('progress').forEach((bar) => bar.remove());
    one.away.remove();
    one.detail.textContent = text;
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
      body.append('files', one.file);
      const bar = element('progress');
      bar.max = 1;
      bar.setAttribute('aria-label', `Sending ${one.file.name}`);
      one.detail.before(bar);
      one.detail.textContent = 'sending';
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
        one.detail.textContent = 'being read';
      });
      request.addEventListener('error', () => done(finish(one, 'failed', 'The connection was lost. Choose it again.')));
      request.addEventListener('load', () => {
        let found = null;
        try {
          found = request.status === 200 ? JSON.parse(request.responseText) : null;
        } catch {
          found = null;
        }
        if (found) {
          done(finish(one, found.kind, [said[found.kind] || found.kind, found.detail.replace(/^1 passages/, '1 passage')].filter(Boolean).join(': '), found.href));
        } else {
          const text = request.getResponseHeader('Content-Type') || '';
          done(finish(one, 'failed', text.startsWith('text/plain') ? request.responseText : 'It could not be sent. Reload the page.'));
        }
      });
      request.send(body);
    });
  }

  input.addEventListener('change', () => {
    for (const file of input.files) take(file);
    // The same file may be chosen again after it was mended.
    input.value = '';
    refresh();
  });

  drop.addEventListener('dragover', (event) => {
    event.preventDefault();
    drop.classList.add('over');
  });
  drop.addEventListener('dragleave', () => drop.classList.remove('over'));
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    for (const item of event.dataTransfer.items) {
      const entry = item.webkitGetAsEntry && item.webkitGetAsEntry();
      const file = item.getAsFile();
      if (!file) continue;
      if (entry && entry.isDirectory) {
        const row = element('li', 'row failed');
        row.append(element('span', 'term', file.name), element('span', 'aside', 'A folder: open it and drop the files in it, or use argot add.'));
        list.append(row);
      } else {
        take(file);
      }
    }
    refresh();
  });

  form.addEventListener('submit', async (event) => {
    if (!waiting.length) return;
    event.preventDefault();
    sending = true;
    const all = waiting.splice(0);
    refresh();
    for (const [place, one] of all.entries()) {
      status.textContent = `${place + 1} of ${all.length}`;
      await send(one);
    }
    sending = false;
    const failed = all.filter((one) => one.row.classList.contains('failed')).length;
    status.textContent = failed ? `${counted(all.length)} sent, ${failed} not added` : `${counted(all.length)} sent`;
    refresh();
    const search = document.querySelector('#q');
    if (search) search.dispatchEvent(new Event('search'));
  });
}
