// A mark in an answer opens its passage in the side panel. With a modifier key, or without this script, it is a plain
// link to the same passage. The message goes to Chainlit's own window-message channel and from there to the service,
// which checks what may be read.
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element && event.target.closest('.message-content a[href^="/argot/passages/"]');
  if (!link) return;
  event.preventDefault();
  document.querySelectorAll('.argot-open').forEach((other) => other.classList.remove('argot-open'));
  link.classList.add('argot-open');
  window.postMessage({ open: link.getAttribute('href') }, window.location.origin);
});
