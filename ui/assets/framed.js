// The chat window in a frame of a page of another site. What it tells that page holds no secret, so it may be of any
// origin; which origins there are, the policy of this page says.
const tell = (what) => window.parent.postMessage({ argot: what }, '*');

// Pages outside the window are not shown in a frame: they open in a tab of their own.
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element && event.target.closest('a[href]');
  if (!link || link.target === '_blank') return;
  const { origin, pathname } = new URL(link.href, window.location.href);
  if (origin === window.location.origin && /^\/($|thread\/|argot\/)/.test(pathname)) return;
  link.target = '_blank';
  link.rel = 'noopener';
}, true);

// Escape closes what is open here first, then the window as a whole. Before Chainlit hears of the key, to see what is open.
window.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.isComposing) return;
  const open = document.querySelectorAll('[role="dialog"], [role="menu"], [role="listbox"], [role="alertdialog"]');
  if (![...open].some((one) => one.checkVisibility({ visibilityProperty: true }))) tell('close');
}, true);

// Whoever opens the window by the button goes on typing in it.
window.addEventListener('message', (event) => {
  if (event.source === window.parent && event.data && event.data.argot === 'focus') document.querySelector('#chat-input')?.focus();
});
const field = new MutationObserver(() => {
  if (!document.querySelector('#chat-input')) return;
  field.disconnect();
  tell('shown');
});
field.observe(document.body, { childList: true, subtree: true });
if (document.querySelector('#chat-input')) {
  field.disconnect();
  tell('shown');
}
