/** English helpers: lists, ordinals, clock times, plurals. */

/** `a`, `a and b`, `a, b and c`. */
export function joinWords(words: readonly string[]): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`
}

export function ordinal(n: number): string {
  const teen = n % 100 > 10 && n % 100 < 14
  const ending = teen ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')
  return `${n}${ending}`
}

export function pluralize(n: number, unit: string): string {
  return `${n} ${unit}${n === 1 ? '' : 's'}`
}

export function twoDigits(n: number): string {
  return String(n).padStart(2, '0')
}
