/** Which builds of SQLite can keep the promises. */

/** Before it, a checkpoint that met a writer could reset the log wrongly and damage the file. */
const OLDEST = [3, 51, 3] as const

/** What is wrong with a version such as `3.45.1`, or null when it will do. */
export function versionProblem(version: string): string | null {
  const parts = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(version)
  if (parts === null) return `SQLite calls itself ${JSON.stringify(version)}, which is no version`
  for (const [at, least] of OLDEST.entries()) {
    const part = Number(parts[at + 1] ?? 0)
    if (part > least) return null
    if (part < least)
      return `SQLite ${version} can damage a database that several connections use (fixed in 3.51.3)`
  }
  return null
}
