import { isoTime, wallSeconds, type Moment } from '../clock.js';
import { documents } from '../documents.js';
import { groupBy } from '../facts/grouping.js';
import { SIZE_RATIO } from '../problems/polls.js';
import type { RecorderStatus } from '../recorder/recorder.js';
import { durationInWords } from '../text/format.js';
import type { ExternalLinks } from './external-links.js';
import { isolated, markup, type Markup } from './html.js';
import { anchor, factList, layout, pendingLink, relative, section, type Site } from './layout.js';
import { numbersHtml } from './numbers.js';
import { tableHtml, type TableRow } from './table.js';
import { dataAge, failureHtml, failureText, lastSuccess } from './poll-texts.js';
import { ago, agoElement, distanceElement } from './time.js';
import { ownValidatorsSection } from './validators.js';
import { verdictSections, statusLabel } from './verdict-list.js';
import type { Availability, EndpointView, View, TargetView } from './view.js';
import { statuses } from '../engine/verdicts.js';
import { formatApproximateSize, formatDuration, formatSize } from '../units.js';

export interface StatusView extends View {
  readonly instance: Instance;
}

export interface Instance {
  readonly version: string;
  readonly nodeVersion: string;
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  /** The hash of the configuration, as in `bridge_exporter_config_hash`. */
  readonly configHash: number;
  readonly configLoadedAt: string;
  /** The last failed reload, until a reload succeeds. */
  readonly configRejectedAt: string | null;
  readonly configProblems: readonly string[];
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly staleAfterMs: number;
  readonly recorder: RecorderView;
  /** Why the last write of the state file failed; `null` when it did not. */
  readonly stateFileProblem: string | null;
}

/** The worst verdict, other verdicts, endpoints. */
export function statusPage(view: StatusView, links: ExternalLinks, site: Site): string {
  const { generatedAt, targets, endpoints, instance } = view;
  const nowMs = Date.parse(generatedAt);
  const { title, heading, details, problems, notes } = verdictSections(view);
  const body = markup`${details}
${endpoints.length === 0 ? markup`<p>This shard has no target of the configuration.</p>` : ''}${targets.length > 1 ? tiles(targets) : ''}
${failedReloadAlert(instance, nowMs)}
${ownValidatorsSection(view, { links, nowMs })}
${problems}
${notes}
${endpoints.length === 0 ? '' : endpointSection(view)}
${section('exporter', 'This exporter', instanceFacts(instance, endpoints, nowMs))}`;
  return layout({ path: '/', title, heading, asOf: generatedAt, dataAge: dataAge(endpoints), body }, site);
}

/** The number of targets by status. */
function tiles(targets: readonly TargetView[]): Markup {
  const items = statuses.map((wanted) => {
    const count = targets.filter(({ status }) => status === wanted).length;
    const text = markup`<b>${count}</b> ${count === 1 ? 'target' : 'targets'} ${statusLabel(wanted)}`;
    return count === 0
      ? markup`<li class="none">${text}`
      : markup`<li class="${wanted}"><a href="${relative('/pending')}">${text}</a>`;
  });
  return markup`<ul class="tiles" aria-label="Targets by status">${items}</ul>`;
}

function instanceFacts(instance: Instance, endpoints: readonly EndpointView[], nowMs: number): Markup {
  const { version, nodeVersion, startedAt, uptimeSeconds, configHash, configLoadedAt } = instance;
  const { intervalMs, timeoutMs, staleAfterMs } = instance;
  const targets = new Set(endpoints.map(({ target }) => target)).size;
  return factList([
    ['Version', markup`${version}, Node.js ${nodeVersion}`],
    ['Uptime', distanceElement(startedAt, durationInWords(uptimeSeconds))],
    ['Configuration', markup`<code>${configHash}</code>, loaded ${agoElement(configLoadedAt, nowMs)}`],
    ['Targets', markup`${targets}, with ${endpoints.length} endpoints`],
    ['Polls', markup`every ${formatDuration(intervalMs)}, timeout ${formatDuration(timeoutMs)}`],
    ['Series', markup`withdrawn ${formatDuration(staleAfterMs)} after the last success`],
    ...recorderFacts(instance.recorder, nowMs),
    ...(instance.stateFileProblem === null
      ? []
      : [
          [
            'State file',
            markup`<span class="state failing">failing</span>: ${isolated(instance.stateFileProblem)}`,
          ] as const,
        ]),
  ]);
}

