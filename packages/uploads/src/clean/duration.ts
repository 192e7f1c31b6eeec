/** Parses durations such as `90s` and `1h30m`. NaN if invalid. */
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export function textMs(text: string): number {
  const negative = text.trim().startsWith('-')
  const compact = text.trim().replace(/^-/, '')
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(compact)) return Number.NaN
  let total = 0
  for (const [, amount, unit] of compact.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? Number.NaN)
  return negative ? -total : total
}
