import('/public/mentions.js').catch(() => undefined); // "@" in the field
if (window.parent !== window) import('/public/framed.js').catch(() => undefined); // in a page of another site
// A mark in an answer opens its passage in the side panel; "not what I meant" asks for another sense. With a modifier
// key, or without this script, a mark is a plain link to the same passage. The message goes to Chainlit's own
// window-message channel and from there to the service, which checks what may be read.
const ours = ['.message-content a[href^="/argot/passages/"]', '.message-content a[href^="/argot/terms/"]', '#side-view-content a[href^="/argot/passages/"]'].join();
// The text around an answer is folded under its heading (the style sheet hides it), and unfolded by it.
const around = '.message-content h6 > a';
function unfold(link) {
  const heading = link.parentElement;
  const open = heading.toggleAttribute('data-open');
  link.setAttribute('aria-expanded', String(open));
}
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element && event.target.closest(ours);
  if (!link) return;
  event.preventDefault();
  if (event.detail > 1) return; // the second press of a double click
  if (link.matches(around)) return unfold(link);
  document.querySelectorAll('.argot-open').forEach((other) => other.classList.remove('argot-open'));
  link.classList.add('argot-open');
  window.postMessage({ open: link.getAttribute('href') }, window.location.origin);
});

// A narrow window folds the list of conversations away, and with it what would give the page the address of its new
// conversation: a reload would begin another one.
window.addEventListener('message', (event) => {
  const thread = event.source === window && event.origin === window.location.origin && event.data && event.data.thread;
  if (typeof thread !== 'string' || !/^[\w-]+$/.test(thread) || window.location.pathname !== '/') return;
  if (window.matchMedia('(max-width: 767px)').matches) window.history.replaceState(window.history.state, '', `/thread/${thread}`);
});

// The page asks one document (/?about=ID). The message is repeated until the service answers: it may not listen yet.
const about = new URLSearchParams(window.location.search).get('about') || '';
if (window.location.pathname === '/' && /^d[0-9a-f]{16}$/.test(about)) {
  let tries = 0;
  const telling = window.setInterval(() => {
    tries += 1;
    if (tries > 120 || window.location.pathname !== '/') window.clearInterval(telling);
    else if (document.querySelector('#chat-input')) window.postMessage({ open: `/library/${about}` }, window.location.origin);
  }, 500);
  window.addEventListener('message', (event) => {
    if (event.source === window && event.origin === window.location.origin && event.data && event.data.about === about) window.clearInterval(telling);
  });
}

// A file that was sent is in the conversation and cannot be fetched again, so its name is not a link.
document.addEventListener('click', (event) => {
  if (event.target instanceof Element && event.target.closest('a[href*="/project/file/"]')) event.preventDefault();
}, true);

// A page that cannot be drawn is left out; the text below it says the same.
document.addEventListener('error', (event) => {
  if (event.target instanceof HTMLImageElement && event.target.closest('#side-view-content')) event.target.style.display = 'none';
}, true);

// A picture that is about to be sent is shown as an icon: its bytes would need an address that the policy forbids.
const addressOf = URL.createObjectURL.bind(URL);
URL.createObjectURL = (what) => (what instanceof File && what.type.startsWith('image/') ? '/public/picture.svg' : addressOf(what));

