import { createHash } from 'node:crypto';
import { isValid } from '../chain/fields.js';
import { withoutBigint, type Numeral } from '../chain/numeral.js';
import type { ModuleState } from '../chain/module-state.js';
import type { DocumentName, DocumentTypes } from '../document-types.js';
import { memoize } from '../facts/memoize.js';
import { required, rows } from '../facts/required-fields.js';
import { list } from '../text/format.js';
import { HOUR_SECONDS } from '../units.js';
import { findEntry } from './marks.js';
import { defineProblem, type Evidence, type NamedProblem, type Problem } from './problem.js';
import { shortAddress, shortName } from './sentence.js';

/* Changes of the parameters and of the blacklist, also across an outage. */

/** Longer than the repeat interval of the example for Alertmanager. */
export const IDENTITY_HOURS = 6;

/** The last values, the last changes, and their time. Values are short or digests. */
interface ChangeMark {
  readonly values: Readonly<Record<string, string>>;
  readonly changed: readonly string[];
  readonly at: number | null;
  /** Of several nodes, the one that has shown the values. */
  readonly node?: string;
  /** Since when another node shows other values. */
  readonly doubtedAt?: number;
}

/** A node that takes the place of another one can be of another network: for so long, its values change nothing. */
const DOUBTED_SECONDS = HOUR_SECONDS;

const MAX_CHANGES = 10;

const shortValue = (value: string): string => (value.startsWith('0x') ? shortAddress(value) : shortName(value));

/** A missing field is no change: nodes behind one address can differ in it. */
function changesAfter(
  values: Readonly<Record<string, string>>,
  at: number,
  before: ChangeMark | undefined,
  node: string | undefined,
): ChangeMark {
  const shownBy = node === undefined ? {} : { node };
  if (before === undefined) return { values, changed: [], at: null, ...shownBy };
  const changed = Object.entries(values).flatMap(([name, value]) => {
    const last = findEntry(before.values, name);
    if (last === undefined || last === value) return [];
    return [value.length > 64 || last.length > 64 ? name : `${name} (${shortValue(last)} → ${shortValue(value)})`];
  });
  const lastValues = { ...before.values, ...values };
  const { doubtedAt = at, ...known } = before;
  if (changed.length === 0) return { ...known, values: lastValues, ...shownBy };
  const isOfOther = node !== undefined && known.node !== undefined && node !== known.node;
  if (isOfOther && at - doubtedAt < DOUBTED_SECONDS) return { ...before, doubtedAt };
  return { values: lastValues, changed: changed.slice(0, MAX_CHANGES), at, ...shownBy };
}

interface Change<Name extends DocumentName, Alert extends string>
  extends
    Pick<NamedProblem<Alert>, 'name' | 'severity' | 'description' | 'action'>,
    Partial<Pick<Problem, 'inhibits'>> {
  readonly hours: number;
  readonly summary: string;
  readonly readValues: (input: DocumentTypes[Name]['input']) => Readonly<Record<string, string>>;
}

/** A value changed within hours. */
export function change<Name extends DocumentName, Alert extends string>(
  document: Name,
  { hours, summary, readValues, ...declaration }: Change<Name, Alert>,
): NamedProblem<Alert> {
  const valuesNow = memoize(readValues);
  return defineProblem(document, {
    ...declaration,
    afterMinutes: 0,
    age: 'ago',
    mark: {
      isDebounced: true,
      next: ({ input, nodes }: Evidence<Name>, before: ChangeMark | undefined) =>
        changesAfter(valuesNow(input), input.at, before, nodes?.find(({ isInUse }) => isInUse)?.source),
    },
    find: ({ input }: Evidence<Name>, mark: ChangeMark | undefined) => {
      valuesNow(input);
      if (mark === undefined || mark.at === null) return undefined;
      if (input.at - mark.at >= hours * HOUR_SECONDS) return undefined;
      return { start: mark.at, summary, details: [list(mark.changed)] };
    },
  });
}

const IDENTITY = ['bridge_id', 'bridge_chain_id', 'bridge_external_address'] as const;

function identityParams({ params }: ModuleState): Readonly<Record<string, string>> {
  const values = required(params);
  return Object.fromEntries(
    IDENTITY.flatMap((name): [string, string][] => {
      const value = values[name];
      return isValid(value) && value !== '' ? [[name, value.slice(0, 64)]] : [];
    }),
  );
}

/** The valid parameters without another alert. */
function readParams({ params }: ModuleState): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(required(params)).flatMap(([name, value]): [string, string][] => {
      if (name === 'admins' || (IDENTITY as readonly string[]).includes(name) || !isValid(value)) return [];
      return [[name, formatValue(value)]];
    }),
  );
}

function formatValue(value: unknown): string {
  return typeof value === 'object' ? digest(value) : `${value as string | boolean | Numeral}`.slice(0, 64);
}

function digest(value: unknown): string {
  return `sha256:${createHash('sha256').update(JSON.stringify(value, withoutBigint)).digest('hex')}`;
}

function listDigest(entries: readonly string[]): string {
  return digest(entries.map((entry) => entry.toLowerCase()).toSorted());
}

export const paramsProblems = [
  change('module_state', {
    name: 'BridgeParamsChanged',
    severity: 'critical',
    hours: IDENTITY_HOURS,
    readValues: ({ state }) => identityParams(state),
    summary: 'contract, bridge id or external chain changed',
    description: `The contract address, the bridge id or the external chain id changed within the last ${IDENTITY_HOURS} hours.`,
    action:
      'Check that the URL leads to a node of this chain: a node of another chain is the likeliest cause. If it does, and no proposal or upgrade announced the change, warn the validators and stop your relayers and orchestrators.',
    // A migration resets the nonces, and changes parameters.
    inhibits: [{ problem: 'BridgeStateRolledBack' }, { problem: 'BridgeParamsChanged', severity: 'info' }],
  }),
  change('module_state', {
    name: 'BridgeParamsChanged',
    severity: 'warning',
    hours: 1,
    readValues: ({ state: { params } }) => ({ admins: listDigest(rows(required(params).admins)) }),
    summary: 'the list of admins changed',
    description: 'The list of admins changed within an hour.',
    action: 'Check that a governance proposal or an upgrade announced the new admins.',
    inhibits: [{ problem: 'BridgeParamsChanged', severity: 'info' }],
  }),
  change('module_state', {
    name: 'BridgeParamsChanged',
    severity: 'info',
    hours: 1,
    readValues: ({ state }) => readParams(state),
    summary: 'bridge parameters changed',
    description: 'A parameter without its own alert changed within an hour, or during an outage before it.',
    action: 'Check that a governance proposal or an upgrade announced the change.',
  }),
  change('module_state', {
    name: 'BridgeBlacklistChanged',
    severity: 'info',
    hours: 1,
    readValues: ({ state: { external_blacklist: blacklist } }) => ({ blacklist: listDigest(rows(blacklist)) }),
    summary: 'the blacklist changed',
    description: 'The blacklist changed within an hour, or during an outage before it.',
    action: 'Ask an admin of the bridge whether the change is intended.',
  }),
];
