// Argot's chat window in a page of another site (docs/embedding.md):
//   <script src="ADDRESS OF ARGOT/embed.js" data-token="/argot-token" data-language="en" defer></script>
// data-token: an address of the page's own site that answers with a signed token, or with 401 if nobody is signed in
// there. data-language: of the button and the window; else that of the page. data-label: the text of the button.
(() => {
  const script = document.currentScript;
  const service = new URL(script.src).origin;
  const texts = {/* texts */};
  const languageOf = (given) => (given || '').toLowerCase().split('-')[0];
  const language = [script.dataset.language, document.documentElement.lang, navigator.language].map(languageOf).find((one) => one in texts) || 'en';
  const say = (words) => texts[language][words];
  const STORED = 'argot-window';
  const looks = `
    :host { all: initial; }
    section { position: fixed; inset: auto 1rem 1rem auto; z-index: 2147483000; display: flex; flex-direction: column; align-items: end; gap: 0.6rem;
      font: 600 1rem/1.4 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; color-scheme: light dark; }
    button { min-height: 2.75rem; padding: 0.5rem 1.2rem; font: inherit; color: #fff; background: hsl(190 62% 27%); border: 1px solid #fff; border-radius: 1.4rem; cursor: pointer; }
    button:focus-visible { outline: 3px solid hsl(190 62% 27%); outline-offset: 2px; }
    #panel { width: min(27rem, calc(100vw - 2rem)); height: min(42rem, calc(100vh - 6rem)); overflow: hidden; background: Canvas;
      border: 1px solid GrayText; border-radius: 0.8rem; box-shadow: 0 0.5rem 2rem rgb(0 0 0 / 30%); }
    #panel[hidden] { display: none; }
    iframe { display: block; width: 100%; height: 100%; border: 0; }`;

  const host = document.createElement('div');
  host.lang = language;
  const root = host.attachShadow({ mode: 'open' });
  // A constructed style sheet: no inline style that the policy of the page could forbid.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(looks);
  root.adoptedStyleSheets = [sheet];
  const make = (tag, attributes) => {
    const made = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    return made;
  };
  const section = make('section', { 'aria-label': 'Argot' });
  const panel = make('div', { id: 'panel', role: 'dialog', 'aria-label': 'Argot', hidden: '' });
  const button = make('button', { type: 'button', 'aria-expanded': 'false', 'aria-controls': 'panel' });
  button.textContent = script.dataset.label || say('Ask Argot');
  section.append(panel, button);
  root.append(section);
  let frame = null;
  let shown = false; // the window is in the frame, and listens
  let focusing = false; // whoever opened it waits to type in it

  const tell = (message) => frame.contentWindow.postMessage(message, service);
  function remember(state) {
    try { window.localStorage.setItem(STORED, state); } catch { /* a browser may forbid it */ }
  }
  function recall() {
    try { return window.localStorage.getItem(STORED); } catch { return null; }
  }
  function show({ focus }) {
    if (!frame) {
      frame = make('iframe', { title: say('Argot, a window to ask questions in'), src: `${service}/embed?language=${language}`, allow: 'clipboard-write' });
      panel.append(frame);
    }
    panel.hidden = false;
    button.setAttribute('aria-expanded', 'true');
    remember('open');
    focusing = focus;
    if (!focus) return;
    frame.focus();
    if (shown) tell({ argot: 'focus' });
  }
  function close() {
    panel.hidden = true;
    button.setAttribute('aria-expanded', 'false');
    remember('closed');
    button.focus();
  }
  // The token goes to the frame alone, and only to this service: it is in no address.
  async function sendToken() {
    if (!script.dataset.token) return tell({ argot: 'no-token' });
    try {
      const answer = await fetch(script.dataset.token, { credentials: 'same-origin', cache: 'no-store', headers: { accept: 'text/plain' } });
      if (answer.ok) return tell({ argot: 'token', token: (await answer.text()).trim() });
      // Nobody is signed in at this site, so nobody is to be in the frame.
      return tell([401, 403].includes(answer.status) ? { argot: 'token', token: '' } : { argot: 'no-token' });
    } catch {
      return tell({ argot: 'no-token' });
    }
  }

  button.addEventListener('click', () => (panel.hidden ? show({ focus: true }) : close()));
  section.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !panel.hidden) close();
  });
  window.addEventListener('message', (event) => {
    if (!frame || event.source !== frame.contentWindow || event.origin !== service || !event.data) return;
    if (event.data.argot === 'ready') sendToken();
    else if (event.data.argot === 'close') close();
    else if (event.data.argot === 'shown') {
      shown = true;
      if (focusing && root.activeElement === frame) tell({ argot: 'focus' });
      focusing = false;
    }
  });
  const begin = () => {
    document.body.append(host);
    if (recall() === 'open') show({ focus: false });
  };
  if (document.body) begin();
  else document.addEventListener('DOMContentLoaded', begin);
})();