const MAX_PROBLEMS = 5;

function failedReloadAlert({ configRejectedAt, configProblems }: Instance, nowMs: number): Markup {
  if (configRejectedAt === null) return markup``;
  const problems = configProblems.slice(0, MAX_PROBLEMS).map((problem) => markup`<li>${isolated(problem)}`);
  const more = configProblems.length - problems.length;
  return markup`<div class="alert"><p>The last reload of the configuration failed ${agoElement(configRejectedAt, nowMs)}, the previous configuration stays active. Correct it, check it with <code>--config.check</code>, and reload.</p><ul>${problems}${more > 0 ? markup`<li>and ${more} more in the log` : ''}</ul></div>`;
}

function endpointRow(endpoint: EndpointView): TableRow {
  const { availability } = endpoint;
  return {
    id: formatId(endpoint),
    cssClass: availability,
    cells: [
      // The style adds a color and a shape, so that no state depends on color alone.
      { title: 'State', html: markup`<b class="state ${availability}">${availability}</b>` },
      { title: 'Endpoint', html: nameCell(endpoint), isHeader: true },
      { title: 'Last success', html: lastSuccess(endpoint) },
      { title: 'Backlog', html: backlogCell(endpoint), isWide: true },
      { title: 'Polls', html: pollsCell(endpoint) },
    ],
  };
}

/** Endpoints that need attention come first. */
const ORDER: readonly Availability[] = ['withdrawn', 'failing', 'initial', 'up'];
/**
 * A summary by reason precedes the table of more failing endpoints: many failures with the same reason have one cause.
 */
const SUMMARIZE_ABOVE = 5;

function endpointSection({ endpoints }: StatusView): Markup {
  const sorted = endpoints.toSorted((a, b) => ORDER.indexOf(a.availability) - ORDER.indexOf(b.availability));
  const failing = endpoints.filter(({ up }) => up === false);
  const byReason = groupBy(failing, ({ lastFailure }) => lastFailure?.reason ?? '');
  const reasons = Array.from(byReason, ([reason, failures]) => markup`<li>${failures.length} × <code>${reason}</code>`);
  const summary = failing.length > SUMMARIZE_ABOVE ? markup`<ul class="names">${reasons}</ul>` : '';
  const up = endpoints.filter(({ availability }) => availability === 'up').length;
  return section(
    'endpoints',
    markup`Endpoints <span class="quiet">${up} of ${endpoints.length} up</span>`,
    markup`${summary}${tableHtml('Endpoints', 'endpoints', sorted.map(endpointRow))}`,
  );
}

function formatId({ target, document }: EndpointView): string {
  return anchor(target, document);
}

function nameCell({ target, document, host, source }: EndpointView): Markup {
  const servedPath = source.state.lastSuccess?.servedPath;
  const path =
    servedPath === undefined ? '' : markup` <small>${servedPath.dialect} <code>${servedPath.path}</code></small>`;
  return markup`<a class="target" href="${pendingLink(target, document)}">${isolated(target)}</a> <small>${documents[document].title} <code>${document}</code></small> <small><code>${host}</code></small>${path}`;
}

/** A line for each of several nodes: whether it is in use, or what is wrong with it and when it is polled again. */
function nodesHtml(nodes: EndpointView['nodes']): Markup {
  if (nodes === null) return markup``;
  const lines = nodes.map(({ source, isInUse, trouble }) => {
    if (trouble === null) {
      const text = isInUse ? 'in use' : 'ready';
      return markup`<li><b class="state up">${text}</b> ${source}`;
    }
    const [status, word] = trouble.isDown ? ['critical', 'down'] : ['warning', 'behind'];
    const { retriedInSeconds: retried } = trouble;
    const again = retried === null ? '' : `; answers again, and is polled again in ${durationInWords(retried)}`;
    return markup`<li><b class="state ${status}">${word}</b> since ${distanceElement(trouble.since, ago(trouble.lastsSeconds))}${isInUse ? ', in use' : ''}: ${isolated(trouble.message)}${again}`;
  });
  return markup`<ol class="nodes" aria-label="Nodes">${lines}</ol>`;
}

