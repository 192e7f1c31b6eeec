/** Dedupe keys are stored with their scope. A filter accepts a key with or without it. */

/** The key without its scope, as `scopedKey` wrote it: `global KEY`, `queue NAME KEY` or `kind NAME KEY`. */
function unscopeKey(stored: string): string {
  const name = stored.slice(stored.indexOf(' ') + 1)
  return stored.startsWith('global ') ? name : name.slice(name.indexOf(' ') + 1)
}

export function isDedupeKey(stored: string | null | undefined, sought: string): boolean {
  return stored !== null && stored !== undefined && [stored, unscopeKey(stored)].includes(sought)
}

/** The same in SQL. `find` is the SQL function that finds a text in another one. A name contains no space. */
export function unscopeKeyInSql(key: string, find: 'instr' | 'strpos'): string {
  const name = `substr(${key}, ${find}(${key}, ' ') + 1)`
  return `CASE WHEN ${key} LIKE 'global %' THEN ${name} ELSE substr(${name}, ${find}(${name}, ' ') + 1) END`
}
