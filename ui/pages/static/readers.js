// Groups are chosen by pressing them: each button puts its group into the field of readers, or takes it out. Without this
// script the field is typed.
function listReaders(field) {
  return field.value.split(',').map((one) => one.trim()).filter(Boolean);
}

function markChosen(field) {
  const chosen = listReaders(field);
  for (const button of document.querySelectorAll('[data-reader]')) {
    if (button.dataset.field === field.id) button.setAttribute('aria-pressed', String(chosen.includes(button.dataset.reader)));
  }
}

function markAll() {
  for (const id of new Set([...document.querySelectorAll('[data-reader]')].map((one) => one.dataset.field))) {
    const field = document.getElementById(id);
    if (field) markChosen(field);
  }
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-reader]');
  const field = button && document.getElementById(button.dataset.field);
  if (!field) return;
  const chosen = listReaders(field);
  const name = button.dataset.reader;
  field.value = (chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]).join(', ');
  // The form's warnings and effects follow what is typed.
  field.dispatchEvent(new Event('input', { bubbles: true }));
  markChosen(field);
});
document.addEventListener('input', markAll);
document.addEventListener('htmx:afterSwap', markAll);
