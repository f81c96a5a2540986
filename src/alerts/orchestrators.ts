import { blocksFor, numberAndPower, orchestratorKey, type Validator } from './sentences.js';
import { labelOf, type Samples } from './samples.js';
import { timeOfHeight, type AlertLabels, type DatedFindings, type Finding, type PollView } from './view.js';

/* What alerts on single validators have in common: who they are, and when they are jailed. */

/** What every sentence about validators reads. */
export const IDENTITY_FAMILIES = ['bridge_orchestrator_info', 'bridge_orchestrator_power_ratio'] as const;
export type IdentityFamily = (typeof IDENTITY_FAMILIES)[number];
/** What determines when a validator is jailed. */
export const DEADLINE_FAMILIES = [
  'bridge_orchestrator_confirm_deadline_height',
  'bridge_height',
  'bridge_block_time_seconds',
] as const;
export type DeadlineFamily = (typeof DEADLINE_FAMILIES)[number];

export function orchestratorLabels(labels: AlertLabels): AlertLabels {
  return {
    orchestrator: labelOf(labels, 'orchestrator'),
    external_address: labelOf(labels, 'external_address'),
  };
}

/** Findings of the orchestrators whose value is above 0. */
export function orchestratorsAbove0<Family extends string>(
  family: Family,
  { samples }: PollView<Family>,
  ownLabels: AlertLabels = {},
): readonly Finding[] {
  return samples
    .series(family)
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => ({ labels: { ...orchestratorLabels(labels), ...ownLabels }, value }));
}

export function isWatched(info: ReadonlyMap<string, AlertLabels>, labels: AlertLabels): boolean {
  return info.get(orchestratorKey(labels))?.['watched'] === 'true';
}

export function byOrchestrator<Family extends string>(
  samples: Samples<Family>,
  family: Family,
): ReadonlyMap<string, number> {
  return new Map(samples.series(family).map(({ labels, value }) => [orchestratorKey(labels), value]));
}

export function infoByOrchestrator(samples: Samples<'bridge_orchestrator_info'>): ReadonlyMap<string, AlertLabels> {
  return new Map(samples.series('bridge_orchestrator_info').map(({ labels }) => [orchestratorKey(labels), labels]));
}

interface FoundValidator extends Validator {
  readonly powerRatio: number | undefined;
}

/** The validators of the findings, each once, by descending power. */
export function validatorsOf({ all }: DatedFindings, { samples }: PollView<IdentityFamily>): readonly FoundValidator[] {
  const info = infoByOrchestrator(samples);
  const power = byOrchestrator(samples, 'bridge_orchestrator_power_ratio');
  const found = new Map(all.map(({ labels }) => [orchestratorKey(labels), labels]));
  return Array.from(found, ([key, labels]) => ({
    name: info.get(key)?.['name'] ?? '',
    address: labelOf(labels, 'orchestrator') || labelOf(labels, 'external_address'),
    isWatched: info.get(key)?.['watched'] === 'true',
    powerRatio: power.get(key),
  })).toSorted((a, b) => (b.powerRatio ?? 0) - (a.powerRatio ?? 0));
}

/** Their number and power, if that of all of them is known. */
export function extentOf(found: readonly FoundValidator[]): string {
  const ratios = found.flatMap(({ powerRatio }) => powerRatio ?? []);
  const isComplete = ratios.length === found.length;
  return numberAndPower(found.length, isComplete ? ratios.reduce((sum, ratio) => sum + ratio, 0) : null);
}

export type ConfirmKind = 'valset' | 'batch';

export interface Deadline {
  readonly labels: AlertLabels;
  readonly confirms: ConfirmKind;
  readonly blocks: number;
}

/** The next deadline of each orchestrator for signing a validator set, and for signing a batch. Those that have passed are left out. */
export function deadlines({ samples }: PollView<DeadlineFamily>): readonly Deadline[] {
  const height = samples.value('bridge_height');
  if (height === undefined) return [];
  return samples
    .series('bridge_orchestrator_confirm_deadline_height')
    .map(({ labels, value }): Deadline => ({
      labels: orchestratorLabels(labels),
      confirms: labelOf(labels, 'confirms') === 'batch' ? 'batch' : 'valset',
      blocks: value - height,
    }))
    .filter(({ blocks }) => blocks >= 0);
}

/** The number of blocks from the creation of what has to be signed to the deadline. */
export const WINDOW_FAMILIES = [
  'bridge_params_signed_valsets_window_blocks',
  'bridge_params_signed_batches_window_blocks',
] as const;

/** When the validator set or batch with the deadline was created, in Unix seconds. */
export function creationTime(
  view: PollView<DeadlineFamily | (typeof WINDOW_FAMILIES)[number]>,
  { confirms, blocks }: Deadline,
): number | undefined {
  const [ofValsets, ofBatches] = WINDOW_FAMILIES;
  const window = view.samples.value(confirms === 'batch' ? ofBatches : ofValsets);
  const height = view.samples.value('bridge_height');
  return window === undefined || height === undefined ? undefined : timeOfHeight(view, height + blocks - window);
}

/** Hub blocks until the first of these validators is jailed; `undefined` without a deadline. */
export function blocksToFirst({ all }: DatedFindings, view: PollView<DeadlineFamily>): number | undefined {
  const found = new Set(all.map(({ labels }) => orchestratorKey(labels)));
  const own = deadlines(view).filter(({ labels }) => found.has(orchestratorKey(labels)));
  return own.length === 0 ? undefined : Math.min(...own.map(({ blocks }) => blocks));
}

/** When the first of these validators is jailed; empty without a deadline. */
export function firstDeadline(findings: DatedFindings, number: number, view: PollView<DeadlineFamily>): string {
  const blocks = blocksToFirst(findings, view);
  if (blocks === undefined) return '';
  const who = number === 1 ? 'it' : 'the first';
  return `${who} is jailed in ${blocksFor(blocks, view.samples.value('bridge_block_time_seconds'), 'hub')}`;
}
