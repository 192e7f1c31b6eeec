/**
 * Keeps the lists of mutants up to date: each still matches exactly one place in the sources, and the docs
 * list it.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { sourceOf } from '../../proof/mutants/copy.ts'
import { SIMULATED } from '../../proof/mutants/simulated.ts'
import { TESTED } from '../../proof/mutants/tested.ts'

const root = path.join(import.meta.dirname, '../..')
const all = [...SIMULATED, ...TESTED]

test.each(all)('$name: its source line occurs once in $file', (mutant) => {
  const source = readFileSync(path.join(root, sourceOf(mutant)), 'utf8')
  expect(source.split(mutant.find)).toHaveLength(2)
  expect(mutant.replace).not.toBe(mutant.find)
})

test('docs/internals/reliability.md lists every mutant with the test that finds it', () => {
  const page = readFileSync(path.join(root, 'docs/internals/reliability.md'), 'utf8')
  const faults = all.map(({ name }) => `| ${name.replace(/^(?:postgres|sqlite): /, '')} |`)
  expect(faults.filter((fault) => !page.includes(fault))).toEqual([])
})