function backlogCell(endpoint: EndpointView): Markup {
  const { availability, backlog, nodes } = endpoint;
  const numbers = backlog === null ? markup`` : numbersHtml(endpoint);
  if (availability === 'up' || availability === 'initial') return markup`${numbers}${nodesHtml(nodes)}`;
  return markup`${failureHtml(endpoint)}${backlog === null ? '' : markup`<p class="note">As of the last success:</p>${numbers}`}${nodesHtml(nodes)}`;
}

/** Failures are collapsed, so that a page of many endpoints stays short. */
function pollsCell(status: EndpointView): Markup {
  const { invalidFields, lastFailure, source } = status;
  const { polls, failures, lastPoll } = source.state;
  const lastHtml = markup` <small class="polls">${lastPollHtml(status)}</small>`;
  if (lastFailure === null && invalidFields.length === 0) return markup`${polls} since the start${lastHtml}`;
  const byReason = Object.entries(failures).filter(([, count]) => count > 0);
  const failed = byReason.reduce((sum, [, count]) => sum + count, 0);
  const reasons = byReason.map(([reason, count]) => markup`<li>${count} × <code>${reason}</code>`);
  // The reason of a current failure is in its row already.
  const recovered =
    lastFailure === null || lastPoll?.ok === false ? '' : markup`<p>Last failure ${failureText(lastFailure)}</p>`;
  const fields = invalidFields.map((field) => markup`<li><code>${field}</code>`);
  const [invalid, invalidList] =
    fields.length === 0
      ? ['', '']
      : [
          markup`, <span class="warning">${fields.length} invalid fields</span>`,
          markup`<p>Fields of the wrong type in the last response; the series that need them are withdrawn:</p><ul>${fields}</ul>`,
        ];
  return markup`<details id="${formatId(status)}/polls"><summary>${failed} of ${polls} polls failed${invalid}</summary>${reasons.length === 0 ? '' : markup`<ul>${reasons}</ul>`}${recovered}${invalidList}</details>${lastHtml}`;
}

/** Duration of all phases, and size. */
function lastPollHtml({ source: { state } }: EndpointView): Markup {
  const { lastPoll, maxBodyBytes } = state;
  if (lastPoll === undefined) return markup``;
  const seconds = Object.values(lastPoll.phaseSeconds).reduce((sum, phase) => sum + phase, 0);
  const time = `the last took ${seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`}`;
  const { bodyBytes } = lastPoll;
  if (bodyBytes === undefined) return markup`${time}`;
  const size = formatApproximateSize(bodyBytes);
  return bodyBytes > SIZE_RATIO * maxBodyBytes
    ? markup`${time}, <span class="warning">${size} of at most ${formatSize(maxBodyBytes)}</span>`
    : markup`${time}, ${size}`;
}

type RecorderView = ReturnType<typeof recorderView>;

/** `null` without a recorder. */
export function recorderView(status: RecorderStatus | undefined, now: Moment) {
  if (status === undefined) return null;
  const { settings, recorded, failed, bytes = null, failure } = status;
  return {
    directory: settings.directory,
    intervalMs: settings.interval,
    maxBytes: settings.max_size,
    /** `null` before the recordings were added up. */
    bytes,
    recorded,
    failed,
    failingSince: failure === undefined ? null : isoTime(wallSeconds(failure.since, now)),
    message: failure?.message ?? null,
  };
}

function recorderFacts(view: RecorderView, nowMs: number): readonly (readonly [string, Markup])[] {
  if (view === null) return [];
  const { directory, intervalMs, maxBytes, bytes, recorded, failed, failingSince, message } = view;
  const frequency = intervalMs === 0 ? 'every poll' : `a response every ${formatDuration(intervalMs)}`;
  const size = bytes === null ? '' : `, ${formatApproximateSize(bytes)} of ${formatSize(maxBytes)}`;
  const facts = markup`${frequency} to ${isolated(directory)}${size}; since the start ${recorded} recorded, ${failed} failed`;
  if (failingSince === null || message === null) return [['Recorder', facts]];
  const since = agoElement(failingSince, nowMs);
  const problem = markup`<span class="state failing">failing</span> since ${since}: ${isolated(message)}`;
  return [['Recorder', markup`${facts}. ${problem}`]];
}
