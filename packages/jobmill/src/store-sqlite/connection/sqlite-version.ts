/** Checks whether a SQLite version can uphold the guarantees. */

/**
 * In older versions, a checkpoint concurrent with a writer could reset the log wrongly and corrupt the file.
 */
const OLDEST = [3, 51, 3] as const

/** The problem with a version such as `3.45.1`, or null when it is fine. */
export function versionProblem(version: string): string | null {
  const parts = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(version)
  if (parts === null) return `SQLite reports an unknown version ${JSON.stringify(version)}`
  for (const [at, least] of OLDEST.entries()) {
    const part = Number(parts[at + 1] ?? 0)
    if (part > least) return null
    if (part < least)
      return `SQLite ${version} can corrupt a database used by several connections (fixed in 3.51.3)`
  }
  return null
}
