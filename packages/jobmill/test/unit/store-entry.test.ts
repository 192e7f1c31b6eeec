// `jobmill/store` exports everything that the contract of a store refers to.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
const SRC = '../../src/'

/** The names in the braces of imports or exports, without `type`. */
const namesIn = (braces: string): string[] =>
  braces
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '')

const entry = read(`${SRC}store.ts`)

/** The names that a file declares and exports. */
const declaredIn = (file: string): string[] =>
  [...read(file).matchAll(/^export (?:function|const|interface|type) (\w+)/gm)].map(([, name = '']) => name)

const exported = new Set([
  ...[...entry.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, names = '']) => namesIn(names)),
  ...[...entry.matchAll(/export \* from '\.\/([^']*)'/g)].flatMap(([, file = '']) =>
    declaredIn(`${SRC}${file}`),
  ),
])

/** Modules whose types occur in the signatures of the contract. */
const SIGNATURES = [
  'store',
  'parts',
  ...readdirSync(new URL(`${SRC}store/types`, import.meta.url)).map((file) => `types/${file.slice(0, -3)}`),
]

test.each(SIGNATURES)('every type that store/%s.ts imports is exported', (module) => {
  const imports = [...read(`${SRC}store/${module}.ts`).matchAll(/^import type \{([^}]*)\}/gm)]
  const missing = imports.flatMap(([, names = '']) => namesIn(names)).filter((name) => !exported.has(name))
  expect(missing).toEqual([])
})

test('every function and constant that the page of the contract names is exported', () => {
  const ours = ['job', 'store'].flatMap((folder) =>
    readdirSync(new URL(`${SRC}${folder}`, import.meta.url), { encoding: 'utf8', recursive: true })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [...read(`${SRC}${folder}/${file}`).matchAll(/^export (?:function|const) (\w+)/gm)])
      .map(([, name = '']) => name),
  )
  const page = read('../../../../docs/internals/store-contract.md')
  const named = new Set([...page.matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
  // On that page, these are a state and a field of a filter.
  const others = ['done', 'errorText']
  const referred = ours.filter((name) => named.has(name) && !others.includes(name))
  expect(referred).toContain('onDeadJob')
  expect(referred.filter((name) => !exported.has(name))).toEqual([])
})
