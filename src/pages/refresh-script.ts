/**
 * The script of the status page. It fetches the page again and again and updates only changed nodes, so that scroll position,
 * focus, selection and open details are preserved. When a fetch fails, an alert shows the reason and the time of the data.
 */
export const REFRESH_SCRIPT = `
'use strict';
(() => {
const EVERY_MS = 5000, LATE_MS = 15000, DEADLINE_MS = 10000;
const find = (selector, within = document) => within.querySelector(selector);
const main = find('main'), time = find('#as-of time'), alert = find('#out-of-date');
let problem = '', busy = false, startedAt = 0, timer;

// Two clocks: the monotonic one may stop while the machine sleeps, and the wall clock can be set.
const now = () => [performance.now(), Date.now()];
let shownAt = now();
const age = () => Math.max(...now().map((instant, clock) => instant - shownAt[clock]));

async function load() {
  const response = await fetch(location.origin + location.pathname, {
    cache: 'no-store', redirect: 'error', signal: AbortSignal.timeout(DEADLINE_MS),
  }).catch((error) => {
    throw new Error(error.name === 'TimeoutError' ? 'no response within 10 s' : 'the exporter does not respond');
  });
  if (!response.ok) throw new Error('the exporter responded with status ' + response.status);
  const text = await response.text().catch(() => { throw new Error('the response was incomplete'); });
  const page = new DOMParser().parseFromString(text, 'text/html');
  if (page.documentElement.dataset.build === undefined || !text.endsWith('</html>\\n')) {
    throw new Error('the response is not from the exporter');
  }
  return page;
}

async function refresh() {
  clearTimeout(timer);
  if (busy) return;
  busy = true;
  startedAt = performance.now();
  try {
    const page = await load();
    if (page.documentElement.dataset.build !== document.documentElement.dataset.build) return location.reload();
    show(page);
    [problem, shownAt] = ['', now()];
  } catch (error) {
    problem = error.message;
  }
  busy = false;
  updateAlert();
  // A page that takes long to fetch, such as one of a thousand targets, is refreshed less often.
  const pause = problem === '' ? Math.max(EVERY_MS, 10 * (performance.now() - startedAt)) : EVERY_MS;
  if (!document.hidden) timer = setTimeout(refresh, pause);
}

function updateAlert() {
  const old = problem !== '' || age() > LATE_MS;
  document.documentElement.classList.toggle('old', old);
  // After a return to the tab, the alert appears only if the refresh takes longer than a second.
  alert.hidden = problem === '' && (!old || (busy && performance.now() - startedAt < 1000));
  // A screen reader reads the sentence once, because it does not change; the age beside it is hidden from screen readers.
  const reason = problem || 'not refreshed yet';
  const sentence = alert.hidden ? '' : 'Out of date: ' + reason + '. This page is as of ' + time.textContent + ',';
  const [sentenceElement, ageElement] = alert.children;
  if (sentenceElement.textContent !== sentence) sentenceElement.textContent = sentence;
  const seconds = Math.round(age() / 1000);
  ageElement.textContent = seconds < 120 ? seconds + ' s ago' : Math.floor(seconds / 60) + ' min ago';
  if (!alert.hidden) document.title = '✖ Out of date · bridge-exporter';
}

// Updates the page, and keeps open details, scroll position, focus and selection.
function show(page) {
  for (const known of main.querySelectorAll('details[id]')) {
    const next = page.getElementById(known.id);
    if (next) next.open = known.open;
  }
  const { anchorNode, anchorOffset, focusNode, focusOffset } = getSelection();
  const focused = document.activeElement;
  const owner = focused.closest('[id]')?.id, href = focused.getAttribute('href');
  const top = scrollY > 0 ? document.elementFromPoint(innerWidth / 2, innerHeight / 3)?.closest('main [id]') : null;
  const before = top?.getBoundingClientRect().top;

  morph(main, find('main', page));
  morph(time, find('#as-of time', page));
  document.title = page.title;

  if (top?.isConnected) scrollBy({ top: top.getBoundingClientRect().top - before, behavior: 'instant' });
  if (!focused.isConnected && owner) {
    const again = document.getElementById(owner);
    const same = again && find(href === null ? 'summary' : 'a[href="' + CSS.escape(href) + '"]', again);
    same?.focus({ preventScroll: true });
  }
  if (anchorNode !== focusNode || anchorOffset !== focusOffset) {
    const end = (node, offset) => [node, Math.min(offset, node.data?.length ?? node.childNodes.length)];
    if (anchorNode.isConnected && focusNode.isConnected) {
      getSelection().setBaseAndExtent(...end(anchorNode, anchorOffset), ...end(focusNode, focusOffset));
    }
  }
}

// Makes a node equal to one of the fetched page with the same type and name.
function morph(old, next) {
  if (old.isEqualNode(next)) return;
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.data = next.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (!next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const wanted = new Set([...next.children].map(({ id }) => id));
  for (const child of [...old.children]) if (child.id && !wanted.has(child.id)) child.remove();
  const byId = new Map([...old.children].map((child) => [child.id, child]));
  let cursor = old.firstChild;
  for (const child of [...next.childNodes]) {
    const isSameType = cursor && !cursor.id && cursor.nodeName === child.nodeName;
    const known = child.id ? byId.get(child.id) : isSameType ? cursor : undefined;
    if (known === undefined) old.insertBefore(child, cursor);
    else {
      if (known === cursor) cursor = cursor.nextSibling;
      else old.insertBefore(known, cursor);
      morph(known, child);
    }
  }
  while (cursor !== null) {
    const surplus = cursor;
    cursor = cursor.nextSibling;
    surplus.remove();
  }
}

find('#live').hidden = false;
timer = setTimeout(refresh, EVERY_MS);
setInterval(() => { if (!document.hidden) updateAlert(); }, 1000);
const resume = () => {
  clearTimeout(timer);
  if (document.hidden) return;
  refresh();
  updateAlert();
};
document.addEventListener('visibilitychange', resume);
addEventListener('pageshow', ({ persisted }) => { if (persisted) resume(); });
addEventListener('online', resume);
})();
`;
