// Some tests go on for as long as one likes: with more random cases, or for more minutes of a clock that is moved. `npm test` takes as much as finds what
// breaks; with JOBMILL_LONG=all, as every night, they go on for longer.
export function inFull<T>(full: T, usual: T): T {
  return process.env['JOBMILL_LONG'] === 'all' ? full : usual
}
