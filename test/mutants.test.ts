/** The list of mutants does not rot: each still changes one place of the sources as they are. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { SIMULATED } from '../proof/mutants/mutants.ts'

test.each(SIMULATED)('$name: what it replaces stands once in $file', ({ file, find, replace }) => {
  const source = readFileSync(path.join(import.meta.dirname, '../packages/jobmill/src', file), 'utf8')
  expect(source.split(find)).toHaveLength(2)
  expect(replace).not.toBe(find)
})
