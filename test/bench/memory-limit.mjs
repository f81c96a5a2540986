/**
 * CPU time in a memory limit of 256 MiB, with which V8 makes its spaces small, relative to the same without a limit: ten targets of 1 MB, and one of
 * 10 MB. Needs the right to create a control group; without it, there is no row.
 */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { measureUsage, startExporter } from './pace.mjs';
import { median } from './statistics.mjs';

const LIMIT_BYTES = 256 * 1024 * 1024;

/** The folder of all control groups, and the name of the limit: version 2, or version 1. */
const [HIERARCHY, LIMIT_FILE] = existsSync('/sys/fs/cgroup/cgroup.controllers')
  ? ['/sys/fs/cgroup', 'memory.max']
  : ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'];

export async function memoryLimit({ node, ...times }) {
  const group = `${HIERARCHY}/bridge-exporter-bench`;
  try {
    mkdirSync(group, { recursive: true });
    writeFileSync(`${group}/${LIMIT_FILE}`, String(LIMIT_BYTES));
  } catch {
    return [];
  }
  try {
    const enter = ['sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$0" "$@"`];
    const options = { largeTargets: 1 };
    const programs = await Promise.all([
      startExporter(node, { ...options, before: enter }),
      startExporter(node, options),
    ]);
    const [limited, free] = await measureUsage(programs, times);
    return [
      {
        figure: 'the same and a target of 10 MB, in a memory limit of 256 MiB ÷ without',
        own: `${median(limited.map(({ cpuMs }) => cpuMs)).toFixed(1)} ms, ${median(limited.map(({ residentMiB }) => residentMiB)).toFixed(0)} MiB`,
        baseline: `${median(free.map(({ cpuMs }) => cpuMs)).toFixed(1)} ms, ${median(free.map(({ residentMiB }) => residentMiB)).toFixed(0)} MiB`,
        ratio: median(limited.map(({ cpuMs }, run) => cpuMs / free[run].cpuMs)),
        limit: 1.3,
      },
    ];
  } finally {
    rmdirSync(group);
  }
}
