/** Which servers will do. */

const OLDEST = 14

/** What is wrong with a version as the server numbers it (`180004`), or null when it will do. */
export function versionProblem(number: number): string | null {
  const major = Math.floor(number / 10_000)
  return major >= OLDEST ? null : `PostgreSQL ${major} is older than ${OLDEST}`
}
