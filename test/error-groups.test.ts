/** How well errors are grouped. `npm run check -- errors` prints the scores. */
import { expect, test } from 'vitest'
import { isGood, scoreParts } from './error-groups/parts.ts'
import { samplesOf, scoreOf } from './error-groups/score.ts'

test.each(scoreParts())('errors of the $part are grouped by their cause', (score) => {
  const mistakes = isGood(score) ? [] : score.mistakes.slice(0, 20)
  expect({ ...score, isGood: isGood(score), mistakes }).toMatchObject({ isGood: true, mistakes: [] })
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
