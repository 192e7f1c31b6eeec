/**
 * Fixes that depend on how Jobmill is called. An error carries the code; the library, the command line and
 * the HTTP API each have their own text for it.
 */
export const FIXES = {
  'access.secure': 'Pass tokens or authenticate, or insecure: true on a network that you trust',
  'alert.names': 'Use a name from alerts.list(), or create the rule with alerts.set',
  'alert.new': "Pass { url: 'https://…', secret: 'whsec_…' }",
  'backoff.order': 'Raise max or lower base',
  'cursor.next': 'Pass "next" of the previous page, with the same filter',
  'delay.or-run-at': 'Pass delay or runAt, not both',
  'duration.most': 'Pass at most 3650d; an instant is not a duration',
  'duration.units':
    "Pass milliseconds, or text with the units ms, s, m, h and d, such as '90s', '1h30m' or '7d'",
  'id.dedupe-key':
    'Pass your own key as dedupeKey instead. An id has 32 hex digits as 8-4-4-4-12; omit it to generate one',
  'instant.format': "Pass a Date, milliseconds since 1970, or text such as '2027-01-31T09:00:00Z'",
  'instance.list': 'Use the id of a running process from mill.instances()',
  'limit.change': 'Change it with mill.limits.change, or delete it first',
  'limit.create':
    'Declare it under `limits` in the options of jobmill(), or create it with mill.limits.create',
  'limit.key': "Pass a key, such as { key: 'chat:42' }",
  'limit.per-key': 'Omit it, or use another limit with perKey: true',
  'limit.type': "Pass { rate: 50, per: '1m' } or { concurrency: 5 }",
  'metadata.object': 'Pass an object, such as { traceId }',
  'queue.names':
    'Use a name from mill.queues(). The first job of a queue creates it, and so does the option queues',
  'schedule.names': 'Use a name from schedules.list()',
  'server.address': 'Use another address',
  'server.port': 'Use another port',
} as const

export type FixCode = keyof typeof FIXES

/** The texts of one interface. Codes that it lacks have the text of the library. */
export type FixTexts = Readonly<Partial<Record<FixCode, string>>>

export interface Fix {
  readonly code: FixCode
  /** What to try first: `Did you mean "smtp"?`, or `Use one of: smtp, sms`. */
  readonly first?: string
}

export function fixText(fix: string | Fix, texts: FixTexts): string {
  if (typeof fix === 'string') return fix
  const text = texts[fix.code] ?? FIXES[fix.code]
  if (fix.first === undefined) return text
  const rest = `${text.charAt(0).toLowerCase()}${text.slice(1)}`
  return fix.first.endsWith('?') ? `${fix.first} Otherwise ${rest}` : `${fix.first}; ${rest}`
}
