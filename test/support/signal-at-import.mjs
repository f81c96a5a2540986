/** A module hook that sends SIGNAL to its own process when it imports the module whose URL ends with SIGNAL_AT. */
export async function load(url, context, nextLoad) {
  if (url.endsWith(process.env.SIGNAL_AT)) process.kill(process.pid, process.env.SIGNAL);
  return nextLoad(url, context);
}
