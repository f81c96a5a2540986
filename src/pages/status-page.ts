import { documents } from '../documents.js';
import { durationInWords } from '../text/format.js';
import type { ExternalLinks } from './external-links.js';
import { isolated, markup, type Markup, ago, agoElement, distanceElement, timeElement } from './html.js';
import { anchor, factList, layout, pendingLink, section, type Site } from './layout.js';
import { numbersHtml, failureHtml, failureText, lastSuccess } from './endpoint-html.js';
import { tableHtml, type TableRow, ownValidatorsSection } from './table.js';
import { problemSections } from './problem-list.js';
import type { Availability, EndpointView, View } from './view.js';

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
  /** Why the last write of the state file failed; `null` when it did not. */
  readonly stateFileProblem: string | null;
}

/** The worst problem, other problems, endpoints. */
export function statusPage(view: StatusView, links: ExternalLinks, site: Site): string {
  const { generatedAt, endpoints, instance } = view;
  const nowMs = Date.parse(generatedAt);
  const { title, heading, details, problems, notes } = problemSections(view);
  const body = markup`${details}
${endpoints.length === 0 ? markup`<p>This shard has no target of the configuration.</p>` : ''}
${failedReloadAlert(instance, nowMs)}
${ownValidatorsSection(view, { links, nowMs })}
${problems}
${notes}
${endpoints.length === 0 ? '' : endpointSection(view)}
${section('exporter', 'This exporter', instanceFacts(instance, nowMs))}`;
  return layout({ path: '/', title, heading, asOf: generatedAt, body }, site);
}

function instanceFacts(instance: Instance, nowMs: number): Markup {
  const { version, nodeVersion, startedAt, uptimeSeconds, configHash, configLoadedAt, stateFileProblem } = instance;
  return factList([
    ['Version', markup`${version}, Node.js ${nodeVersion}`],
    ['Uptime', distanceElement(startedAt, durationInWords(uptimeSeconds))],
    ['Configuration', markup`<code>${configHash}</code>, loaded ${agoElement(configLoadedAt, nowMs)}`],
    ...(stateFileProblem === null
      ? []
      : [['State file', markup`<span class="state failing">failing</span>: ${isolated(stateFileProblem)}`] as const]),
  ]);
}

function failedReloadAlert({ configRejectedAt, configProblems }: Instance, nowMs: number): Markup {
  if (configRejectedAt === null) return markup``;
  const problems = configProblems.map((problem) => markup`<li>${isolated(problem)}`);
  return markup`<div class="alert"><p>The last reload of the configuration failed ${agoElement(configRejectedAt, nowMs)}, the previous configuration stays active. Correct it, check it with <code>--config.check</code>, and reload.</p><ul>${problems}</ul></div>`;
}

function endpointRow(endpoint: EndpointView): TableRow {
  const { availability, target, document } = endpoint;
  return {
    id: anchor(target, document),
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

function endpointSection({ endpoints }: StatusView): Markup {
  const sorted = endpoints.toSorted((a, b) => ORDER.indexOf(a.availability) - ORDER.indexOf(b.availability));
  const up = endpoints.filter(({ availability }) => availability === 'up').length;
  return section(
    'endpoints',
    markup`Endpoints <span class="quiet">${up} of ${endpoints.length} up</span>`,
    tableHtml('Endpoints', sorted.map(endpointRow)),
  );
}

function nameCell({ target, document, host }: EndpointView): Markup {
  return markup`<a href="${pendingLink(target, document)}"><b>${isolated(target)}</b></a> <small>${documents[document].title} <code>${document}</code></small> <small><code>${host}</code></small>`;
}

/** A line for each of several nodes: whether it is in use, and what is wrong with it since when. */
function nodesHtml(nodes: EndpointView['nodes']): Markup {
  if (nodes === null) return markup``;
  const lines = nodes.map(({ source, isInUse, trouble }) => {
    if (trouble === null) {
      const text = isInUse ? 'in use' : 'ready';
      return markup`<li><b class="state up">${text}</b> ${source}`;
    }
    const [status, word] = trouble.isDown ? ['critical', 'down'] : ['warning', 'behind'];
    return markup`<li><b class="state ${status}">${word}</b> since ${distanceElement(trouble.since, ago(trouble.lastsSeconds))}${isInUse ? ', in use' : ''}: ${isolated(trouble.message)}`;
  });
  return markup`<ul class="plain" aria-label="Nodes">${lines}</ul>`;
}

function backlogCell(endpoint: EndpointView): Markup {
  const { target, availability, backlog, nodes } = endpoint;
  const numbers = numbersHtml(target, backlog);
  if (availability === 'up' || availability === 'initial') return markup`${numbers}${nodesHtml(nodes)}`;
  return markup`${failureHtml(endpoint)}${backlog === null ? '' : markup`<p class="note">As of the last success:</p>${numbers}`}${nodesHtml(nodes)}`;
}

/** The reason of a current failure is in its row already. */
function pollsCell(endpoint: EndpointView): Markup {
  const { invalidFields, lastFailure, up, source } = endpoint;
  const { polls, failures } = source.state;
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0);
  const recovered = lastFailure === null || up === false ? '' : markup`<p>Last failure ${failureText(lastFailure)}</p>`;
  const fields = invalidFields.map((field) => markup` <code>${field}</code>`);
  const invalid =
    fields.length === 0 ? '' : markup`<p class="warning">invalid fields, whose series are withdrawn:${fields}</p>`;
  return markup`${failed} of ${polls} failed${recovered}${invalid}`;
}

/** The effective configuration of this process. `text` has no secrets. */
export function configPage(text: string, loadedAt: string, site: Site): string {
  const body = markup`<p class="note">With all defaults, as <code>--config.check</code> prints it; secrets are redacted. Loaded at ${timeElement(loadedAt)}.</p>
<pre tabindex="0" role="region" aria-label="Configuration file">${text}</pre>`;
  return layout({ path: '/config', title: 'Configuration', heading: markup`Configuration`, body }, site);
}
