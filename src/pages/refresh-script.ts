/**
 * What the status page runs: it fetches itself and takes over what changed, node by node, so that scroll position, focus,
 * selection and open details stay. What is old never passes for fresh: a failed fetch is said, with the time of what is shown.
 */
export const REFRESH_SCRIPT = `
'use strict';
(() => {
const EVERY_MS = 5000, LATE_MS = 15000, DEADLINE_MS = 10000;
const find = (selector, within = document) => within.querySelector(selector);
const main = find('main'), time = find('#as-of time'), alarm = find('#out-of-date');
let trouble = '', busy = false, began = 0, timer;

// Two clocks, as one of them may stand still: by the first while the machine sleeps, by the second when somebody sets it.
const now = () => [performance.now(), Date.now()];
let shownAt = now();
const age = () => Math.max(...now().map((instant, clock) => instant - shownAt[clock]));

async function load() {
  const response = await fetch(location.origin + location.pathname, {
    cache: 'no-store', redirect: 'error', signal: AbortSignal.timeout(DEADLINE_MS),
  }).catch((error) => {
    throw new Error(error.name === 'TimeoutError' ? 'no answer within 10 s' : 'the exporter does not answer');
  });
  if (!response.ok) throw new Error('the exporter answered with status ' + response.status);
  const text = await response.text().catch(() => { throw new Error('the answer broke off'); });
  const page = new DOMParser().parseFromString(text, 'text/html');
  if (page.documentElement.dataset.build === undefined || !text.endsWith('</html>\\n')) {
    throw new Error('something else answers');
  }
  return page;
}

async function refresh() {
  clearTimeout(timer);
  if (busy) return;
  busy = true;
  began = performance.now();
  try {
    const page = await load();
    if (page.documentElement.dataset.build !== document.documentElement.dataset.build) return location.reload();
    show(page);
    [trouble, shownAt] = ['', now()];
  } catch (error) {
    trouble = error.message;
  }
  busy = false;
  tell();
  // A page that takes long, of a thousand targets, is asked for less often.
  const pause = trouble === '' ? Math.max(EVERY_MS, 10 * (performance.now() - began)) : EVERY_MS;
  if (!document.hidden) timer = setTimeout(refresh, pause);
}

function tell() {
  const old = trouble !== '' || age() > LATE_MS;
  document.documentElement.classList.toggle('old', old);
  // Whoever comes back to the tab sees the alarm only if the refresh takes long.
  alarm.hidden = trouble === '' && (!old || (busy && performance.now() - began < 1000));
  // The sentence stays the same while it is true, so that it is read out once; the age beside it is not read out.
  const why = trouble || 'not refreshed yet';
  const sentence = alarm.hidden ? '' : 'Out of date: ' + why + '. This is as of ' + time.textContent + ',';
  const [spoken, silent] = alarm.children;
  if (spoken.textContent !== sentence) spoken.textContent = sentence;
  const seconds = Math.round(age() / 1000);
  silent.textContent = seconds < 120 ? seconds + ' s ago' : Math.floor(seconds / 60) + ' min ago';
  if (!alarm.hidden) document.title = '✖ Out of date · bridge-exporter';
}

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

  become(main, find('main', page));
  become(time, find('#as-of time', page));
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

// Makes a node of the page equal to one of the fetched page; both are of the same kind.
function become(old, next) {
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
  let place = old.firstChild;
  for (const child of [...next.childNodes]) {
    const isAlike = place && !place.id && place.nodeName === child.nodeName;
    const known = child.id ? byId.get(child.id) : isAlike ? place : undefined;
    if (known === undefined) old.insertBefore(child, place);
    else {
      if (known === place) place = place.nextSibling;
      else old.insertBefore(known, place);
      become(known, child);
    }
  }
  while (place !== null) {
    const rest = place;
    place = place.nextSibling;
    rest.remove();
  }
}

find('#live').hidden = false;
timer = setTimeout(refresh, EVERY_MS);
setInterval(() => { if (!document.hidden) tell(); }, 1000);
const seen = () => {
  clearTimeout(timer);
  if (document.hidden) return;
  refresh();
  tell();
};
document.addEventListener('visibilitychange', seen);
addEventListener('pageshow', ({ persisted }) => { if (persisted) seen(); });
addEventListener('online', seen);
})();
`;
