/** A version of the project: a release (0.2.0), a release candidate (0.2.0-rc.1), or the state between releases (0.2.0-dev). */
export function parseVersion(text) {
  const match = /^(?<base>\d+\.\d+\.\d+)(?:-(?:(?<dev>dev)|rc\.\d+))?$/.exec(text ?? '');
  if (match === null) return undefined;
  const { base, dev } = match.groups;
  return { text, base, isDevelopment: dev !== undefined, isRelease: text === base };
}
