/*
 * The script of the status page and the pending page, in JavaScript because layout.ts inlines it. It fetches the page
 * repeatedly and updates only changed nodes, so that scroll position, focus, selection and open details are preserved.
 * When a fetch fails, an alert shows the reason and the time of the data.
 */

const EVERY_MS = 5000;
const LATE_MS = 15_000;
const DEADLINE_MS = 10_000;

/**
 * @param {string} selector
 * @param {ParentNode} within
 */
function find(selector, within = document) {
  /** @type {HTMLElement | null} */
  const element = within.querySelector(selector);
  if (element === null) throw new Error(`the page has no ${selector}`);
  return element;
}

const main = find('main');
const time = find('#as-of time');
const alertBox = find('#out-of-date');
const sentenceElement = find('strong', alertBox);
const ageElement = find('span', alertBox);

let problem = '';
let isBusy = false;
let startedAt = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

// Two clocks: the monotonic clock may stop while the machine sleeps, and the wall clock can be set.
let shownAt = { monotonicMs: performance.now(), wallMs: Date.now() };

function ageMs() {
  return Math.max(performance.now() - shownAt.monotonicMs, Date.now() - shownAt.wallMs);
}

async function load() {
  // Without user and password of the address, with which fetch fails.
  const response = await fetch(location.origin + location.pathname + location.search, {
    cache: 'no-store',
    redirect: 'error',
    signal: AbortSignal.timeout(DEADLINE_MS),
  }).catch((/** @type {unknown} */ error) => {
    const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
    throw new Error(isTimeout ? 'no response within 10 s' : 'the exporter does not respond');
  });
  if (!response.ok) throw new Error(`the exporter responded with status ${response.status}`);
  const text = await response.text().catch(() => {
    throw new Error('the response was incomplete');
  });
  const page = new DOMParser().parseFromString(text, 'text/html');
  if (page.documentElement.dataset['build'] === undefined || !text.endsWith('</html>\n')) {
    throw new Error('the response is not from the exporter');
  }
  return page;
}

