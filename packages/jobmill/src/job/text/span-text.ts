/** Formats a time span for people, in its two largest units. */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** `3 d 4 h`, `2 min 5 s`, `12 s`, `340 ms`. */
export function spanText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  const at = UNITS.findIndex(([, size]) => ms >= size)
  const [unit, size] = UNITS[at] ?? UNITS[3]
  const whole = Math.floor(ms / size)
  const next = UNITS[at + 1]
  const rest = next === undefined ? 0 : Math.floor((ms - whole * size) / next[1])
  return rest === 0 || next === undefined ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${next[0]}`
}
