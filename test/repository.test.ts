// Checks the shape of the source tree: the import layers, and which files may use time and randomness. First
// tests the checker itself, on small trees with one planted fault each.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  checkCycles,
  checkImports,
  checkPackage,
  freePackages,
  openEntries,
} from '../scripts/check-imports.mjs'

function check(tree: Record<string, string>, by: (src: string) => string[] = checkImports): string[] {
  const src = mkdtempSync(join(tmpdir(), 'jobmill-tree-'))
  onTestFinished(() => rmSync(src, { recursive: true, force: true }))
  for (const [file, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(src, file)), { recursive: true })
    writeFileSync(join(src, file), text)
  }
  return by(src)
}

test('the library respects its import layers', () => {
  expect(checkImports(fileURLToPath(new URL('../packages/jobmill/src', import.meta.url)))).toEqual([])
})

test.each(freePackages)('packages/%s has no import cycles', (name) => {
  expect(checkCycles(fileURLToPath(new URL(`../packages/${name}/src`, import.meta.url)))).toEqual([])
})

test.each(Object.entries(openEntries))('packages/%s imports only open entries', (name, open) => {
  expect(checkPackage(fileURLToPath(new URL(`../packages/${name}/src`, import.meta.url)), open)).toEqual([])
})

describe('the import check accepts', () => {
  test('imports of lower layers, and entry files that import anything', () => {
    expect(
      check({
        'platform/clock.ts': `export const now = () => Date.now()`,
        'job/job.ts': `import { now } from '../platform/clock.ts'\nexport const job = now`,
        'store/store.ts': `export type { job } from '../job/job.ts'`,
        'store-postgres/open.ts': `import type pg from 'pg'\nimport { load } from '../store/load-driver.ts'\nimport '../store/store.ts'\nexport const open = () => load('pg') as typeof pg`,
        'store/load-driver.ts': `export const load = (name: string) => name`,
        'testing/index.ts': `export * from '../store/store.ts'`,
        'index.ts': `export * from './job/job.ts'\nexport type { open } from './store-postgres/open.ts'`,
        'postgres.ts': `export * from './store-postgres/open.ts'`,
      }),
    ).toEqual([])
  })

  test('the test kit, which starts a mill in memory', () => {
    expect(
      check({
        'observe/a.ts': '',
        'work/a.ts': '',
        'runtime/a.ts': '',
        'store-sqlite/a.ts': `import '../store/load-driver.ts'`,
        'store/load-driver.ts': '',
        'testing/kit/mill.ts': `import '../../runtime/a.ts'\nimport '../../work/a.ts'\nimport '../../observe/a.ts'\nimport '../suite.ts'`,
        'testing/kit/store.ts': `export const open = () => import('../../store-sqlite/a.ts')`,
        'testing/suite.ts': '',
        'testing/index.ts': `export * from './kit/mill.ts'\nexport * from './kit/store.ts'`,
      }),
    ).toEqual([])
  })

  test('the reserved words in comments, texts and as names of members', () => {
    expect(
      check({
        'job/a.ts': [
          `// setTimeout(f) and import x from '../cli/x.ts'`,
          `/* Date.now() */`,
          `const a = 'Math.random()' + "it's new Date()"`,
          'const sql = `select now() -- setTimeout ${a} Date.now()`',
          `const pattern = /["'\`]/`,
          `export interface Timers { setTimeout: (f: () => void) => void }`,
          `export const at = (timers: Timers, ms: number) => timers.setTimeout(() => new Date(ms))`,
        ].join('\n'),
      }),
    ).toEqual([])
  })
})

