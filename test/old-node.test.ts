// Each command checks the Node version before it loads code that an older Node cannot run, and fails if that
// code never ends.
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import { expect, test } from 'vitest'
import { freshFile } from './support/databases.ts'

const packages = fileURLToPath(new URL('../packages', import.meta.url))

/** Pretends to be that version. */
const old = (version: string): string =>
  `data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`

const BINS = [
  ['jobmill', 'jobmill/bin/jobmill.js'],
  ['jobmill-telegram', 'telegram/bin/jobmill-telegram.js'],
  ['jobmill-uploads', 'uploads/bin/jobmill-uploads.js'],
] as const

test.each(BINS)('%s can be parsed by a Node without ES modules', (_, bin) => {
  const text = readFileSync(`${packages}/${bin}`, 'utf8')
  // A script has no import statements and no await outside of functions.
  expect(() => new Script(text)).not.toThrow()
  expect(text.replaceAll(/^\s*(?:#!|\/\/).*$/gm, '')).not.toMatch(/\b(?:async|await)\b|=>|\?\.|\?\?|`/)
})

test.each(BINS)('%s refuses a Node version that is too old, with a message', async (name, bin) => {
  const run = promisify(execFile)
  await expect(
    run(process.execPath, ['--import', old('20.20.2'), `${packages}/${bin}`, '--version']),
  ).rejects.toMatchObject({
    code: 2,
    stdout: '',
    // With the version that is needed and the one that was found, on one line.
    stderr: expect.stringMatching(
      new RegExp(`^${name}: (?=.*22\\.14 or newer)(?=.*20\\.20\\.2).*\\n$`),
    ) as string,
  })
})

test.each(BINS)('N12 %s does not end with 0 if its program never ends', async (_, bin) => {
  const folder = path.dirname(freshFile())
  for (const made of ['bin', 'dist/cli']) mkdirSync(path.join(folder, made), { recursive: true })
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(path.join(folder, 'dist/cli/main.js'), 'await new Promise(() => {})')
  const copy = path.join(folder, 'bin', path.basename(bin))
  copyFileSync(`${packages}/${bin}`, copy)
  await expect(promisify(execFile)(process.execPath, [copy])).rejects.toMatchObject({ code: 13 })
})
