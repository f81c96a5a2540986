/*
 * The script of the status page and the pending page, in JavaScript because layout.ts inlines it. It fetches the page
 * repeatedly and replaces its content.
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
  const asOf = find('#as-of time').textContent;
  const sentence = alertBox.hidden ? '' : `Out of date: ${reason}. This page is as of ${asOf},`;
  if (sentenceElement.textContent !== sentence) sentenceElement.textContent = sentence;
  const seconds = Math.round(ageMs() / 1000);
  ageElement.textContent = seconds < 120 ? `${seconds} s ago` : `${Math.floor(seconds / 60)} min ago`;
  if (!alertBox.hidden) document.title = '✖ Out of date · bridge-exporter';
}

/**
 * Replaces the content, and keeps open details, scroll position, focus and what is being typed.
 *
 * @param {Document} page
 */
function show(page) {
  for (const known of main.querySelectorAll('details[id]')) {
    page.getElementById(known.id)?.toggleAttribute('open', known.hasAttribute('open'));
  }
  const focused = main.contains(document.activeElement) ? document.activeElement : null;
  const owner = focused?.closest('[id]')?.id ?? '';
  const href = focused?.getAttribute('href') ?? null;
  // The first visible row or section stays where it is.
  const top = Array.from(scrollY > 0 ? main.querySelectorAll('[id]') : []).find(
    (element) => element.getBoundingClientRect().top >= 0 && page.getElementById(element.id) !== null,
  );
  const before = top?.getBoundingClientRect().top ?? 0;
  const typed = document.getElementById('filter-text');
  if (typed !== null) page.getElementById('filter-text')?.replaceWith(typed);

  main.replaceChildren(...find('main', page).childNodes);
  find('#as-of time').replaceWith(find('#as-of time', page));
  document.title = page.title;

  const newTop = document.getElementById(top?.id ?? '')?.getBoundingClientRect().top;
  if (newTop !== undefined) scrollBy({ top: newTop - before, behavior: 'instant' });
  const again = document.getElementById(owner);
  /** @type {HTMLElement | null | undefined} */
  const element =
    focused?.id === owner
      ? again
      : again?.querySelector(href === null ? (focused?.localName ?? '') : `a[href="${CSS.escape(href)}"]`);
  element?.focus({ preventScroll: true });
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
