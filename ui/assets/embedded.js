// The page that a frame in a page of another site begins with: it signs in by a token of that page, or by a code from a
// window of Argot's own that it opens. And the end of that window, which hands the code over.
const page = document.querySelector('#argot-embed');
const ended = document.querySelector('#argot-signed-in');
const WAIT_MILLISECONDS = 5000; // for the page around the frame, which may have no script of ours

if (ended && window.opener) {
  // Only a page of this origin can get it: whoever else has opened this window gets nothing.
  window.opener.postMessage({ argot: 'code', code: ended.dataset.code }, window.location.origin);
  window.close();
} else if (page && window.parent === window) window.location.replace('/'); // not in a frame
else if (page) begin();

function begin() {
  const origins = page.dataset.origins.split(' ');
  let opened = null;
  let waiting = 0;
  const show = (id) => ['waiting', 'offer', 'blocked'].forEach((one) => { document.getElementById(one).hidden = one !== id; });
  const complain = (words) => {
    const error = document.querySelector('#error');
    error.hidden = !words;
    error.textContent = words;
  };
  const goOn = () => ('signedIn' in page.dataset ? window.location.replace('/') : show('offer'));

  async function enter(path, body) {
    window.clearTimeout(waiting);
    show('waiting');
    complain('');
    try {
      const answer = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json' }, body: JSON.stringify(body) });
      const said = await answer.json();
      if (answer.ok && said.signed_in) {
        // A browser may keep no cookie of a frame: without this question the window and this page would alternate.
        const kept = await fetch('/user', { headers: { accept: 'application/json' } });
        return kept.ok ? window.location.replace('/') : show('blocked');
      }
      complain(said.error || '');
    } catch {
      complain('');
    }
    return show('offer');
  }

  window.addEventListener('message', (event) => {
    const data = event.data || {};
    if (event.source === window.parent && origins.includes(event.origin)) {
      if (data.argot === 'token' && typeof data.token === 'string') enter('/embed/token', { token: data.token });
      else if (data.argot === 'no-token') { window.clearTimeout(waiting); goOn(); }
    } else if (opened && event.source === opened && event.origin === window.location.origin && data.argot === 'code') {
      enter('/embed/code', { code: String(data.code) });
    }
  });
  document.querySelector('#sign-in').addEventListener('click', () => {
    opened = window.open(page.dataset.entrance, '_blank', 'popup,width=480,height=640');
  });
  if (!('tokens' in page.dataset)) return goOn();
  waiting = window.setTimeout(goOn, WAIT_MILLISECONDS);
  // It holds no secret: the page around is to send its token now.
  return window.parent.postMessage({ argot: 'ready' }, '*');
}
