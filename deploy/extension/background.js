// Asks the service on behalf of pages. The key stays here: no page and no content script can read it.
const FILES = ['underline.js', 'content.js'];
const PATHS = { mark: '/api/terms/marks', report: '/api/terms/reports' };
const ALWAYS = 'always';

chrome.storage.local.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' });

const readSettings = () => chrome.storage.local.get({ address: '', key: '', context: '', sites: [] });

async function ask(kind, request) {
  const { address, key } = await readSettings();
  if (!address || !key) throw new Error('Set the address of Argot and a key in the options of the extension.');
  const answer = await fetch(address + PATHS[kind], {
    method: 'POST',
    credentials: 'omit',
    redirect: 'error',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(request),
  });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error((told.error && told.error.message) || `Argot answered with status ${answer.status}.`);
  return told;
}

async function handle(message) {
  if (message.kind === 'settings') {
    const { address, context } = await readSettings();
    return { address, context };
  }
  if (!(message.kind in PATHS)) throw new Error('Unknown request.');
  return ask(message.kind, message.request);
}

chrome.runtime.onMessage.addListener((message, sender, reply) => {
  if (sender.id !== chrome.runtime.id) return false;
  handle(message).then((data) => reply({ data }), (error) => reply({ error: error.message }));
  return true; // the reply comes later
});

chrome.action.onClicked.addListener(async (tab) => {
  const { address, key } = await readSettings();
  if (!address || !key) await chrome.runtime.openOptionsPage();
  else await chrome.scripting.executeScript({ target: { tabId: tab.id }, files: FILES });
});

// On the sites that the options name, without a click.
async function register() {
  const { sites } = await readSettings();
  const known = await chrome.scripting.getRegisteredContentScripts({ ids: [ALWAYS] });
  if (known.length) await chrome.scripting.unregisterContentScripts({ ids: [ALWAYS] });
  if (sites.length) await chrome.scripting.registerContentScripts([{ id: ALWAYS, js: FILES, matches: sites, runAt: 'document_idle' }]);
}
// One after the other: two at once would both add the script.
let registered = Promise.resolve();
function registerInTurn() {
  registered = registered.then(register, register);
  return registered;
}
chrome.storage.onChanged.addListener((changes) => { if (changes.sites) registerInTurn(); });
chrome.runtime.onInstalled.addListener(registerInTurn);
