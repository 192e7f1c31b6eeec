/** Parses and prints sizes: bytes, or `100MiB`. */
const UNIT: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 1_024,
  mib: 1_024 ** 2,
  gib: 1_024 ** 3,
  tib: 1_024 ** 4,
}

/** Null if it is not a size. */
export function bytesOf(value: number | string): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : null
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(value.trim()) ?? []
  const factor = UNIT[(unit ?? '').toLowerCase() || 'b']
  if (amount === undefined || factor === undefined) return null
  const bytes = Math.round(Number(amount) * factor)
  return Number.isSafeInteger(bytes) ? bytes : null
}

/** The reverse: `100MiB`, `5MB`, or bytes if no unit fits. */
export function sizeText(bytes: number): string {
  const unit = ['TiB', 'TB', 'GiB', 'GB', 'MiB', 'MB', 'KiB', 'kB'].find(
    (name) => bytes > 0 && bytes % (UNIT[name.toLowerCase()] ?? 1) === 0,
  )
  return unit === undefined ? `${bytes}B` : `${bytes / (UNIT[unit.toLowerCase()] ?? 1)}${unit}`
}
