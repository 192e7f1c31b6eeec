/**
 * How well errors are grouped: on a corpus that the rules were written for, on hard variations of causes, and
 * on a hold-out part that was written first and not read while the rules were written.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fingerprintOf } from '../packages/jobmill/src/job/grouping/fingerprint.ts'
import { type ExpectedGroup, type Mistake, samplesOf, scoreOf } from './error-groups/score.ts'

const textOf = ({ kind, groups, pairs }: Mistake): string => `${kind}: ${groups.join(' + ')} (${pairs} pairs)`

test.each([
  ['corpus', 0.98, 0.98],
  ['variations', 0.98, 0.44],
  ['holdout', 0.97, 0.87],
])('errors of the part %s are grouped by their cause', (part, precision, recall) => {
  const text = readFileSync(new URL(`error-groups/${part}.json`, import.meta.url), 'utf8')
  const samples = samplesOf(JSON.parse(text) as ExpectedGroup[])
  const found = samples.map(
    ({ kind, error: { name, message } }) => fingerprintOf(kind, `${name}: ${message}`).fingerprint,
  )
  const score = scoreOf(samples, found)
  // The mistakes of the hold-out part stay unknown.
  const mistakes = part === 'corpus' ? [...score.merged, ...score.split].map(textOf) : []
  const isGood = score.precision >= precision && score.recall >= recall
  expect({
    isGood,
    mistakes: isGood ? [] : mistakes,
    precision: score.precision,
    recall: score.recall,
  }).toMatchObject({ isGood: true, mistakes: [] })
})

test('a score counts pairs', () => {
  const samples = samplesOf([
    { kind: 'a', group: 'x', errors: Array.from({ length: 3 }, () => ({ name: 'Error', message: 'x' })) },
    { kind: 'a', group: 'y', errors: [{ name: 'Error', message: 'y' }] },
  ])
  expect(scoreOf(samples, ['1', '1', '2', '2'])).toEqual({
    errors: 4,
    groups: 2,
    precision: 1 / 2,
    recall: 1 / 3,
    merged: [{ kind: 'a', groups: ['x', 'y'], pairs: 1 }],
    split: [{ kind: 'a', groups: ['x'], pairs: 2 }],
  })
})
