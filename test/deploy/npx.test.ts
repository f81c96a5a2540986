import { expect, it } from 'vitest';
import { startProcess } from '../support/processes.js';
import { projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { waitUntil } from '../support/wait-for.js';

// npx runs a command in a shell, which does not pass signals on.
it('the demo stops after the shell in which npx runs it', async () => {
  const script = createTempFolder().write(
    'run.sh',
    `node ${projectPath('dist/main.js')} demo --scenario=quiet --listen=127.0.0.1:0 --web.listen-address=127.0.0.1:0\nexit\n`,
  );
  const shell = startProcess('sh', [script], { env: { npm_command: 'exec' } });
  const line = await shell.printed(/status page/);
  const [url = ''] = /http:\S+/.exec(line) ?? [];
  expect((await fetch(new URL('-/healthy', url))).status).toBe(200);
  shell.child.kill('SIGTERM');
  await waitUntil(async () =>
    fetch(url).then(
      () => false,
      () => true,
    ),
  );
});
