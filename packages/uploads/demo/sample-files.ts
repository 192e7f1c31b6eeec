/** Sample files of several sizes, with awkward names. */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Sample {
  readonly path: string
  readonly name: string
  readonly size: number
  readonly sha256: string
}

const SIZES: readonly (readonly [name: string, size: number])[] = [
  ['one byte', 1],
  ['hello world!.pdf', 12_345],
  ['Ünïcode ☃ 雪.txt', 4_096],
  ['semi;colon "quoted".csv', 65_537],
  ['..almost hidden', 1_000],
  [`${'a very long name '.repeat(10)}.tar.gz`, 250_000],
  ['photo 1.jpg', 2_500_000],
  ['photo 1 (copy).jpg', 2_500_000],
  ['video.mp4', 9_000_000],
  ['backup.zip', 20_000_000],
]

export function sampleFiles(folder: string): Sample[] {
  mkdirSync(folder)
  return SIZES.map(([name, size], n) => {
    const bytes = noise(size, n + 1)
    const path = join(folder, name)
    writeFileSync(path, bytes)
    return { path, name, size, sha256: createHash('sha256').update(bytes).digest('hex') }
  })
}

/** Deterministic, so that every run has the same bytes. */
function noise(size: number, seed: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(size / 4))
  let state = seed * 2_654_435_761
  for (let at = 0; at < words.length; at += 1) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[at] = state
  }
  return new Uint8Array(words.buffer, 0, size)
}
