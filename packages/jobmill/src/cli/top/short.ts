/** Formats numbers and times in at most four columns. */

/** `999`, `1.2k`, `12k`, `3.4M`; below ten with a decimal if there is one. */
export function shortNumber(n: number): string {
  if (n < 10) return String(Math.floor(n * 10) / 10)
  if (n < 1_000) return String(Math.floor(n))
  if (n < 10_000) return `${tenths(n / 1_000)}k`
  if (n < 1_000_000) return `${Math.floor(n / 1_000)}k`
  return n < 10_000_000 ? `${tenths(n / 1_000_000)}M` : `${Math.floor(n / 1_000_000)}M`
}

/** `12ms`, `0.3s`, `45s`, `12m`, `3h`, `9d`. */
export function shortTime(ms: number | null): string {
  if (ms === null) return '-'
  if (ms < 100) return `${Math.round(ms) === 100 ? 99 : Math.round(ms)}ms`
  const seconds = ms / 1_000
  if (seconds < 10) return `${tenths(seconds)}s`
  if (seconds < 100) return `${Math.floor(seconds)}s`
  if (seconds < 6_000) return `${Math.floor(seconds / 60)}m`
  const hours = seconds / 3_600
  return hours < 100 ? `${Math.floor(hours)}h` : `${Math.floor(hours / 24)}d`
}

function tenths(n: number): string {
  return (Math.floor(n * 10) / 10).toFixed(1)
}
