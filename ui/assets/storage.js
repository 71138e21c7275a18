// A browser that blocks the cookies of other sites may deny a frame its storage, too, without which the chat window would
// not start. What it keeps there (light or dark, the width of the list) is then kept until the page is left.
['localStorage', 'sessionStorage'].forEach((name) => {
  try {
    window[name].getItem('');
  } catch {
    const kept = new Map();
    const storage = {
      getItem: (key) => kept.get(String(key)) ?? null,
      setItem: (key, value) => { kept.set(String(key), String(value)); },
      removeItem: (key) => { kept.delete(String(key)); },
      clear: () => kept.clear(),
      key: (number) => [...kept.keys()][number] ?? null,
      get length() { return kept.size; },
    };
    Object.defineProperty(window, name, { configurable: true, value: storage });
  }
});
