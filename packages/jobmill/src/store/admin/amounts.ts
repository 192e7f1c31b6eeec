/** Formats sizes and texts for operators: `1.5 GiB`. */

const SIZES: readonly (readonly [number, string])[] = [
  [2 ** 30, 'GiB'],
  [2 ** 20, 'MiB'],
  [2 ** 10, 'KiB'],
]

export function sizeText(bytes: number): string {
  const [size, unit] = SIZES.find(([size]) => bytes >= size) ?? [1, 'bytes']
  return `${Math.round((10 * bytes) / size) / 10} ${unit}`
}

/** Collapses a text to one line and truncates it. */
export function shorten(text: string, most = 80): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  const characters = Array.from(line)
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : line
}
