/** The dashboard must load quickly on a slow connection, so all of its scripts together stay small. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const ASSETS = fileURLToPath(new URL('../dist/assets', import.meta.url))
const MOST_BYTES = 240_000

test('all scripts of the dashboard are under 240 kB, compressed', () => {
  const scripts = readdirSync(ASSETS).filter((name) => name.endsWith('.js'))
  const sizes = scripts.map((name) => gzipSync(readFileSync(join(ASSETS, name))).length)
  expect(scripts.length).toBeGreaterThan(0)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_BYTES)
})
