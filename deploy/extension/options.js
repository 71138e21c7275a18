const field = (name) => document.getElementById(name);
const tell = (text) => { field('status').textContent = text; };

chrome.storage.local.get({ address: '', key: '', context: '', sites: [] }).then((kept) => {
  for (const name of ['address', 'key', 'context']) field(name).value = kept[name];
  field('sites').value = kept.sites.join('\n');
});

document.getElementById('options').addEventListener('submit', async (event) => {
  event.preventDefault();
  const address = new URL(field('address').value).origin;
  const sites = field('sites').value.split('\n').map((one) => one.trim()).filter(Boolean);
  // Asked for at the press of the button, as the browser requires.
  const allowed = await chrome.permissions.request({ origins: [`${address}/*`, ...sites] }).catch((error) => error.message);
  if (allowed !== true) return tell(`Not saved: the browser was not allowed to open these addresses. ${allowed || ''}`);
  const key = field('key').value.trim();
  const answer = await fetch(`${address}/api/me`, { credentials: 'omit', headers: { authorization: `Bearer ${key}` } }).catch(() => null);
  if (!answer || !answer.ok) return tell(answer ? `Not saved: Argot answered with status ${answer.status}. Check the key.` : 'Not saved: Argot does not answer at this address.');
  await chrome.storage.local.set({ address, key, context: field('context').value.trim(), sites });
  return tell(`Saved. You are ${(await answer.json()).display_name}.`);
});
