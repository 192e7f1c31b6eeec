/** The lists of mutants do not rot: each still changes one place of the sources as they are, and stands in the documentation. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { SIMULATED } from '../proof/mutants/simulated.ts'
import { TESTED } from '../proof/mutants/tested.ts'

const root = path.join(import.meta.dirname, '..')
const all = [...SIMULATED, ...TESTED]

test.each(all)('$name: what it replaces stands once in $file', ({ file, find, replace }) => {
  const source = readFileSync(path.join(root, 'packages/jobmill/src', file), 'utf8')
  expect(source.split(find)).toHaveLength(2)
  expect(replace).not.toBe(find)
})

test('the page about reliability tells who finds which', () => {
  const page = readFileSync(path.join(root, 'docs/internals/reliability.md'), 'utf8')
  const faults = all.map(({ name }) => `| ${name.replace(/^(?:postgres|sqlite): /, '')} |`)
  expect(faults.filter((fault) => !page.includes(fault))).toEqual([])
})
