// Chooses the size of tests that can run for any length of time, with more random cases or more simulated
// minutes. `npm test` uses a size that finds regressions; JOBMILL_LONG=all, as every night, runs them in
// full.
export function inFull<T>(full: T, usual: T): T {
  return process.env['JOBMILL_LONG'] === 'all' ? full : usual
}