// Copying gives text to paste anywhere: the answer with its numbers and the list of sources below it, without
// the marks of Markdown and without addresses that only work here.
function pasteable(markdown) {
  return markdown
    .replace(/ · \[[^\]]*\]\(\/argot\/terms\/[^)]*\)/g, '')
    .replace(/^.*\[.*\]\(\/terms\/suggest[^)]*\)\n*/gm, '')
    .replace(/\[((?:\\.|[^\]\\])*)\]\(\/argot\/[^)]*\)/g, '$1')
    .replace(/^#{1,6} (.*)$/gm, '$1:')
    .replace(/\*\*|(?<!\\)~~/g, '')
    .replace(/\\([\\`*_{}[\]()#+\-.!|<>~:&$^=])/g, '$1')
    .replace(/&lt;/g, '<')
    .replace(/&amp;/g, '&')
    .replace(/\u2060/g, '');
}
if (navigator.clipboard && navigator.clipboard.write) {
  const write = navigator.clipboard.writeText.bind(navigator.clipboard);
  navigator.clipboard.writeText = (text) => write(pasteable(text));
  navigator.clipboard.write = async (items) => write(pasteable(await (await items[0].getType('text/plain')).text()));
}

// The address of a shared conversation is copied here, from the message of the button. Its name asks for no answer.
async function copyLink(event) {
  const button = event.target instanceof Element && event.target.closest('button[id^="tool-"]:has(.lucide-clipboard)');
  const link = button && button.closest('.step, [data-step-type]')?.querySelector('a[href*="/shared/"]');
  if (!link) return;
  event.preventDefault();
  event.stopImmediatePropagation(); // else it would be announced as a question
  if (navigator.clipboard && navigator.clipboard.writeText) await navigator.clipboard.writeText(link.href);
  else {
    // Over plain HTTP a browser offers no clipboard.
    const field = document.createElement('textarea');
    field.value = link.href;
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
    button.focus();
  }
  button.setAttribute('data-copied', '');
  voice.textContent = say('The link is copied.');
}
document.addEventListener('click', (event) => { copyLink(event).catch(() => undefined); }, true);

// Screen readers announce that an answer is being written, and the answer itself.
const voice = document.createElement('div');
voice.setAttribute('role', 'status');
voice.setAttribute('aria-live', 'polite');
voice.className = 'argot-voice';
document.body.append(voice);
let before = null; // the last answer when something was asked; null: nothing is waited for
let offered = '';
function lastAnswer() {
  const answers = document.querySelectorAll('.ai-message .message-content');
  return answers.length ? answers[answers.length - 1].innerText.trim() : '';
}
function asking(event) {
  if (!(event.target instanceof Element)) return;
  const pressed = event.type === 'click' && event.target.closest('#chat-submit, #starters button, button[id^="choice-"], button[id^="next-"], button[id^="tool-"]');
  const entered = event.type === 'keydown' && event.key === 'Enter' && !event.shiftKey && event.target.closest('#chat-input');
  if (!pressed && !entered) return;
  before = lastAnswer();
  voice.textContent = say('Argot is answering.');
}
document.addEventListener('click', asking, true);
document.addEventListener('keydown', asking, true);
function listen() {
  if (!texts) return;
  if (before !== null && !document.querySelector('#stop-button')) {
    const answer = lastAnswer();
    if (answer && answer !== before) {
      before = null;
      voice.textContent = `Argot: ${answer}`;
    }
  }
  label('#chat-input', 'Your question');
  label('#chat-submit', 'Send');
  label('#stop-button', 'Stop');
  label('#upload-button', 'Ask about a file, only in this conversation');
  label('#chat-settings-open-modal', 'How to answer');
  label('#new-chat-button', 'New conversation');
  label('#sidebar-trigger-button', 'Past conversations');
  label('#search-chats-button', 'Search conversations');
  label('#theme-toggle', 'Light or dark');
  label('#user-nav-button', 'Your account');
  label('#thread-options', 'Rename or delete');
  label('button:has(> .lucide-arrow-down)', 'To the newest message');
  label('button:has(> .lucide-copy)', 'Copy with sources');
  label('.positive-feedback-off, .positive-feedback-on', 'Helpful');
  label('.negative-feedback-off, .negative-feedback-on', 'Not helpful');
  label('button[id^="tool-"]:has(.lucide-refresh-cw)', 'Answer again');
  label('button[id^="tool-"]:has(.lucide-lightbulb)', 'Suggest a meaning of a term');
  label('button[id^="tool-"]:has(.lucide-download)', 'Save this conversation');
  label('button[id^="tool-"]:has(.lucide-link)', 'Share this conversation by a link');
  label('button[id^="tool-"]:has(.lucide-badge-check)', 'Verify this answer');
  label('button[id^="tool-"]:has(.lucide-clipboard)', 'Copy the link');
  label('[role="dialog"] > button:has(> .sr-only)', 'Close');
  reword('title', 'Toggle Sidebar');
  reword('aria-label', 'Toggle Sidebar');
  reword('alt', 'Avatar for Argot');
  mend();
  showLastQuestion();
  const choices = document.querySelectorAll('button[id^="choice-"]');
  const last = choices[choices.length - 1];
  if (last && last.id !== offered) {
    offered = last.id;
    last.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
  }
  const panel = document.querySelector('#side-view-content');
  if (panel && !panel.hasAttribute('tabindex')) {
    panel.setAttribute('tabindex', '0');
    panel.setAttribute('role', 'region');
    panel.setAttribute('aria-labelledby', 'side-view-title');
  }
  showCitedPlace(panel);
}
// The cited place is marked as a deletion in Markdown, which no document can produce; for those who listen it is a mark.
let shownPlace = null;
function showCitedPlace(panel) {
  document.querySelectorAll('#side-view-content .side-text del:not([role]), .message-content blockquote del:not([role])').forEach((one) => one.setAttribute('role', 'mark'));
  const first = panel && panel.querySelector('.side-text del');
  if (first === shownPlace) return;
  shownPlace = first;
  // On the picture of a page, the place is marked there.
  if (!first || panel.querySelector('img[src*="/page.png"]')) return;
  const move = () => first.isConnected && first.scrollIntoView({ block: 'center' });
  move();
  panel.querySelectorAll('img').forEach((one) => one.complete || one.addEventListener('load', move, { once: true }));
}
// A conversation that is opened again shows its last question at the top, as it did when it was asked.
let opened = '';
function showLastQuestion() {
  const questions = document.querySelectorAll('[data-step-type="user_message"]');
  const first = questions.length ? questions[0].querySelector('[id^="step-"]')?.id || '' : '';
  if (first && first !== opened && before === null) questions[questions.length - 1].scrollIntoView({ block: 'start' });
  opened = first;
}
// What Chainlit leaves out for people who use a keyboard or a screen reader.
function mend() {
  document.querySelectorAll(`${around}:not([role])`).forEach((one) => {
    one.setAttribute('role', 'button');
    one.setAttribute('aria-expanded', 'false');
  });
  // The menu of a conversation is reached by keyboard, and the style sheet shows it while it has the focus.
  document.querySelectorAll('#thread-options[tabindex="-1"]').forEach((one) => one.setAttribute('tabindex', '0'));
  document.querySelectorAll('#thread-options:not([role])').forEach((one) => one.setAttribute('role', 'button'));
  // A link of the header is in a button: one of both is reached, as a link.
  document.querySelectorAll('#header button:has(> a):not([role])').forEach((one) => {
    const link = one.querySelector('a');
    translateLink(link);
    one.setAttribute('role', 'link');
    one.setAttribute('aria-label', link.textContent.trim() || link.querySelector('img')?.alt || '');
    link.setAttribute('tabindex', '-1');
    link.setAttribute('aria-hidden', 'true');
    one.addEventListener('click', (event) => event.target === one && link.click());
  });
  document.querySelectorAll('ul[data-sidebar="menu"] > :not(li, [role])').forEach((one) => one.setAttribute('role', 'listitem'));
  // The words beside an icon say what it is; its own would be read twice.
  document.querySelectorAll('#header img[alt], header img[alt]').forEach((one) => one.closest('a, button')?.innerText.trim() && one.setAttribute('alt', ''));
  if (document.querySelector('#argot-skip')) return;
  const skip = document.createElement('a');
  skip.id = 'argot-skip';
  skip.className = 'argot-skip';
  skip.href = '#chat-input';
  skip.textContent = say('Skip to the question');
  skip.addEventListener('click', (event) => {
    event.preventDefault();
    document.querySelector('#chat-input')?.focus();
  });
  document.body.prepend(skip);
}
// Chainlit has one name for each link of the header, whatever the language.
function translateLink(link) {
  const names = { Library: say('Library'), Terms: say('Terms'), Glossary: say('Glossary'), Account: say('Account') };
  const texts = document.createTreeWalker(link, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const name = names[texts.currentNode.data];
    if (name && name !== texts.currentNode.data) texts.currentNode.data = name;
  }
}
function label(selector, words) {
  document.querySelectorAll(selector).forEach((one) => one.hasAttribute('aria-label') || one.setAttribute('aria-label', say(words)));
}
// Put a text that Chainlit writes in English only into the language of the window.
function reword(attribute, words) {
  if (say(words) !== words) document.querySelectorAll(`[${attribute}="${words}"]`).forEach((one) => one.setAttribute(attribute, say(words)));
}
// The window's texts in the language of the pages. Without them it is labelled in English.
let texts = null;
function say(words) {
  return (texts && texts[words]) || words;
}
fetch('/project/translations?language=en-US')
  .then((answer) => (answer.ok ? answer.json() : {}))
  .then(({ translation }) => {
    texts = (translation && translation.argot && translation.argot.texts) || {};
    window.argotTexts = texts; // for the other scripts
    document.documentElement.style.setProperty('--argot-tagline', JSON.stringify(say('Answers from your organisation’s own documents, in its own language. It knows what your terms mean to each team, cites a passage behind every sentence, and says so when the documents do not know.')));
    window.dispatchEvent(new Event('argot-texts'));
    if (translation && translation.argot) document.documentElement.lang = translation.argot.language;
  })
  .catch(() => { texts = {}; })
  .finally(listen);
let due = 0;
new MutationObserver(() => {
  if (due) return;
  due = window.setTimeout(() => { due = 0; listen(); }, 150);
}).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['id', 'class'] });

// Terms of the glossary in answers and in the source panel are underlined, with their meaning.
const underlining = document.createElement('script');
underlining.src = '/public/underline.js';
underlining.setAttribute('data-argot-own', '');
document.head.append(underlining);

// The link to the glossary's pages is in the header of the window; the style sheet shows it only to managers, and the
// way to sign out only to people who signed in.
fetch('/glossary/me', { headers: { accept: 'application/json' } })
  .then((answer) => (answer.ok ? answer.json() : { manages: false, local: false }))
  .then((me) => {
    document.documentElement.classList.toggle('argot-manager', me.manages);
    document.documentElement.classList.toggle('argot-local', me.local);
  })
  .catch(() => undefined);