describe('the import check finds', () => {
  const faults: [what: string, tree: Record<string, string>, message: string | RegExp][] = [
    [
      'an import that points up',
      { 'job/a.ts': `\nimport { b } from '../store/b.ts'`, 'store/b.ts': '' },
      /^job\/a\.ts:2: .*store\/ is above job\//,
    ],
    [
      'a type import that points up',
      { 'platform/a.ts': `import type { b } from '../job/b.ts'`, 'job/b.ts': '' },
      'job/ is above platform/',
    ],
    [
      'siblings that import each other',
      { 'work/a.ts': `import {\n  b,\n} from '../enqueue/b.ts'`, 'enqueue/b.ts': '' },
      'work/ and enqueue/ are siblings',
    ],
    [
      'a dynamic import that points up',
      { 'work/a.ts': `await import('../runtime/b.ts')`, 'runtime/b.ts': '' },
      'runtime/ is above work/',
    ],
    [
      'test support that knows what comes above the runtime',
      { 'testing/a.ts': `import '../cli/b.ts'`, 'cli/b.ts': '' },
      'testing/ may import',
    ],
    [
      'a kit that knows another store, or what comes above the runtime',
      { 'testing/kit/a.ts': `import '../../store-postgres/b.ts'`, 'store-postgres/b.ts': '' },
      /testing\/ may import .*runtime, store-sqlite only/,
    ],
    [
      'a layer that needs test support',
      { 'work/a.ts': `import '../testing/b.ts'`, 'testing/b.ts': '' },
      'testing/ is for users',
    ],
    [
      'a layer that imports an entry file',
      { 'job/a.ts': `import '../index.ts'`, 'index.ts': '' },
      'an entry file',
    ],
    ['a folder without a rank', { 'utils/a.ts': '' }, 'utils/ has no layer'],
    [
      'an import of the package by its name',
      { 'job/a.ts': `import 'jobmill/sqlite'` },
      'import the file itself',
    ],
    ['an import from outside of src', { 'job/a.ts': `import '../../package.json'` }, 'outside of src'],
    [
      'an import of a file that is not there',
      { 'job/a.ts': `import './b.js'`, 'job/b.ts': '' },
      'no such file',
    ],
    [
      'a cycle',
      {
        'job/a.ts': `import './b.ts'`,
        'job/b.ts': `import type { c } from './c.ts'`,
        'job/c.ts': `export * from './a.ts'`,
      },
      'import cycle: job/a.ts → job/b.ts → job/c.ts → job/a.ts',
    ],
    [
      'a driver that the root entry reaches',
      {
        'index.ts': `export * from './runtime/a.ts'`,
        'runtime/a.ts': `import '../store-sqlite/b.ts'`,
        'store-sqlite/b.ts': `import { load } from '../store/load-driver.ts'`,
        'store/load-driver.ts': '',
      },
      `reaches '../store/load-driver.ts': index.ts → runtime/a.ts → store-sqlite/b.ts`,
    ],
    [
      'a driver that is imported, so that a missing one is a missing module',
      { 'store-postgres/a.ts': `import pg from 'pg'` },
      'load it with store/load-driver.ts',
    ],
    [
      'something that few need and that the root entry reaches',
      { 'index.ts': `export * from './observe/a.ts'`, 'observe/a.ts': `import '@opentelemetry/api'` },
      `reaches '@opentelemetry/api': index.ts → observe/a.ts`,
    ],
  ]
  test.each(faults)('%s', (_, tree, message) => {
    const problems = check(tree)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(message)
  })

  test.each([
    'setTimeout(f, 1)',
    'globalThis.setTimeout(f, 1)',
    'setInterval(f, 1)',
    'setImmediate(f)',
    'AbortSignal.timeout(1)',
    'Date.now()',
    'new Date()',
    'new Date',
    'performance.now()',
    'Math.random()',
    'crypto.randomUUID()',
    `import { randomUUID } from 'node:crypto'`,
    `import { setTimeout as sleep } from 'node:timers/promises'`,
    'const text = `at ${Date.now()}`',
  ])('%s outside of platform/', (line) => {
    const problems = check({ 'work/a.ts': `\n${line}`, 'platform/b.ts': line })
    expect(problems.length).toBeGreaterThan(0)
    for (const problem of problems) expect(problem).toMatch(/^work\/a\.ts:2: .* is for platform\/ only: /)
  })
})

test('the import check finds a package that imports an entry it may not, or leaves its sources', () => {
  const tree = { 'a.ts': `import 'jobmill'\nimport 'jobmill/store'\nimport '../other.ts'` }
  expect(check(tree, (src) => checkPackage(src, ['jobmill/store']))).toEqual([
    `a.ts:1: imports 'jobmill': use jobmill/store`,
    `a.ts:3: imports '../other.ts': no such file below src`,
  ])
})

describe('every package', () => {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const folders = readdirSync(join(root, 'packages'))

  test.each(folders)('A %s has the license, and lists the files that npm packs', (folder) => {
    const read = (file: string): string => readFileSync(join(root, 'packages', folder, file), 'utf8')
    const { license, files } = JSON.parse(read('package.json')) as { license?: string; files?: string[] }
    // npm packs LICENSE, README.md and package.json whatever `files` says, so `files` must not exclude them.
    expect({ license, hasDist: files?.includes('dist') }).toEqual({ license: 'MIT', hasDist: true })
    expect(files?.filter((one) => /LICENSE|README/.test(one))).toEqual([])
    expect(read('LICENSE')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'))
  })
})