async function refresh() {
  clearTimeout(timer);
  if (isBusy) return;
  isBusy = true;
  startedAt = performance.now();
  try {
    const page = await load();
    if (page.documentElement.dataset['build'] !== document.documentElement.dataset['build']) {
      location.reload();
      return;
    }
    show(page);
    problem = '';
    shownAt = { monotonicMs: performance.now(), wallMs: Date.now() };
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  isBusy = false;
  updateAlert();
  // A page that takes long to fetch, such as the page of a thousand targets, is refreshed less often.
  const pause = problem === '' ? Math.max(EVERY_MS, 10 * (performance.now() - startedAt)) : EVERY_MS;
  if (!document.hidden) timer = setTimeout(refreshNow, pause);
}

function refreshNow() {
  void refresh();
}

function updateAlert() {
  const isOld = problem !== '' || ageMs() > LATE_MS;
  document.documentElement.classList.toggle('old', isOld);
  // After a return to the tab, the alert appears only if the refresh takes longer than a second.
  alertBox.hidden = problem === '' && (!isOld || (isBusy && performance.now() - startedAt < 1000));
  // A screen reader reads the sentence once, because it does not change; the age beside it is hidden from screen
  // readers.
  const reason = problem === '' ? 'not refreshed yet' : problem;
  const sentence = alertBox.hidden ? '' : `Out of date: ${reason}. This page is as of ${time.textContent},`;
  if (sentenceElement.textContent !== sentence) sentenceElement.textContent = sentence;
  const seconds = Math.round(ageMs() / 1000);
  ageElement.textContent = seconds < 120 ? `${seconds} s ago` : `${Math.floor(seconds / 60)} min ago`;
  if (!alertBox.hidden) document.title = '✖ Out of date · bridge-exporter';
}

/**
 * Updates the page, and keeps open details, scroll position, focus and selection.
 *
 * @param {Document} page
 */
function show(page) {
  for (const known of main.querySelectorAll('details[id]')) {
    page.getElementById(known.id)?.toggleAttribute('open', known.hasAttribute('open'));
  }
  const selection = getSelection();
  const { anchorNode, anchorOffset = 0, focusNode, focusOffset = 0 } = selection ?? {};
  const focused = document.activeElement;
  const owner = focused?.closest('[id]')?.id;
  const href = focused?.getAttribute('href') ?? null;
  const top = scrollY > 0 ? document.elementFromPoint(innerWidth / 2, innerHeight / 3)?.closest('main [id]') : null;
  const before = top?.getBoundingClientRect().top ?? 0;

  morph(main, find('main', page));
  morph(time, find('#as-of time', page));
  morph(find('#data-age'), find('#data-age', page));
  document.title = page.title;

  if (top?.isConnected === true) scrollBy({ top: top.getBoundingClientRect().top - before, behavior: 'instant' });
  if (focused?.isConnected === false && owner !== undefined) {
    const again = document.getElementById(owner);
    /** @type {HTMLElement | null | undefined} */
    const element = again?.querySelector(href === null ? 'summary' : `a[href="${CSS.escape(href)}"]`);
    element?.focus({ preventScroll: true });
  }
  if (!anchorNode || !focusNode || (anchorNode === focusNode && anchorOffset === focusOffset)) return;
  if (!anchorNode.isConnected || !focusNode.isConnected) return;
  selection?.setBaseAndExtent(
    anchorNode,
    Math.min(anchorOffset, lengthOf(anchorNode)),
    focusNode,
    Math.min(focusOffset, lengthOf(focusNode)),
  );
}

/** @param {Node} node */
function lengthOf(node) {
  return node instanceof CharacterData ? node.length : node.childNodes.length;
}

/**
 * Makes a node equal to a node of the fetched page with the same type and name.
 *
 * @param {Node} old
 * @param {Node} next
 */
function morph(old, next) {
  if (old.isEqualNode(next)) return;
  if (!(old instanceof Element) || !(next instanceof Element)) {
    old.nodeValue = next.nodeValue;
    return;
  }
  for (const { name } of Array.from(old.attributes)) if (!next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const wanted = new Set(Array.from(next.children, ({ id }) => id));
  for (const child of Array.from(old.children)) if (child.id !== '' && !wanted.has(child.id)) child.remove();
  const byId = new Map(Array.from(old.children, (child) => [child.id, child]));
  let cursor = old.firstChild;
  for (const child of Array.from(next.childNodes)) {
    const known = knownChild(child, cursor, byId);
    if (known === undefined) {
      old.insertBefore(child, cursor);
      continue;
    }
    if (known === cursor) cursor = cursor.nextSibling;
    else old.insertBefore(known, cursor);
    morph(known, child);
  }
  while (cursor !== null) {
    const surplus = cursor;
    cursor = cursor.nextSibling;
    surplus.remove();
  }
}

/**
 * The node to reuse: the node with the same id, else the next node if it has the same type and no id.
 *
 * @param {Node} child
 * @param {ChildNode | null} cursor
 * @param {ReadonlyMap<string, Element>} byId
 */
function knownChild(child, cursor, byId) {
  if (child instanceof Element && child.id !== '') return byId.get(child.id);
  const hasId = cursor instanceof Element && cursor.id !== '';
  return cursor !== null && !hasId && cursor.nodeName === child.nodeName ? cursor : undefined;
}

function resume() {
  clearTimeout(timer);
  if (document.hidden) return;
  refreshNow();
  updateAlert();
}

find('#live').hidden = false;
timer = setTimeout(refreshNow, EVERY_MS);
setInterval(() => {
  if (!document.hidden) updateAlert();
}, 1000);
document.addEventListener('visibilitychange', resume);
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) resume();
});
addEventListener('online', resume);
addEventListener('offline', resume);
