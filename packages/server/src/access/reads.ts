/** Whether a request is read-only: it has no body, needs no origin check, and leaves no audit entry. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export function isRead(method: string): boolean {
  return READS.has(method)
}
