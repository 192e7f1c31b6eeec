/** Whether a request only looks: it needs no body, is nobody's to forge, and leaves no row in the audit. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export function isRead(method: string): boolean {
  return READS.has(method)
}
